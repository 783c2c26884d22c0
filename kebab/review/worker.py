"""Declares what a run does with a document: it plans units and works on one after another."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from kebab.core.review import Unit, UnitResult
from kebab.review.document import ReviewDocument

LoadResult: TypeAlias = Callable[[int], UnitResult]
"""Returns the stored result of a unit of the same document by its index; it must be finished."""


class UnitWorker(Protocol):
    """Works on the units of documents. It keeps no state that a killed run would lose."""

    @property
    def model(self) -> str | None:
        """The name of the language model; None when none is asked."""

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units of a document in the order of the work; the same for the same text."""

    def work(
        self, document: ReviewDocument, units: Sequence[Unit], index: int, load: LoadResult
    ) -> UnitResult:
        """Return the result of one unit; every unit before it is finished.

        Raises:
            Signal: The language model fails, so that the unit is not finished.
        """
