"""Declares what a run does with a document, and contains the worker that needs no model.

That worker runs the rules and imports items.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, Protocol, TypeAlias

from msgspec import Struct

from kebab.core.progress import Cancel
from kebab.core.review import ReviewStore, RulesResult, Surroundings, Unit, UnitResult
from kebab.errors.catalog import (
    ContextOverflow,
    ModelBusy,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)
from kebab.errors.signal import Signal
from kebab.review.document import ReviewDocument
from kebab.review.items import build_items, import_items
from kebab.review.rules.links import list_doubtful
from kebab.review.rules.rule import Rule
from kebab.wire.review import ItemV1
from kebab.wire.stream import ReviewEvent

LoadResult: TypeAlias = Callable[[int], UnitResult]
"""Returns the stored result of a unit of the same document by its index; it must be finished."""

Required: TypeAlias = Literal["never", "first", "always"]

MODEL_FAILURES = (
    ContextOverflow,
    ModelBusy,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)
"""What a worker raises when the language model fails."""


def needs_model(unit: Unit) -> bool:
    """Return whether a unit needs the language model."""
    return unit.kind not in {"rules", "import"}


class UnitWorker(Protocol):
    """Works on the units of documents. It keeps no state that a killed run would lose."""

    @property
    def model(self) -> str | None:
        """The name of the language model; None when none is asked."""

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units of a document in the order of the work; the same for the same text.

        Those that need no language model come first.
        """

    def list_dependents(self, units: Sequence[Unit], index: int) -> list[int]:
        """Return the units that need the result of a unit, and so follow it when it is repeated."""

    def work(
        self, document: ReviewDocument, units: Sequence[Unit], index: int, load: LoadResult
    ) -> UnitResult:
        """Return the result of one unit; every unit before it is finished.

        Raises:
            Signal: The language model fails, so that the unit is not finished.
        """


class RunPorts(Struct, frozen=True, kw_only=True):
    """What the work on a run needs.

    Attributes:
        store: Stores the run.
        base: The worker for units that need no language model.
        full: The worker for all units; None when no language model is asked.
        load: Returns a document of the run by its position.
        report: Receives the events.
        cancel: Stops the work between two units.
        build_failure: Returns the failure of a model without a usable answer to so many units.
        required: Which failures of the language model end the work: none, those before it gives its
            first usable answer to this request, or all.
        take_rules_result: Returns what the rules found in a document by its position; None when
            they are still to be applied.
    """

    store: ReviewStore
    base: UnitWorker
    full: UnitWorker | None
    load: Callable[[int], ReviewDocument]
    report: Callable[[ReviewEvent], None]
    cancel: Cancel
    build_failure: Callable[[int], Signal]
    required: Required = "never"
    take_rules_result: Callable[[int], RulesResult | None] = lambda _: None


class RulesWorker(Struct, frozen=True):
    """Plans one unit for all rules over a document, and one for imported items if there are any.

    Without a rule their unit has no items.
    """

    model: ClassVar[None] = None

    _rules: Sequence[Rule]
    _surroundings: Surroundings
    _imported: Sequence[ItemV1] = ()
    _adapt: Callable[[ReviewDocument, Surroundings], Surroundings] = lambda _, found: found
    """Returns the surroundings with the settings for a document."""

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
        surroundings = self._adapt(document, self._surroundings)
        findings = [
            finding for rule in self._rules for finding in rule.check(document, surroundings)
        ]
        findings.sort(key=lambda one: (one.start, one.end, one.rule_id or ""))
        items, citations = build_items(document, findings)
        names = list_doubtful(document, findings)
        doubtful = tuple(one.uid for one in items if one.rule_id in names)
        return UnitResult(items=tuple(items), citations=tuple(citations), doubtful=doubtful)
