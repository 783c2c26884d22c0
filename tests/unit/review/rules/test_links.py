"""Links to what does not exist are found, and links that sites resolve are not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kebab.core.review import Finding, LinkUse
from kebab.parse.markdown_parts import read_markup
from kebab.review.document import ReviewDocument
from kebab.review.rules.links import (
    BrokenAnchor,
    BrokenLink,
    MissingImage,
    MissingNote,
    UndefinedReference,
    find_replacement,
    fold_anchor,
    has_anchor,
    is_anchor,
    is_path,
    list_anchors,
    split_target,
)
from kebab.review.rules.rule import Rule
from tests.fakes.review import FakeSurroundings, make_document

_FILES = ("b.md", "sub/c.md", "sub", "a b.md", "x.png", "docs", "docs/d.md", "e.mdx")


def _check(
    rule: Rule,
    text: str,
    *,
    path: str = "a.md",
    files: tuple[str, ...] = _FILES,
    anchors: Mapping[str, frozenset[str]] | None = None,
    notes: Mapping[str, Path] | None = None,
    namesakes: Mapping[str, tuple[Path, ...]] | None = None,
) -> list[Finding]:
    surroundings = FakeSurroundings(
        files=frozenset(f"/notes/{name}" for name in files),
        anchors=anchors or {},
        notes=notes or {},
        namesakes=namesakes or {},
    )
    return list(rule.check(make_document(text, read_markup(text), path=path), surroundings))


@pytest.mark.parametrize(
    "target",
    [
        *("b.md", "./b.md", "b", "b.html", "b/", "sub", "sub/", "sub/c", "sub/../b.md", "b.md?x=1"),
        *("<a b.md>", "a%20b.md", "b.md#part", "/docs/d.md", "e.md", "e"),
        *("https://x.y/z.md", "//x.y/z.md", "mailto:a@b.cd", "#part", "?q", "tel:1", "@site/z.md"),
        *("/unknown/z.md", "/docs/z/", "/docs/z.json", "z.html", "page", "{{ x }}/z.md", "$x/z.md"),
        *("url", "path/to/file.md", "../../z.md", "../out/z.py", "...", "C:\\z.md", "~/z.md"),
    ],
)
def test_links_that_resolve_or_cannot_be_judged_are_no_findings(target: str) -> None:
    assert _check(BrokenLink(), f"[t]({target})") == []


@pytest.mark.parametrize(
    "target", ["z.md", "sub/z.md", "./z.py", "sub/z", "a%20z.md", "/docs/z.md", "B.md", "z.md#p"]
)
def test_a_link_to_a_missing_file_is_found_at_its_target(target: str) -> None:
    text = f"é [t]({target} 'T')"
    (found,) = _check(BrokenLink(), text)
    assert text[found.start : found.end] == target
    assert (found.rule_id, found.fix) == ("broken-link", None)


def test_links_are_relative_to_the_folder_of_the_document() -> None:
    assert _check(BrokenLink(), "[t](c.md) [u](../b.md)", path="sub/x.md") == []
    assert len(_check(BrokenLink(), "[t](d.md)", path="sub/x.md")) == 1


def test_absolute_paths_begin_at_the_root_or_at_one_of_two_folders_above_it() -> None:
    source = make_document("[t](/docs/z.md)", read_markup("[t](/docs/z.md)")).source
    root = Path("/top/site/docs/notes")
    document = ReviewDocument(replace(source, root=root, file=root / "a.md"))

    def is_found(folder: Path) -> bool:
        surroundings = FakeSurroundings(
            files=frozenset({str(root / "docs"), str(folder / "docs/z.md")})
        )
        return not list(BrokenLink().check(document, surroundings))

    assert [is_found(one) for one in (root, *root.parents)] == [True, True, True, False, False]


def test_addresses_of_pages_may_be_relative_to_the_address_of_the_page() -> None:
    assert _check(BrokenLink(), "[t](../b/)", path="x.md") == []


def test_pages_without_a_suffix_are_not_judged_in_a_site() -> None:
    text = "[t](sub/z)"
    assert len(_check(BrokenLink(), text)) == 1
    assert _check(BrokenLink(), text, files=(*_FILES, "mkdocs.yml")) == []
    assert _check(BrokenLink(), f"---\nslug: x\n---\n{text}") == []


def test_a_target_that_two_references_share_is_one_finding() -> None:
    text = "[a][l] [b][l]\n\n[l]: z.md\n"
    (found,) = _check(BrokenLink(), text)
    assert text[found.start : found.end] == "z.md"


def test_the_only_file_of_the_same_name_is_proposed() -> None:
    one = {"z.md": (Path("/notes/new/z.md"),)}
    (found,) = _check(BrokenLink(), "[t](./old/z.md#p)", namesakes=one)
    assert found.edit == "replace"
    assert found.fix is not None
    assert found.fix.text == "./new/z.md#p"
    two = {"z.md": (Path("/notes/new/z.md"), Path("/notes/other/z.md"))}
    (found,) = _check(BrokenLink(), "[t](old/z.md)", namesakes=two)
    assert found.fix is None


def test_a_page_without_a_suffix_may_be_a_note_elsewhere() -> None:
    notes = {"sub/z": Path("/notes/other/sub/z.md")}
    assert _check(BrokenLink(), "[t](sub/z)", notes=notes) == []


@pytest.mark.parametrize("text", ["![i](y.png)", '<img src="y.png">', "![[y.png|20]]"])
def test_an_image_that_does_not_exist_is_found(text: str) -> None:
    (found,) = _check(MissingImage(), text)
    assert text[found.start : found.end] == "y.png"
    assert _check(BrokenLink(), text) == []
    assert _check(MissingImage(), text.replace("y.png", "x.png")) == []


@pytest.mark.parametrize(
    "text",
    [
        *("[[b]]", "[[sub/c#Part|alias]]", "[[Title of b]]", "[[#Part]]", "[[x.png]]"),
        *("[[ -f x ]]", "[[tool.poetry.source]]", "[[Prototype]]", "[[1, 2]]", "[[$x]]", "`[[z]]`"),
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
        *(
            "the-costs",
            "The%20costs",
            "the_costs",
            "costs-1",
            "costs-2",
            "own",
            "html",
            "^block",
            "label",
        ),
        *("비용", "L10", "top", "", ":~:text=x", "fn1", "user-content-the-costs", "/route"),
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
    anchors = {"/notes/b.md": frozenset({"part"})}
    assert (
        _check(BrokenAnchor(), "[t](b.md#part) [u](sub/c.md#x) [[b#Part]]", anchors=anchors) == []
    )
    assert len(_check(BrokenAnchor(), "[t](b#pa) [[b#Lower]]", anchors=anchors)) == 2


@pytest.mark.parametrize(
    "text", ["{% include x.md %}\n", "--8<-- 'x.md'\n", "::: package.module\n"]
)
def test_anchors_of_documents_that_include_others_are_not_judged(text: str) -> None:
    assert _check(BrokenAnchor(), f"{text}\n[t](#z)") == []


_DEFINITION = "\n\n[other]: b.md\n"


@pytest.mark.parametrize("text", ["Read [the manual][m1].", "[the manual][]", "한글 [책][책 이름]"])
def test_a_label_without_a_definition_is_found(text: str) -> None:
    assert len(_check(UndefinedReference(), text + _DEFINITION)) == 1


@pytest.mark.parametrize(
    "text",
    [
        *("[m][d]\n\n[d]: b.md\n", "a[b][c]", "x[0][1]", "[ ] [x]", "[m]", "`[a][b]`", "[a][--b]"),
        *("[a][b::c]", "[a][`b`]", "[a][b][c]", "[a][heading]\n\n# Heading\n"),
    ],
)
def test_brackets_that_may_be_text_are_no_findings(text: str) -> None:
    assert _check(UndefinedReference(), text + _DEFINITION) == []


def test_a_footnote_is_judged_in_a_document_with_many_definitions() -> None:
    text = "[^1]: See [the manual][manual].\n"
    many = "".join(f"\n[{number}x]: b.md" for number in range(4))
    assert _check(UndefinedReference(), text + _DEFINITION) == []
    assert len(_check(UndefinedReference(), text + _DEFINITION + many)) == 1


def test_labels_that_may_be_defined_elsewhere_are_not_judged() -> None:
    text = "[the manual][manual]"
    assert _check(UndefinedReference(), text) == []
    assert _check(UndefinedReference(), text + _DEFINITION, files=("mkdocs.yml",)) == []


@pytest.mark.parametrize(
    ("heading", "fragment"),
    [
        ("What's new in 2.0?", "whats-new-in-20"),
        ("`kebab review` & more", "kebab-review--more"),
        ("Größe und Maß", "größe-und-maß"),
        ("설치 방법", "%EC%84%A4%EC%B9%98-%EB%B0%A9%EB%B2%95"),
        ("🚀 Start", "-start"),
        ("snake_case", "snake_case"),
    ],
)
def test_slugs_of_sites_are_found(heading: str, fragment: str) -> None:
    text = f"# {heading}\n"
    anchors = list_anchors(text, read_markup(text))
    assert anchors is not None
    assert has_anchor(anchors, fragment)
    assert not has_anchor(anchors, "other")


def test_tabs_and_translated_headings_have_generated_anchors() -> None:
    text = '## {{% heading "prerequisites" %}}\n\n{{< tabs name="k8s_install" >}}\n'
    anchors = list_anchors(text, read_markup(text))
    assert anchors is not None
    assert all(has_anchor(anchors, one) for one in ("before-you-begin", "k8s-install-2"))
    assert not has_anchor(anchors, "other")
    assert has_anchor(anchors, "다음-내용")


def test_other_fragments_are_no_anchors() -> None:
    assert not any(
        map(is_anchor, ("", "top", "L1-L9", "{{ x }}", "page=3", "fnref:1", "term-node"))
    )
    assert is_anchor("topic")


def test_an_anchor_is_folded_to_letters_and_digits_in_one_case() -> None:
    assert fold_anchor("A-b_c 1.２") == "abc12"


def test_a_target_has_a_path_and_a_fragment() -> None:
    assert split_target("a/b.md?x=1#part") == ("a/b.md", "part")
    assert split_target("#part") == ("", "part")


@pytest.mark.parametrize("target", ["a.md", "a b.md", "../a", "/a/b.md", "a%20b.md#c", "개요.md"])
def test_paths_are_told(target: str) -> None:
    assert is_path(LinkUse(target, "inline", 0, 1, (0, 1)))


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
