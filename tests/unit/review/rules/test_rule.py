"""A finding of a rule carries the facts of the rule."""

from kebab.core.review import Fix
from kebab.review.rules.dates import StaleDate
from kebab.review.rules.rule import build_finding


def test_a_finding_names_its_rule() -> None:
    found = build_finding(StaleDate(), 2, 5, "why", edit="delete", fix=Fix(""))
    assert (found.rule_id, found.kind, found.severity) == ("stale-date", "stale", "suggestion")
    assert (found.start, found.end, found.reason, found.edit) == (2, 5, "why", "delete")
