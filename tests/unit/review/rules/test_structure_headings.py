"""Faults of headings, sections and anchors are found, and habits of documents are none."""

import pytest

from kebab.parse.markdown_parts import read_markup
from kebab.review.rules.rule import Rule
from kebab.review.rules.structure import (
    DuplicateAnchor,
    DuplicateHeading,
    EmptySection,
    HeadingJump,
)
from tests.fakes.review import FakeSurroundings, make_document


def _check(rule: Rule, text: str) -> list[str]:
    document = make_document(text, read_markup(text))
    return [text[one.start : one.end] for one in rule.check(document, FakeSurroundings())]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\n\nx\n\n# a\n\ny\n", ["# a"]),
        ("# A\n\n## B\n\nx\n\n## B\n\ny\n", ["## B"]),
        ("# A\n\n## B\n\nx\n\n# C\n\n## B\n\ny\n", []),
        ("# A\n\n## B\n\nx\n\n### B\n\ny\n", []),
        ("# 1.0.1\n\n# Fixed\n\nx\n\n# 1.0.0\n\n# Fixed\n\ny\n", []),
        ('=== "Linux"\n\n# A\n\nx\n\n# A\n', []),
        ("# A {#one}\n\nx\n\n# A {#two}\n\ny\n", []),
        ("```\n# A\n# A\n```\n", []),
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
        ("## A\n\n#### B\n\n## C\n\n#### D\n", ["#### B"]),
        ("## A\n\n#### B\n\n## C\n\n### D\n\n## E\n\n#### F\n", ["#### B"]),
        ("## A\n\n#### B\n\n## C\n\n### D\n", ["#### B"]),
        ("### A\n\n# B\n\n## C\n", []),
        ("# A\n\n<h2>B</h2>\n\n### C\n", []),
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
        ("", []),
    ],
)
def test_a_section_has_more_than_its_heading(text: str, found: list[str]) -> None:
    assert _check(EmptySection(), text) == found
