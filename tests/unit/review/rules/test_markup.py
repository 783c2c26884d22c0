"""Marks that a page shows as text are found, and those that are meant are not."""

from pathlib import Path

import pytest

from kebab.core.review import Finding, Site
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.rules.links import BrokenAnchor
from kebab.review.rules.markup import (
    DuplicateFrontMatterField,
    EmptyLink,
    GluedHeading,
    MergeConflict,
    ReversedLink,
    SpacedEmphasis,
    TableCells,
    UnclosedEmphasis,
    UnusedDefinition,
)
from kebab.review.rules.rule import Rule
from tests.fakes.review import FakeSurroundings, make_document

_NOTHING = FakeSurroundings()
_TABLE = "| a | b |\n| - | - |\n| 1 | 2 |\n"


def _check(rule: Rule, text: str, surroundings: FakeSurroundings = _NOTHING) -> list[Finding]:
    return list(rule.check(make_document(text, read_markup(text)), surroundings))


def _show(rule: Rule, text: str, surroundings: FakeSurroundings = _NOTHING) -> list[str]:
    return [text[one.start : one.end] for one in _check(rule, text, surroundings)]


def _fix(rule: Rule, text: str) -> str:
    (found,) = _check(rule, text)
    assert found.fix is not None
    return text[: found.start] + found.fix.text + text[found.end :]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"{_TABLE}| 1 | 2 | 3 |\n", ["| 1 | 2 | 3 |"]),
        (f"{_TABLE}| 1 | `a | b` |\n", ["| 1 | `a | b` |"]),
        (f"> {_TABLE.replace(chr(10), chr(10) + '> ')}| 1 | 2 | 3 |\n", ["| 1 | 2 | 3 |"]),
        (f"{_TABLE}| Lee 8 |\n| 3 | 4 |\n", ["| Lee 8 |"]),
        ("| a | b | c |\n| - | - |\n| 1 | 2 | 3 |\n", ["| - | - |"]),
    ],
)
def test_rows_that_lose_cells_are_found(text: str, rows: list[str]) -> None:
    assert _show(TableCells(), text) == rows


@pytest.mark.parametrize(
    "text",
    [
        f"{_TABLE}| 1 | a \\| b |\n",
        f"{_TABLE}| 1 | `a \\| b` |\n",
        f"{_TABLE}| **Group** |\n| 3 | 4 |\n",
        f"{_TABLE}| | | |\n",
        f"{_TABLE}| 1 | {{{{ x | y | z }}}} |\n",
        f"{_TABLE}\nText with a | b | c | d.\n",
        f"```\n{_TABLE}| 1 | 2 | 3 |\n```\n",
        "a | b\n--- | ---\n1 | 2\n",
        "a | b | c\n--- | --- | ---\n1 | 2 | 3\n1 | 2 |\n1 | 2 | 3\n1 | 2 | 3\n",
        "- | a | b |\n  | - | - |\n  | 1 | 2 |\n",
        "Use a | b.\n\n---\n",
    ],
)
def test_tables_with_all_their_cells_are_right(text: str) -> None:
    assert _show(TableCells(), text) == []


def test_code_in_cells_is_known_to_mkdocs() -> None:
    site = FakeSurroundings(site=Site("mkdocs", "/notes"))
    assert _show(TableCells(), f"{_TABLE}| 1 | `a | b` |\n", site) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", 1),
        ("a\n=======\nb\n>>>>>>> main\n", 1),
        ("<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n\n<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n", 2),
        ("Title\n=======\n\nText.\n", 0),
        (">>>>>>> A deep quotation.\n", 0),
        ("```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n```\n", 0),
    ],
)
def test_each_conflict_is_found_once(text: str, count: int) -> None:
    assert len(_check(MergeConflict(), text)) == count


def test_a_reversed_link_is_turned_round() -> None:
    text = "Read (the plan)[https://a.b/c] and (this)[plan.md#x].\n"
    assert _show(ReversedLink(), text) == ["(the plan)[https://a.b/c]", "(this)[plan.md#x]"]
    assert _fix(ReversedLink(), "Read (it)[../a.md].\n") == "Read [it](../a.md).\n"


@pytest.mark.parametrize(
    "text",
    [
        "A note (see below)[^1].\n\n[^1]: Here.\n",
        "Read (this) [plan](plan.md).\n",
        "Read (this)[plan](plan.md).\n",
        "Call f(x)[0] and `(a)[https://b.c]`.\n",
        "It is (a)[1] or (b)[name].\n",
    ],
)
def test_brackets_that_are_no_link_are_right(text: str) -> None:
    assert _show(ReversedLink(), text) == []


def test_links_without_address_or_text_are_found() -> None:
    text = "[a]() [b](#) [](https://c.d) [![x](y.png)]() [](e.md)\n"
    assert _show(EmptyLink(), text) == [
        *("[a]()", "[b](#)", "[](https://c.d)", "[![x](y.png)]()", "[](e.md)")
    ]


@pytest.mark.parametrize(
    "text",
    ["![](a.png)\n", "[Back to top](#)\n", "[](){#id}\n", "[](label)\n", "[x][]\n\n[x]: a.md\n"],
)
def test_links_that_are_meant_to_be_empty_are_right(text: str) -> None:
    assert _show(EmptyLink(), text) == []


def test_a_heading_gets_its_blank() -> None:
    assert _fix(GluedHeading(), "Text.\n\n##Costs\n") == "Text.\n\n## Costs\n"


@pytest.mark.parametrize("text", ["#tag\n", "## Costs\n", "```\n##x\n```\n", "a ##b\n", "##\n"])
def test_tags_and_headings_are_right(text: str) -> None:
    assert _show(GluedHeading(), text) == []


def test_bold_text_without_end_is_found() -> None:
    text = "It is **bold** and **not closed.\n\nAnother **one**.\n"
    (found,) = _check(UnclosedEmphasis(), text)
    assert text[found.start :].startswith("**not closed")


@pytest.mark.parametrize(
    "text",
    [
        *("It is **bold**.\n", "It is 2**3.\n", "Use `**` here.\n", "Use **/*.md here.\n"),
        *("A ** b.\n", "It **goes on\nto the next line**.\n", "It is \\**escaped.\n"),
        "It is **as of 8 Feb\n2011) recent enough**, as told.\n",
    ],
)
def test_closed_bold_text_is_right(text: str) -> None:
    assert _show(UnclosedEmphasis(), text) == []


@pytest.mark.parametrize(
    "text", ["The ** costs ** are.", "The ** costs** are.", "The **costs ** are."]
)
def test_blanks_inside_of_the_marks_are_removed(text: str) -> None:
    assert _fix(SpacedEmphasis(), text) == "The **costs** are."


@pytest.mark.parametrize(
    "text", ["**a** and **b**", "**a `b`** are", "2 ** 3 ** 4", "`** a **`", "**a** b **c**"]
)
def test_marks_that_make_text_bold_are_right(text: str) -> None:
    assert _show(SpacedEmphasis(), text) == []


def test_a_label_that_stands_nowhere_else_is_unused() -> None:
    text = "See [a], [b][] and [c][D].\n\n[a]: 1\n[b]: 2\n[d]: 3\n[e]: 4\n[//]: # (note)\n"
    assert _show(UnusedDefinition(), text) == ["[e]: 4"]


def test_a_field_that_stands_twice_is_found() -> None:
    text = "---\ntitle: A\nlist:\n  title: B\ntitle: C\n---\n"
    assert _show(DuplicateFrontMatterField(), text) == ["title"]
    assert _show(DuplicateFrontMatterField(), "+++\na = 1\nb = 2\na = 3\n[t]\na = 4\n+++\n") == [
        "a"
    ]
    assert _show(DuplicateFrontMatterField(), "---\ntitle: A\n---\n\ntitle: B\n") == []


_MOVED = FakeSurroundings(
    files=frozenset({"/notes/b.md", "/notes/sub/garden.md"}),
    headings={"costsofthegarden": Path("/notes/sub/garden.md")},
    anchors={
        "/notes/sub/garden.md": frozenset({"costsofthegarden"}),
        "/notes/b.md": frozenset({"plan"}),
    },
)


@pytest.mark.parametrize("target", ["#costs-of-the-garden", "b.md#costs-of-the-garden"])
def test_a_moved_heading_is_found_with_its_place(target: str) -> None:
    (found,) = _check(BrokenAnchor(), f"# Plan\n\nSee [the costs]({target}).\n", _MOVED)
    assert found.fix is not None
    assert found.fix.text == "sub/garden.md#costs-of-the-garden"


@pytest.mark.parametrize(
    "text",
    [
        "# Costs of the garden\n\nSee [the costs](#costs-of-the-garden).\n",
        "# A\n\nSee [the costs](sub/garden.md#costs-of-the-garden).\n",
        "# A\n\nSee [xyz](#costs-of-the-garden).\n",
        "# A\n\nSee [the costs](#costs).\n",
        "(label)=\n# Plan\n\nSee [the costs](#costs-of-the-garden).\n",
    ],
)
def test_headings_that_are_there_or_about_something_else_have_no_other_place(text: str) -> None:
    assert not [one for one in _check(BrokenAnchor(), text, _MOVED) if one.fix]


def test_the_edits_of_an_assistant_are_no_conflict() -> None:
    text = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    assert _show(MergeConflict(), text) == []
    assert len(_show(MergeConflict(), text.replace("SEARCH", "HEAD"))) == 1


@pytest.mark.parametrize(("path", "count"), [("src/SUMMARY.md", 0), ("src/a.md", 1)])
def test_a_book_may_have_chapters_without_a_page(path: str, count: int) -> None:
    text = "- [Later]()\n"
    document = make_document(text, read_markup(text), path=path)
    assert len([*EmptyLink().check(document, _NOTHING)]) == count


def test_a_program_finds_the_pages_of_several_names_of_code() -> None:
    link = "See [`a`]().\n\n"

    assert len(_show(EmptyLink(), link * 2)) == 2
    assert _show(EmptyLink(), link * 3) == []


def test_headings_that_are_always_glued_are_the_form_of_a_program() -> None:
    text = "# A\n\n##Note\n\nx\n\n"

    assert _show(GluedHeading(), text) == ["##"]
    assert _show(GluedHeading(), text * 3) == []
    assert _show(GluedHeading(), "# A\n\n######Note\n") == []


def test_rows_that_a_program_wrote_are_its_own() -> None:
    text = f"{_TABLE}| 1 | 2 | 3 |\n"

    assert _show(TableCells(), text)
    assert not _show(TableCells(), f"<!-- DO NOT EDIT -->\n\n{text}")


@pytest.mark.parametrize("definition", ["[?TOC]: true", "[summary]: #summary"])
def test_directives_and_names_of_sections_are_no_unused_labels(definition: str) -> None:
    assert _show(UnusedDefinition(), f"# A\n\nText\n\n{definition}\n") == []
