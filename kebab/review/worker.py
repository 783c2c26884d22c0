"""Declares what a run does with a document, and contains the worker that applies the rules."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from kebab.core.progress import Cancel
from kebab.core.review import ReviewStore, Surroundings, Unit, UnitResult
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
from kebab.review.items import build_items
from kebab.review.rules.links import list_doubtful
from kebab.review.rules.rule import Rule
from kebab.wire.stream import ReviewEvent

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
    return unit.kind in {"proofread", "draft"}


class UnitWorker(Protocol):
    """Works on the units of documents. It keeps no state that a killed run would lose."""

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units of a document in the order of the work; the same for the same text.

        Those that need no language model come first.
        """

    def work(self, document: ReviewDocument, unit: Unit) -> UnitResult:
        """Return the result of a unit.

        Raises:
            Signal: The language model fails, so that the unit is not finished.
        """


class RunPorts(Struct, frozen=True, kw_only=True):
    """What the work on a run needs.

    Attributes:
        store: Stores the run.
        worker: Works on its units.
        asks_model: Whether units that need the language model are worked on.
        load: Returns a document of the run by its number.
        report: Receives the events.
        cancel: Stops the work between two units.
        build_failure: Returns the failure of a model without a usable answer to so many units.
        required: Whether a failure of the language model ends the work before its first usable
            answer to this request.
    """

    store: ReviewStore
    worker: UnitWorker
    asks_model: bool
    load: Callable[[int], ReviewDocument]
    report: Callable[[ReviewEvent], None]
    cancel: Cancel
    build_failure: Callable[[int], Signal]
    required: bool = False


class RulesWorker(Struct, frozen=True):
    """Plans one unit for all rules over a document; without a rule it has no items."""

    _rules: Sequence[Rule]
    _surroundings: Surroundings

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the unit of kind `rules`."""
        return [Unit("rules", (0, 0), 0, len(document.text))]

    def work(self, document: ReviewDocument, unit: Unit) -> UnitResult:
        """Return the findings of all rules, sorted by their place."""
        del unit
        findings = [
            finding for rule in self._rules for finding in rule.check(document, self._surroundings)
        ]
        findings.sort(key=lambda one: (one.start, one.end, one.rule_id or ""))
        items, citations = build_items(document, findings)
        names = list_doubtful(document, findings)
        doubtful = tuple(one.uid for one in items if one.rule_id in names)
        return UnitResult(items=tuple(items), citations=tuple(citations), doubtful=doubtful)
