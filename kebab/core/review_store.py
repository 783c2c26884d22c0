"""Declares the stored runs of reviews, and the port that stores them.

The documents of a run are worked on in order, and the units of all of them are numbered. A document
whose language model is not available is cut: its other units are planned again as a further part
behind all documents, so that no page changes that was returned. Units that the model did not answer
are planned again in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kebab.core.review import Unit, UnitResult

RunKind: TypeAlias = Literal["review", "translate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A stored run; `request` is the JSON of its first request, times are seconds since the epoch.

    `files` are the absolute paths of its documents in order, and `salt` makes its cursors secret.
    `updated` is when a unit was last finished.
    """

    run_id: str
    kind: RunKind
    tier: str
    model: str | None
    request: str
    files: tuple[str, ...]
    salt: str
    page_items: int
    created: float
    updated: float


class RunSummary(NamedTuple):
    """A stored run in a list, with the number of its documents and of what is done."""

    run_id: str
    kind: RunKind
    tier: str
    model: str | None
    request: str
    created: float
    updated: float
    documents: int
    units_done: int
    items: int
    completed: bool


class Position(NamedTuple):
    """A place between two items of a run: `offset` items of unit `unit` are before it."""

    unit: int
    offset: int


class StoredUnit(NamedTuple):
    """A unit of a run, numbered over all its documents; `result` is None until it is finished.

    `unanswered` tells that the model has to be asked about it again, in a further part that does
    not exist yet.
    """

    number: int
    document: int
    unit: Unit
    result: UnitResult | None
    unanswered: bool = False


class StoredDocumentReview(NamedTuple):
    """A planned document of a run, or a further part of one.

    Its units have the numbers [first, first + units), and the next part begins with `next`. `file`
    is the position in `StoredRun.files`. `skipped` units of the document belong to earlier parts.
    `waiting` tells that the other units of the document need a language model, and are planned as
    a further part when there is one. `again` marks a part of units that the model did not answer.
    """

    number: int
    file: int
    first: int
    units: int
    next: int
    content_hash: str
    skipped: int = 0
    waiting: bool = False
    again: bool = False


class StoredPage(NamedTuple):
    """A page that was returned: its items lie between two positions; `forced` ended it early."""

    start: Position
    end: Position
    forced: bool
    retries: int


class WorkCounts(NamedTuple):
    """The finished work of one kind and tier in a period; it outlives the runs.

    `answered` is the number of items of units with a request, and `latency_ms` the time of all
    requests.
    """

    kind: RunKind
    tier: str
    runs: int
    units: int
    items: int
    answered: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    latency_ms: float
    downshifts: int
    forced_pages: int
    cursor_retries: int
    json_repairs: int


class ReviewStore(Protocol):
    """Stores runs. Every write is one transaction; what is stored first stays."""

    def add_run(self, run: StoredRun) -> None:
        """Store a new run, and delete those that were not used within the age limit."""

    def load_run(self, run_id: str) -> StoredRun | None:
        """Return a run, or None."""

    def list_runs(self) -> list[RunSummary]:
        """Return every run, the newest first."""

    def add_document(
        self,
        run_id: str,
        document: StoredDocumentReview,
        units: Sequence[Unit],
        results: Sequence[UnitResult] = (),
    ) -> bool:
        """Store the plan of a document with the results of its first units.

        A part of the same document that was waiting no longer waits, and units of the document
        that are planned again are no longer unanswered. Nothing happens, and False is returned,
        when there is a part with this number.
        """

    def list_documents(self, run_id: str) -> list[StoredDocumentReview]:
        """Return the documents of a run that have a plan, in order."""

    def cut_document(self, run_id: str, number: int) -> None:
        """Take the unfinished units out of a part, which is waiting from now on if it had any."""

    def load_unit(self, run_id: str, number: int) -> StoredUnit | None:
        """Return a unit, or None when there is none with this number."""

    def list_units(self, run_id: str, first: int, end: int) -> list[StoredUnit]:
        """Return the units with the numbers [first, end), in order."""

    def list_unanswered(self, run_id: str) -> list[StoredUnit]:
        """Return the units that the model has to be asked about again, in order."""

    def finish_unit(self, run_id: str, number: int, result: UnitResult) -> UnitResult | None:
        """Store the result of a unit, and return the one that is stored, perhaps an earlier one.

        None is returned when the unit was cut off meanwhile, or the run deleted.
        """

    def add_cursor(self, run_id: str, cursor: str, position: Position) -> None:
        """Store what a cursor means."""

    def find_cursor(self, run_id: str, cursor: str) -> Position | None:
        """Return what a cursor of a run means, or None."""

    def add_page(self, run_id: str, page: StoredPage) -> StoredPage:
        """Store where a page ends, and return the stored page with the same start.

        A page that was stored before counts one more retry.
        """

    def find_page(self, run_id: str, start: Position) -> StoredPage | None:
        """Return the page that begins at a position, or None."""

    def delete_run(self, run_id: str) -> bool:
        """Delete a run with all that belongs to it; return whether there was one."""

    def count_work(self, since: float | None = None) -> list[WorkCounts]:
        """Return the work since a time, in whole minutes, by kind and tier."""
