"""Assembling: an answer with some stretches replaced, and where all else of it stands then."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch [start, end) of a text and what stands there instead; an empty one inserts."""

    start: int
    end: int
    text: str = ""


class Assembled:
    """A text after edits that do not overlap.

    Args:
        text: The text before.
        edits: What changes; of two at one place the first one stands first.
    """

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
        parts: list[str] = []
        at = 0
        for edit in ordered:
            parts += (text[at : edit.start], edit.text)
            at = edit.end
        self.text = "".join([*parts, text[at:]])
        self._ends = [edit.end for edit in ordered]
        growth = (len(edit.text) - (edit.end - edit.start) for edit in ordered)
        self._shifts = [0, *accumulate(growth)]

    def moved(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return where a span stands now whose ends lie inside of no edit.

        What was inserted at its end belongs to it, what was inserted at its start does not.
        """
        start, end = span
        return start + self._shift(start), end + self._shift(end)

    def _shift(self, place: int) -> int:
        return self._shifts[bisect_right(self._ends, place)]
