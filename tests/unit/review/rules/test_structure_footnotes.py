"""Footnotes are used and defined."""

import pytest

from kebab.parse.text.markdown_parts import read_markup
from kebab.review.rules.rule import Rule
from kebab.review.rules.structure import (
    DuplicateAnchor,
    DuplicateHeading,
    EmptySection,
    HeadingJump,
    MalformedFrontMatter,
    MissingFrontMatterField,
    UndefinedFootnote,
    UnusedFootnote,
)
from tests.fakes.review import FakeSurroundings, make_document


def _check(rule: Rule, text: str) -> list[str]:
    document = make_document(text, read_markup(text))
    return [text[one.start : one.end] for one in rule.check(document, FakeSurroundings())]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a[^1]\n", ["[^1]"]),
        ("a[^note]\n", ["[^note]"]),
        ("a[^1] b[^x]\n\n[^1]: n\n", ["[^x]"]),
        ("a[^Note]\n\n[^note]: n\n", []),
        ("a[^1]\n\n!!! tip\n\n    [^1]: n\n", []),
        ('Match [^a-z] or [^abc]+ or ([^x]) or [^"].\n', []),
        ("`a[^1]` \\[^2]\n", []),
        ("a [^2][page]\n\n[page]: a.md\n", []),
        ("a[^1][^2]\n\n[^2]: n\n", ["[^1]"]),
    ],
)
def test_a_footnote_that_is_used_is_defined(text: str, found: list[str]) -> None:
    assert _check(UndefinedFootnote(), text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n\n[^1]: n\n", ["[^1]:"]),
        ("a[^1]\n\n[^1]: n\n[^2]: m\n", ["[^2]:"]),
        ("!!! tip\n\n    a[^1]\n\n[^1]: n\n", []),
    ],
)
def test_a_footnote_that_is_defined_is_used(text: str, found: list[str]) -> None:
    assert _check(UnusedFootnote(), text) == found


def test_many_footnotes_are_compared_in_linear_time() -> None:
    text = "".join(f"[^{number}]: note\n\n" for number in range(20_000))
    assert len(_check(UnusedFootnote(), text)) == 20_000


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("---\ntitle: A: b\n---\n", ["front matter is not valid YAML at line 2"]),
        ("---\ntitle: A\n\ntext\n", ["front matter is not closed"]),
        ("---\ntitle: A\n---\n", []),
        ("---\n\ntext\n\n---\n", []),
        ("text\n", []),
    ],
)
def test_damage_is_found_at_the_first_line(text: str, reasons: list[str]) -> None:
    document = make_document(text, read_markup(text))
    found = list(MalformedFrontMatter().check(document, FakeSurroundings()))
    assert [one.reason for one in found] == reasons
    assert all(text[one.start : one.end] == "---" for one in found)


@pytest.mark.parametrize(
    ("text", "path", "missing"),
    [
        ("---\nTitle: A\n---\n", "a.md", ["date"]),
        ("text\n", "a.md", ["date, title"]),
        ("", "a.md", ["date, title"]),
        ("---\ntitle: A\ndate: 2020-01-01\n---\n", "a.md", []),
        ("text\n", "README.md", []),
        ("text\n", "_part.md", []),
        ("---\nmenu: 1\n---\n", "_part.md", []),
        ("text\n", "en/includes/part.md", []),
        ("---\ntitle: A\n---\n", "includes/part.md", ["date"]),
        ("---\ntitle: A: b\n---\n", "a.md", []),
    ],
)
def test_fields_that_the_other_notes_have_are_missed(
    text: str, path: str, missing: list[str]
) -> None:
    document = make_document(text, read_markup(text), path=path)
    usual = FakeSurroundings(usual_fields=frozenset({"title", "date"}))
    found = list(MissingFrontMatterField().check(document, usual))
    assert [one.reason.partition(": ")[2] for one in found] == missing


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\n\nx\n\n# A\n\ny\n", ["# A"]),
        ("# Module\n\nx\n\n# module\n\ny\n", []),
        ("# A\n\n## B\n\nx\n\n## B\n\ny\n", ["## B"]),
        ("# A\n\n## B\n\nx\n\n# C\n\n## B\n\ny\n", []),
        ("# A\n\n## B\n\nx\n\n### B\n\ny\n", []),
        ("# 1.0.1\n\n# Fixed\n\nx\n\n# 1.0.0\n\n# Fixed\n\ny\n", []),
        ('=== "Linux"\n\n# A\n\nx\n\n# A\n', []),
        ("# A {#one}\n\nx\n\n# A {#two}\n\ny\n", []),
        ("```\n# A\n# A\n```\n", []),
        ("# A\n\n## getItem\n\nx\n\n## getItem\n\ny\n", []),
        ("# A\n\n## B\n\nx\n\n## B\n\ny\n\n## B\n\nz\n", []),
    ],
)
def test_headings_are_compared_within_their_section(text: str, found: list[str]) -> None:
    assert _check(DuplicateHeading(), text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<a id='x'></a> a\n\n<b name='y' id='x'>b</b>\n", ["<b name='y' id='x'>"]),
        ("# A {#x}\n\na\n\n# B {#x}\n", ["# B {#x}"]),
        ("a ^x\n\nb ^x\n", ["^x"]),
        ("<a id='a'></a>\n# A\n\n`<a id='a'>`\n", []),
    ],
)
def test_an_anchor_is_declared_once(text: str, found: list[str]) -> None:
    assert _check(DuplicateAnchor(), text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("## A\n\n#### B\n\n### C\n\n# D\n", ["#### B"]),
        ("## A\n\n#### B\n\n## C\n\n#### D\n", []),
        ("## A\n\n#### B\n\n## C\n\n### D\n\n## E\n\n#### F\n", ["#### B"]),
        ("## A\n\n#### B\n\n## C\n\n### D\n", ["#### B"]),
        ("### A\n\n# B\n\n## C\n", []),
        ("# A\n\n<h2>B</h2>\n\n### C\n", []),
        ("# A\n\n<Tabs>\n<TabItem>\n\n### B\n\n</TabItem>\n</Tabs>\n", []),
        ("# A\n\n:::note\n\n### B\n\n:::\n", []),
        ("# A\n\n> ##### Note\n\n## B\n", []),
        ("# A\n\n{{< include x.md >}}\n\n### B\n", []),
        (f"# T\n\n{'## A{0}{0}#### B{0}{0}### C{0}{0}'.replace('{0}', chr(10)) * 3}", ["#### B"]),
    ],
)
def test_levels_go_down_by_one(text: str, found: list[str]) -> None:
    assert _check(HeadingJump(), text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\n\n## B\n\n## C\n\nx\n", ["## B"]),
        ("# A\n\nx\n\n## B\n", ["## B"]),
        ("# A\n\nx\n\n## B\n\n<!-- generated -->\n", []),
        ("# A\n\n## B\n\n### C\n\nx\n", []),
        ("# A\n\n## B\n", []),
        ("# A\n\nx\n\n## 1.2.3\n\n## [1.2.2] - 2020\n\nx\n", []),
        ("# A\n\n## f(a)\n\n## f(a, b)\n\nx\n", []),
        ("# A\n\n## width\n## height\n\nx\n", []),
        ("# A\n\n## one\n\n## two\n\n## three\n\n## four\n\nx\n", []),
        ("# A\n\n## System.String[]\n\n## Notes\n\nx\n", []),
        ("# A\n\n## [Watch it](a.md)\n\n## Do not open an issue.\n\n## B\n\nx\n", []),
        ("# A\n\n## `run`\n\n## None\n\n## Notes\n\nx\n", []),
        ("# A\n\nx\n\ntitle: b\n---\n\n## B\n\nx\n", []),
        ("# Title\n\n# Scope\n\nx\n", []),
        ("# A\n\nx\n\n## common_test 1.3.0\n\n## common_test 1.2.0\n\nx\n", []),
        ("# A\n\nx\n\n## * Follow redirects;\n\n## B\n\nx\n", []),
        ("# A\n\nx\n\n:::{example}\n## B\n\n## C\n:::\n", []),
        ("", []),
    ],
)
def test_a_section_has_more_than_its_heading(text: str, found: list[str]) -> None:
    assert _check(EmptySection(), text) == found


def test_fields_of_pages_and_of_kinds_of_notes_are_missed() -> None:
    usual = FakeSurroundings(usual_fields=frozenset({"isbn", "weight", "history"}))
    for text, count in (("---\ntitle: A\n---\n", 0), ("---\ntype: book\n---\n", 1)):
        found = list(MissingFrontMatterField().check(make_document(text, read_markup(text)), usual))
        assert len(found) == count


def test_records_may_have_empty_sections() -> None:
    text = "# Changes\n\n## Removed\n\n## Fixed\n\nx\n"
    document = make_document(text, read_markup(text), path="CHANGELOG.md")
    assert list(EmptySection().check(document, FakeSurroundings())) == []


def test_headings_of_different_blocks_may_be_equal() -> None:
    entry = "<Update label='1'>\n\n### Fixes\n\nText\n\n</Update>\n\n"

    assert not _check(DuplicateHeading(), f"# A\n\n{entry * 2}")
    assert not _check(DuplicateHeading(), f"# A\n\n{entry.replace('Update', 'base_part') * 2}")
    assert _check(DuplicateHeading(), "# A\n\n## Fixes\n\n<Note>x</Note>\n\n## Fixes\n\ny\n")


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\n## One\n\na\n\n## Two\n\nb\n\n## One\n\nc\n\n## Two\n\nd\n",
        "# A\n\n#### `x` <sup>1</sup>\n\na\n\n#### `x` <sup>2</sup>\n\nb\n",
        "---\nmarp: true\n---\n\n## One\n\na\n\n## One\n\nb\n",
    ],
)
def test_repeated_forms_code_and_slides_are_no_duplicates(text: str) -> None:
    assert not _check(DuplicateHeading(), text)


def test_a_jump_that_most_files_of_the_folder_have_is_a_habit() -> None:
    text = "# A\n\n### B\n\nText\n"
    document = make_document(text, read_markup(text))

    assert list(HeadingJump().check(document, FakeSurroundings()))
    assert not list(HeadingJump().check(document, FakeSurroundings(jumps=frozenset({(1, 3)}))))


@pytest.mark.parametrize("rule", [DuplicateHeading(), EmptySection(), HeadingJump()])
def test_headings_that_a_program_wrote_are_not_checked(rule: Rule) -> None:
    text = "# A\n\n### B\n\nx\n\n## C\n\n## D\n\nx\n\n## D\n\ny\n"

    assert _check(rule, text)
    assert not _check(rule, f"<!-- This file is generated by a tool. -->\n\n{text}")


def test_a_heading_above_names_of_code_is_no_empty_section() -> None:
    assert not _check(EmptySection(), "# A\n\n## Props\n\n## `value`\n\nx\n")


def test_questions_without_answers_are_a_form() -> None:
    text = "# A\n\n## What is your name?\n\n## How old is it?\n\n## Help\n\nx\n"
    assert not _check(EmptySection(), text)
    assert _check(EmptySection(), text.replace("How old is it?", "Ages\n\nx"))


def test_a_quoted_heading_is_no_section() -> None:
    assert not _check(EmptySection(), "# A\n\n> ## Note\n\n## B\n\nx\n")


def test_the_form_of_a_list_of_changes_is_no_jump() -> None:
    text = "".join(f"# 1.{number}\n\n### Fixes\n\nx\n\n" for number in range(4)) + "## A\n\nx\n"
    document = make_document(text, read_markup(text), path="CHANGELOG.md")

    assert _check(HeadingJump(), text)
    assert not list(HeadingJump().check(document, FakeSurroundings()))


def test_a_heading_with_a_link_is_its_own_text() -> None:
    assert not _check(EmptySection(), "# A\n\n## Page: [b](b.md)\n\n## C\n\nx\n")


def test_a_heading_of_the_first_level_is_a_title() -> None:
    surroundings = FakeSurroundings(usual_fields=frozenset({"title"}))
    rule = MissingFrontMatterField()

    for text, count in (("# A\n\nx\n", 0), ("x\n", 1)):
        document = make_document(text, read_markup(text))
        assert len(list(rule.check(document, surroundings))) == count


def test_a_fault_that_most_files_have_is_the_way_of_a_program() -> None:
    text = "---\ntitle: Plugin: one\n---\n"
    document = make_document(text, read_markup(text))
    (found,) = MalformedFrontMatter().check(document, FakeSurroundings())

    faults = frozenset({found.reason})
    assert not list(MalformedFrontMatter().check(document, FakeSurroundings(faults=faults)))


def test_headings_in_list_items_are_no_duplicates() -> None:
    text = "# A\n\n### B\n\n- x\n\n  ### B\n\n  y\n"

    assert not _check(DuplicateHeading(), text)
    assert _check(DuplicateHeading(), text.replace("  ### B", "### B"))
