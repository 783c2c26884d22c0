"""Documents: what a parser makes of a file's bytes."""

from dataclasses import dataclass, field
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is to a reader."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a document: `text == document.text[start:end]`.

    `start` and `end` are code-point offsets. `level` is 1 to 6 for headings, else 0, and `label`
    is a heading's text without its markup.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a document says of itself, from its front matter."""

    title: str | None = None
    tags: tuple[str, ...] = ()
    lang: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    r"""A file as text with its blocks.

    `text` is the whole decoded file, NFC, with `\n` line ends, so that its lines are the file's
    lines. Blocks are in order, do not overlap, and leave out front matter. `lang` is what the
    front matter says, else a guess.
    """

    text: str
    title: str
    blocks: tuple[Block, ...]
    metadata: Metadata = field(default_factory=Metadata)
    lang: str | None = None
    encoding: str = "utf-8"
    warnings: tuple[str, ...] = ()
