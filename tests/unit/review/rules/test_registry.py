"""The rules are sorted, explained, and found by their example."""

from pathlib import Path

import pytest

from kebab.config.settings import Review
from kebab.core.review import SimilarParagraph
from kebab.errors.catalog import ConfigInvalid, InvalidInput
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.rules.copies import NearDuplicate
from kebab.review.rules.registry import LINTERS, RULES, describe_rule, select_rules
from kebab.review.rules.rule import Rule
from tests.fakes.evidence import stored
from tests.fakes.review import FakeSurroundings, make_document

_ALL = (*RULES, *(one(is_given=True) for one in LINTERS))
_SURROUNDINGS = FakeSurroundings(
    headings={"costsofthegarden": Path("/notes/garden.md")},
    anchors={"/notes/garden.md": frozenset({"costsofthegarden"})},
    similar={NearDuplicate.example: SimilarParagraph(stored("a"), 0.9)},
)


@pytest.mark.parametrize("rule", _ALL, ids=lambda rule: rule.id)
def test_every_rule_is_explained(rule: Rule) -> None:
    assert len((type(rule).__doc__ or "").split("\n\n")) >= 2


@pytest.mark.parametrize("rule", _ALL, ids=lambda rule: rule.id)
def test_every_example_has_one_finding(rule: Rule) -> None:
    document = make_document(rule.example, read_markup(rule.example))
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


@pytest.mark.parametrize("rule", _ALL, ids=lambda rule: rule.id)
def test_a_description_is_one_sentence_and_paragraphs_of_one_line(rule: Rule) -> None:
    described = describe_rule(rule, Review(disable=[rule.id], severity={rule.kind: "error"}))
    assert (described.id, described.enabled, described.severity) == (rule.id, False, "error")
    assert described.summary.endswith(".")
    assert "\n" not in described.summary + described.explanation.replace("\n\n", "")
