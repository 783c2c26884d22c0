"""The rules are sorted, explained, and found by their example."""

from dataclasses import replace
from pathlib import Path

import pytest

from kebab.core.review import SimilarParagraph
from kebab.errors.catalog import ConfigInvalid, InvalidInput
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.document import ReviewDocument
from kebab.review.linters import Linter
from kebab.review.rules import Rule
from kebab.review.selection import LINTERS, RULES, select_rules
from kebab.review.statements import NearDuplicate
from tests.fakes.evidence import stored
from tests.fakes.review import FakeSurroundings, make_document

_ALL = (*RULES, *(one() for one in LINTERS))
_SURROUNDINGS = FakeSurroundings(
    headings={"costsofthegarden": Path("/notes/garden.md")},
    anchors={"/notes/garden.md": frozenset({"costsofthegarden"})},
    similar={NearDuplicate.example: SimilarParagraph(stored("a"), 0.9)},
)


@pytest.mark.parametrize("rule", _ALL, ids=lambda rule: rule.id)
def test_every_rule_is_explained(rule: Rule) -> None:
    assert len((type(rule).__doc__ or "").split("\n\n")) >= 2


@pytest.mark.parametrize("rule", _ALL, ids=lambda rule: rule.id)
def test_every_example_has_one_finding(rule: Rule, tmp_path: Path) -> None:
    document = make_document(rule.example, read_markup(rule.example))
    if isinstance(rule, Linter):
        file = tmp_path / "a.md"
        file.write_text(rule.example)
        document = ReviewDocument(replace(document.source, file=file, root=tmp_path))
    found = list(rule.check(document, _SURROUNDINGS))
    assert [str(one.rule_id).partition(":")[0] for one in found] == [rule.id]


def test_rules_are_selected_by_name_or_unless_disabled() -> None:
    assert [rule.id for rule in select_rules(["stale-date"], [])] == ["stale-date"]
    assert "stale-date" not in {rule.id for rule in select_rules(None, ["stale-date"])}


def test_an_unknown_name_is_refused_with_the_nearest_rule() -> None:
    with pytest.raises(InvalidInput, match=r"unknown rule `stale-dtae`.*`stale-date`"):
        select_rules(["stale-dtae"], [])
    with pytest.raises(ConfigInvalid, match=r"review.disable.*unknown rule `nonsense`"):
        select_rules(["stale-date"], ["nonsense"])
