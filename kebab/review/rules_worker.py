"""Contains the worker for what needs no language model: the rules, and imported items."""

from collections.abc import Sequence

from kebab.core.review import Finding, Surroundings, Unit, UnitResult
from kebab.review.document import ReviewDocument
from kebab.review.items import build_items
from kebab.review.older_items import import_items
from kebab.review.rules.rule import Rule
from kebab.review.worker import LoadResult
from kebab.wire.review import ItemV1


class RulesWorker:
    """Plans one unit for all rules over a document, and one for imported items if there are any."""

    model = None

    def __init__(
        self, rules: Sequence[Rule], surroundings: Surroundings, imported: Sequence[ItemV1] = ()
    ) -> None:
        """Apply these rules; without one their unit has no items."""
        self._rules = rules
        self._surroundings = surroundings
        self._imported = imported

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the unit of kind `rules`, and that of kind `import`."""
        rules = Unit("rules", (0, 0), 0, len(document.text))
        return [rules, rules._replace(kind="import")] if self._imported else [rules]

    def list_dependents(self, units: Sequence[Unit], index: int) -> list[int]:
        """Return no unit, because none needs the result of another one."""
        del units, index
        return []

    def work(
        self, document: ReviewDocument, units: Sequence[Unit], index: int, load: LoadResult
    ) -> UnitResult:
        """Return the findings of all rules, or the imported items, sorted by their place."""
        del load
        if units[index].kind == "import":
            return import_items(document, self._imported)
        findings = [
            finding for rule in self._rules for finding in rule.check(document, self._surroundings)
        ]
        items, citations = build_items(document, sorted(findings, key=_get_place))
        return UnitResult(items=tuple(items), citations=tuple(citations))


def _get_place(finding: Finding) -> tuple[int, int, str]:
    return finding.start, finding.end, finding.rule_id or ""
