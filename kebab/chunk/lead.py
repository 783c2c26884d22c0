"""Finds the text without which a passage cannot be understood, when it stands in another passage.

That is the header row of a table, or the signature above the rest of a function. The sentence that
introduces a list is none: it lowered the ranking of sections (`docs/search-quality.md`).
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from kebab.core.documents import Block, BlockKind

MAX_CHARS = 240
"""The longest lead; it is embedded with every passage of its block."""

_RULE_LINE = re.compile(r"[\s|:+=-]+\Z")


class LeadFinder:
    """Finds the leads of the passages of a document."""

    def __init__(self, text: str, blocks: Sequence[Block]) -> None:
        self._text = text
        self._blocks = blocks
        self._starts = [block.start for block in blocks]

    def find(self, start: int) -> str:
        """Return the lead of a passage that begins at an offset, empty when it needs none."""
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return ""
        block = self._blocks[index]
        inside = self._text[block.start : start].strip() != ""
        if block.kind is BlockKind.TABLE and block.label:
            holds_header = not inside and self._text.startswith(block.label, block.start)
            return "" if holds_header else _cut(block.label)
        if block.kind is BlockKind.TABLE:
            return _cut(self._find_header(block)) if inside else ""
        if block.kind is BlockKind.CODE and inside:
            return _cut(self._find_signature(index))
        return ""

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


def _cut(lead: str) -> str:
    """Return a lead that is not too long."""
    return lead if len(lead) <= MAX_CHARS else lead[:MAX_CHARS].rsplit(" ", 1)[0]
