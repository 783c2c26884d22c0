"""Documents: what a parser makes of a file's bytes."""

from enum import StrEnum
from typing import NamedTuple


class BlockKind(StrEnum):
    """What a block is to a reader."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    HTML = "html"


class Block(NamedTuple):
    """A stretch of a document: `text == document.text[start:end]`.

    `start` and `end` are code-point offsets. `level` is 1 to 6 for headings, else 0, and `label`
    is a heading's text without its markup.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    label: str = ""


class Metadata(NamedTuple):
    """What a document says of itself, from its front matter."""

    title: str | None = None
    tags: tuple[str, ...] = ()
    lang: str | None = None


class ParsedDocument(NamedTuple):
    r"""A file as text with its blocks.

    `text` is the whole decoded file, NFC, with `\n` line ends, so that its lines are the file's
    lines. Blocks are in order, do not overlap, and leave out front matter. `lang` is what the
    front matter says, else a guess.
    """

    text: str
    title: str
    blocks: tuple[Block, ...]
    metadata: Metadata = Metadata()
    lang: str | None = None
    encoding: str = "utf-8"
    warnings: tuple[str, ...] = ()
