"""Applies edits to a text, and maps positions of the text to those after the edits."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from kebab.rag.checking.markers import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces [start, end) of a text; an empty range inserts."""

    start: int
    end: int
    text: str = ""


class EditedText:
    """A text after edits that do not overlap.

    Args:
        text: The original text.
        edits: The edits; two insertions at one position keep their order.
    """

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
        parts: list[str] = []
        position = 0
        for edit in ordered:
            parts += (text[position : edit.start], edit.text)
            position = edit.end
        self.text = "".join([*parts, text[position:]])
        self._ends = [edit.end for edit in ordered]
        growth = (len(edit.text) - (edit.end - edit.start) for edit in ordered)
        self._shifts = [0, *accumulate(growth)]

    def map_span(self, span: Span) -> Span:
        """Return the new position of a span whose ends are not inside an edit.

        Text inserted at its end belongs to the span, text inserted at its start does not.
        """
        start, end = (
            position + self._shifts[bisect_right(self._ends, position)] for position in span
        )
        return start, end
