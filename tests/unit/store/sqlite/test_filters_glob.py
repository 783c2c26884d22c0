import pytest

from kebab.store.sqlite.filters import matches_glob


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "a.md"),
        ("notes/*.md", "notes/a.md"),
        ("**/*.md", "a.md"),
        ("**/*.md", "x/y/a.md"),
        ("notes/**", "notes/x/y.md"),
        ("notes/", "notes/x/y.md"),
        ("**", "x/y"),
        ("a/**/b/**/c", "a/1/b/2/b/3/c"),
        ("a/**/c", "a/c"),
        ("?.md", "é.md"),
        ("[a-c].md", "b.md"),
        ("[!a].md", "b.md"),
        ("[[]x].md", "[x].md"),
        ("[x.md", "[x.md"),
        ("./a.md", "a.md"),
        ("caf\u00e9.md", "cafe\u0301.md"),
        ("a\nb.md", "a\nb.md"),
    ],
)
def test_a_matching_path_passes(pattern, path):
    assert matches_glob(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "notes/a.md"),
        ("*", "a/b"),
        ("?", "/"),
        ("notes/**", "notes"),
        ("notes", "notes/a.md"),
        ("*.MD", "a.md"),
        ("a.md", "xa.md"),
        ("a.md", "a.mdx"),
        ("a.md", "abmd"),
        ("**/a/*.md", "b/x.md"),
        ("", "a"),
    ],
)
def test_another_path_does_not_pass(pattern, path):
    assert not matches_glob(pattern, path)


@pytest.mark.timeout(5)
def test_hostile_patterns_take_no_more_than_a_moment():
    assert not matches_glob("**/" * 50 + "x", "a/" * 500 + "b")
    assert not matches_glob("*a" * 50 + "b", "a" * 500)
