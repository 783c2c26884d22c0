"""Links to what does not exist are found, and links that cannot be judged are not."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kebab.core.review import LinkUse
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.document import Finding
from kebab.review.links import (
    BrokenAnchor,
    BrokenLink,
    MissingNote,
    find_replacement,
    is_path,
    list_doubtful,
    split_target,
)
from kebab.review.rules import Rule
from tests.fakes.review import FakeSurroundings, make_document

_FILES = ("b.md", "sub/c.md", "sub", "a b.md", "x.png", "docs", "docs/d.md", "e.mdx", "v1.2.md")


def _check(
    rule: Rule,
    text: str,
    *,
    path: str = "a.md",
    files: tuple[str, ...] = _FILES,
    anchors: Mapping[str, frozenset[str]] | None = None,
    notes: Mapping[str, Path] | None = None,
    namesakes: Mapping[str, tuple[Path, ...]] | None = None,
    headings: Mapping[str, Path] | None = None,
) -> list[Finding]:
    surroundings = FakeSurroundings(
        files=frozenset(f"/notes/{name}" for name in files),
        anchors=anchors or {},
        notes=notes or {},
        namesakes=namesakes or {},
        headings=headings or {},
    )
    return list(rule.check(make_document(text, read_markup(text), path=path), surroundings))


@pytest.mark.parametrize(
    "target",
    [
        *("b.md", "./b.md", "sub", "sub/../b.md", "b.md?x=1", "<a b.md>", "a%20b.md", "b.md#part"),
        *("/docs/d.md", "e.md", "https://x.y/z.md", "//x.y/z.md", "mailto:a@b.cd", "#part", "?q"),
        *("/unknown/z.md", "/docs/z/", "z.html", "page", "sub/z", "{{ x }}/z.md", "$x/z.md"),
        *("url", "path/to/file.md", "../../z.md", "../out/z.py", "C:\\z.md", "~/z.md", "Foo.Bar"),
    ],
)
def test_links_that_resolve_or_cannot_be_judged_are_no_findings(target: str) -> None:
    assert _check(BrokenLink(), f"[t]({target})") == []


@pytest.mark.parametrize(
    "target", ["z.md", "sub/z.md", "./z.py", "a%20z.md", "/docs/z.md", "z.md#p"]
)
def test_a_link_to_a_missing_file_is_found_at_its_target(target: str) -> None:
    text = f"é [t]({target} 'T')"
    (found,) = _check(BrokenLink(), text)
    assert text[found.start : found.end] == target
    assert (found.rule_id, found.fix) == ("broken-link", None)


def test_a_path_is_looked_up_beside_the_document_unless_it_begins_at_the_root() -> None:
    assert _check(BrokenLink(), "[t](d.md)", path="docs/a.md") == []
    files = ("docs/sub/docs/z.md", "docs/d.md")
    assert _check(BrokenLink(), "[t](/docs/z.md)", path="docs/sub/a.md", files=files)


def test_the_only_file_of_the_same_name_is_proposed() -> None:
    one = {"z.md": (Path("/notes/new/z.md"),)}
    (found,) = _check(BrokenLink(), "[t](./old/z.md#p)", namesakes=one)
    assert found.edit == "replace"
    assert found.fix is not None
    assert found.fix.text == "./new/z.md#p"
    two = {"z.md": (Path("/notes/new/z.md"), Path("/notes/other/z.md"))}
    (found,) = _check(BrokenLink(), "[t](old/z.md)", namesakes=two)
    assert found.fix is None


@pytest.mark.parametrize(
    "text",
    [
        *("[[b]]", "[[sub/c#Part|alias]]", "[[Title of b]]", "[[#Part]]", "[[x.png]]"),
        *("[[ -f x ]]", "[[tool.poetry.source]]", "[[1, 2]]", "[[$x]]", "`[[z]]`", "[[a]][17]"),
    ],
)
def test_known_notes_and_code_in_double_brackets_are_no_findings(text: str) -> None:
    notes = {"Title of b": Path("/notes/b.md")}
    assert _check(MissingNote(), text, notes=notes) == []


@pytest.mark.parametrize("name", ["Weekly review", "missing", "sub/z", "주간 회고"])
def test_a_wiki_link_to_no_note_is_found(name: str) -> None:
    text = f"See [[{name}#Part|it]]"
    (found,) = _check(MissingNote(), text)
    assert text[found.start : found.end] == f"{name}#Part"
    assert found.severity == "suggestion"


@pytest.mark.parametrize(
    "fragment",
    [
        *("the-costs", "The%20costs", "the_costs", "costs-1", "costs-2", "own", "html", "^block"),
        *("label", "비용", "L10", "top", ":~:text=x", "fn1", "user-content-the-costs", "/route"),
    ],
)
def test_anchors_of_the_same_document_are_found_as_sites_write_them(fragment: str) -> None:
    text = (
        "# The costs\n\n## Costs\n\n## Costs\n\n## Costs\n\n## X {#own}\n\n<a id='html'></a>\n\n"
        f"a ^block\n\n(label)=\n## 비용\n\n[t](#{fragment})\n"
    )
    assert _check(BrokenAnchor(), text) == []


def test_a_missing_anchor_is_found_at_its_fragment() -> None:
    text = "# Costs\n\n[t](#coasts)"
    (found,) = _check(BrokenAnchor(), text)
    assert text[found.start : found.end] == "#coasts"


def test_anchors_of_other_files_are_checked_when_they_are_known() -> None:
    anchors = {f"/notes/{name}": frozenset({"part"}) for name in ("b.md", "v1.2.md")}
    text = "[t](b.md#part) [u](sub/c.md#x) [[b#Part]] [v](b.html#x) [w](gone.md#x)"
    assert _check(BrokenAnchor(), text, anchors=anchors) == []
    assert len(_check(BrokenAnchor(), "[t](b#pa) [[b#Lower]] [u](v1.2#x)", anchors=anchors)) == 3


def test_anchors_of_documents_that_include_others_are_not_judged() -> None:
    assert _check(BrokenAnchor(), "--8<-- 'x.md'\n\n[t](#z)") == []


@pytest.mark.parametrize(
    ("name", "place"),
    [("b.md", "b.md#the-costs-of-it"), ("a.md", "#the-costs-of-it"), ("de/a.md", None)],
)
def test_a_heading_that_only_another_document_has_was_moved(name: str, place: str | None) -> None:
    text = "# A\n\nSee [the costs of it](gone.md#the-costs-of-it).\n"
    found = _check(
        BrokenAnchor(),
        text,
        files=("gone.md",),
        anchors={"/notes/gone.md": frozenset(), f"/notes/{name}": frozenset({"thecostsofit"})},
        headings={"thecostsofit": Path("/notes", name)},
    )
    assert [one.fix and one.fix.text for one in found] == [place]


@pytest.mark.parametrize(
    ("missing", "working", "doubtful"),
    [(8, 2, {"broken-link"}), (8, 3, set()), (4, 0, set())],
)
def test_findings_are_doubtful_when_nearly_all_links_of_a_page_lead_nowhere(
    missing: int, working: int, doubtful: set[str]
) -> None:
    links = [f"[a](no{number}.md)\n" for number in range(missing)]
    text = "".join(links) + "[b](b.md)\n" * working
    document = make_document(text, read_markup(text))
    findings = _check(BrokenLink(), text)
    assert len(findings) == missing
    assert list_doubtful(document, findings) == doubtful


def test_a_target_has_a_path_and_a_fragment() -> None:
    assert split_target("a/b.md?x=1#part") == ("a/b.md", "part")
    assert split_target("#part") == ("", "part")


@pytest.mark.parametrize("target", ["#a", "http://a.b", "{{ a }}", "<a>", "url", "-", "a|b"])
def test_what_is_no_path_is_told(target: str) -> None:
    assert not is_path(LinkUse(target, "inline", 0, 1, (0, 1)))


@pytest.mark.parametrize(
    ("target", "found", "replacement"),
    [
        ("old/z.md#p", "new/z.md", "new/z.md#p"),
        ("../z.md", "z.md", "z.md"),
        ("old/z%20y.md", "new/z y.md", "new/z%20y.md"),
        ("old/README.md", "README.md", None),
        ("old/CODE_OF_CONDUCT.md", "CODE_OF_CONDUCT.md", None),
        ("/old/z.md", "new/z.md", None),
        ("z", "new/z", None),
    ],
)
def test_the_path_of_a_namesake_replaces_the_path_alone(
    target: str, found: str, replacement: str | None
) -> None:
    name = Path(found).name
    surroundings = FakeSurroundings(namesakes={name: (Path("/notes", found),)})
    source = make_document("").source
    assert find_replacement(source, surroundings, target) == replacement
