"""Declares the stored runs of reviews, and the port that stores them."""

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


class Position(NamedTuple):
    """A place between two items of a run: `offset` items of unit `unit` are before it."""

    unit: int
    offset: int


class StoredUnit(NamedTuple):
    """A unit of a run, numbered over all its documents; `result` is None until it is finished."""

    number: int
    document: int
    unit: Unit
    result: UnitResult | None


class StoredDocumentReview(NamedTuple):
    """A document of a run whose units are planned: they begin with the number `first`."""

    number: int
    first: int
    units: int
    content_hash: str


class StoredPage(NamedTuple):
    """A page that was returned: its items lie between two positions; `forced` ended it early."""

    start: Position
    end: Position
    forced: bool
    retries: int


class ReviewStore(Protocol):
    """Stores runs. Every write is one transaction; what is stored first stays."""

    def add_run(self, run: StoredRun) -> None:
        """Store a new run, and delete those that are older than the age limit."""

    def load_run(self, run_id: str) -> StoredRun | None:
        """Return a run, or None."""

    def add_document(
        self, run_id: str, document: StoredDocumentReview, units: Sequence[Unit]
    ) -> None:
        """Store the plan of a document; nothing happens when it has one."""

    def list_documents(self, run_id: str) -> list[StoredDocumentReview]:
        """Return the documents of a run that have a plan, in order."""

    def load_unit(self, run_id: str, number: int) -> StoredUnit | None:
        """Return a unit, or None when its document has no plan yet or the number is too high."""

    def finish_unit(self, run_id: str, number: int, result: UnitResult) -> UnitResult:
        """Store the result of a unit, and return the one that is stored, perhaps an earlier one."""

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
