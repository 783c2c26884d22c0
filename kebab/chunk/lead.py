"""Finds the text without which a passage cannot be understood, when it stands in another passage.

That is the header row of a table, or the signature above the rest of a function. The sentence that
introduces a list is none: it lowered the ranking of sections (`docs/search-quality.md`).
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from kebab.chunk.budget import Budget
from kebab.core.documents import Block, BlockKind

MAX_CHARS = 240
MAX_SHARE = 3
"""The longest lead in characters, and its largest share of a passage: one third of the tokens."""

_NOT_BLANK = re.compile(r"\S")
_RULE_LINE = re.compile(r"[\s|:+=-]+\Z")


class LeadFinder:
    """Finds the leads of the passages of a document."""

    def __init__(self, text: str, blocks: Sequence[Block], budget: Budget) -> None:
        self._text = text
        self._blocks = blocks
        self._budget = budget
        self._starts = [block.start for block in blocks]
        self._leads: dict[int, str] = {}

    def find(self, start: int) -> str:
        """Return the lead of a passage that begins at an offset, empty when it needs none."""
        index = bisect_right(self._starts, start) - 1
        if index < 0 or self._blocks[index].kind not in {BlockKind.TABLE, BlockKind.CODE}:
            return ""
        block = self._blocks[index]
        is_first = _NOT_BLANK.search(self._text, block.start, start) is None
        if is_first and (not block.label or self._text.startswith(block.label, block.start)):
            return ""
        if index not in self._leads:
            self._leads[index] = self._shorten(self._find_in_block(index))
        return self._leads[index]

    def _find_in_block(self, index: int) -> str:
        """Return the lead of the passages from the middle of a block."""
        block = self._blocks[index]
        if block.kind is BlockKind.CODE:
            return self._find_signature(index)
        return block.label or self._find_header(block)

    def _find_header(self, block: Block) -> str:
        """Return the first line of a table that is no rule."""
        lines = self._text[block.start : block.end].split("\n", 2)
        return next((line.strip() for line in lines[:2] if not _RULE_LINE.match(line)), "")

    def _find_signature(self, index: int) -> str:
        """Return the heading above a block of code when it is more than its label."""
        if not index or self._blocks[index - 1].kind is not BlockKind.HEADING:
            return ""
        heading = self._blocks[index - 1]
        text = " ".join(self._text[heading.start : heading.end].split())
        return "" if text.lstrip("#= ").strip() == heading.label else text

    def _shorten(self, lead: str) -> str:
        """Return a lead that is not too long, cut at a word; none when a word is too long."""
        while lead:
            (size,) = self._budget.measure([lead])
            if len(lead) <= MAX_CHARS and size * MAX_SHARE <= self._budget.limit:
                break
            lead = lead[: min(MAX_CHARS, len(lead) * 3 // 4)].rpartition(" ")[0].rstrip()
        return lead
