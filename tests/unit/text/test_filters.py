import pytest

from kebab.text.filters import list_readings, matches_glob, matches_property


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
        ("notes/***", "notes/a/b.md"),
        ("a.md/***", "a.md"),
        ("**/b/***", "a/b"),
        ("/home/me/**", "/home/me/a.md"),
        ("{a,b}/**", "b/x.md"),
        ("{a,b{c,d}}.md", "bd.md"),
        ("!**/tests/**", "src/a.md"),
        ("!{a,b}/**", "c/x.md"),
        ("[{]a,b}.md", "{a,b}.md"),
        ("{a}.md", "{a}.md"),
        ("{a,b}" * 7, "{a,b}" * 7),
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
        ("notes/***", "notes2/a.md"),
        ("/home/me/**", "home/me/a.md"),
        ("{a,b}/**", "c/x.md"),
        ("!**/tests/**", "src/tests/a.md"),
        ("!archive/**", "archive/a.md"),
    ],
)
def test_another_path_does_not_pass(pattern, path):
    assert not matches_glob(pattern, path)


def read_as(pattern, path, folder="/work"):
    """Return the position of the first reading that matches a path, None without one."""
    readings = list_readings(pattern, folder)
    return next((n for n, one in enumerate(readings) if matches_glob(one, path)), None)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("recipes", "recipes/a.md"),
        ("recipes", "food/recipes/a.md"),
        ("recipes/", "food/recipes/a.md"),
        ("recipes/cake", "food/recipes/cake/a.md"),
        ("backup.md", "ops/backup.md"),
        ("*sour*", "food/sourdough.md"),
        ("*sour*", "sourdough.md"),
        ("2024-*/", "log/2024-01/a.md"),
        ("[1].md", "ops/[1].md"),
        ("caf\u00e9", "cafe\u0301/a.md"),
        ("recipes", "/work/recipes/a.md"),
        ("./recipes/", "/work/recipes/a.md"),
        ("./recipes/*.md", "/work/recipes/a.md"),
        ("../other/a.md", "/other/a.md"),
        ("/notes/a.md", "/notes/a.md"),
        ("/notes/", "/notes/deep/a.md"),
        ("/notes/*/a.md", "/notes/deep/a.md"),
        ("/", "/notes/a.md"),
        (".", "/work/a.md"),
        ("./a.md", "a.md"),
        ("{recipes,ops}", "food/recipes/a.md"),
        ("{a,b}.md", "ops/b.md"),
        ("/{notes,ops}/**", "/ops/a.md"),
        ("{a,b}", "{a,b}/c.md"),
    ],
)
def test_a_filter_has_a_reading_for_each_form_of_a_path(pattern, path):
    assert read_as(pattern, path) is not None


def test_links_on_the_way_to_a_folder_are_resolved(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert read_as(f"{tmp_path}/link/**", f"{tmp_path}/real/a.md") is not None
    assert read_as("link/a.md", f"{tmp_path}/real/a.md", str(tmp_path)) is not None


@pytest.mark.parametrize(
    ("condition", "passes"),
    [
        (">2024-01-02T10:00:00Z", True),
        ("=2024-01-02T10:00:00Z", False),
        ("=2024-01-02", True),
        ("=2024-W01", True),
        (">2024-Q1", False),
        ("=0000", False),
    ],
)
def test_a_property_with_a_time_is_compared_with_times_and_periods(condition, passes):
    assert matches_property(condition, "2024-01-02T15:00:00Z") is passes
