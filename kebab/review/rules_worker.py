"""Contains the worker that applies the rules, which need no language model."""

from collections.abc import Sequence

from kebab.core.review import Finding, Surroundings, Unit, UnitResult
from kebab.review.document import ReviewDocument
from kebab.review.items import build_items
from kebab.review.rules.rule import Rule
from kebab.review.worker import LoadResult


class RulesWorker:
    """Plans one unit for each document: all rules over the whole text."""

    model = None

    def __init__(self, rules: Sequence[Rule], surroundings: Surroundings) -> None:
        """Apply these rules; without one the unit of a document has no items."""
        self._rules = rules
        self._surroundings = surroundings

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return one unit of kind `rules`."""
        return [Unit("rules", (0, 0), 0, len(document.text))]

    def work(
        self, document: ReviewDocument, units: Sequence[Unit], index: int, load: LoadResult
    ) -> UnitResult:
        """Return the findings of all rules, sorted by their place."""
        del units, index, load
        findings = [
            finding for rule in self._rules for finding in rule.check(document, self._surroundings)
        ]
        items, citations = build_items(document, sorted(findings, key=_get_place))
        return UnitResult(items=tuple(items), citations=tuple(citations))


def _get_place(finding: Finding) -> tuple[int, int, str]:
    return finding.start, finding.end, finding.rule_id or ""
