"""What a document is called."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from kebab.core.document import Block, BlockKind, Metadata
from kebab.parse.decode import clean

LONGEST = 160
"""Characters of a title; it stands before every chunk of its document that is embedded."""


def title_of(metadata: Metadata, blocks: Iterable[Block], path: str) -> str:
    """Return the title from front matter, else the first heading, else the file's stem."""
    headings = (block.label for block in blocks if block.kind is BlockKind.HEADING)
    for candidate in (metadata.title or "", *headings):
        title = _one_line(candidate)
        if title:
            return title
    return _one_line(PurePosixPath(path).stem) or _one_line(path) or "untitled"


def _one_line(text: str) -> str:
    """Return printable text on one line, cut where it would crowd out what follows it."""
    visible = "".join(max(char, " ") for char in clean(text))
    line = " ".join(visible.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "\u2026"
