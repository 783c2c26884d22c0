"""Sections: what stands under one heading, and is packed without a look at the others.

Because nothing crosses a section, an edit in one leaves the chunks of all others as they were.
The exception is a heading with nothing under it, which opens the section that follows.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kebab.core.document import Block, BlockKind

_SPEAKS = re.compile(r"\w")


@dataclass(slots=True)
class Section:
    """Blocks that belong together, each with the heading path it stands under."""

    level: int = 0
    blocks: list[Block] = field(default_factory=list)
    paths: list[tuple[str, ...]] = field(default_factory=list)
    has_body: bool = False

    def add(self, block: Block, path: tuple[str, ...]) -> None:
        """Take one more block."""
        self.blocks.append(block)
        self.paths.append(path)


def sections(text: str, blocks: Iterable[Block]) -> Iterator[Section]:
    """Yield the sections of a document in order."""
    open_headings: list[Block] = []
    section = Section()
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            if section.has_body or block.level < section.level:
                yield section
                section = Section(level=block.level)
            section.level = section.level or block.level
            open_headings = [above for above in open_headings if above.level < block.level]
            open_headings.append(block)
        elif not section.has_body:
            section.has_body = _SPEAKS.search(text, block.start, block.end) is not None
        section.add(block, tuple(above.label for above in open_headings if above.label))
    if section.blocks:
        yield section


def shared(paths: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what all paths begin with."""
    first, *others = paths
    for path in others:
        depth = 0
        while depth < min(len(first), len(path)) and first[depth] == path[depth]:
            depth += 1
        first = first[:depth]
    return first
