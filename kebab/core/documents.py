"""Declares documents, their rows in the stores, and how the library lists them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from kebab.core.chunks import ChunkRow
from kebab.core.ids import ChunkId, DocId, Key
from kebab.core.queries import StoredChunk

if TYPE_CHECKING:
    from kebab.core.chunks import Vector


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A registered root. `name` is what the filter `source` matches; `kind` says what it scans."""

    name: str
    root: str
    kind: Literal["folder", "files", "stdin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDocument:
    """What the library remembers of a document, enough to tell whether its file changed."""

    doc_id: DocId
    path: str
    size: int
    mtime_ns: int
    inode: int
    content_hash: str
    recipe: str
    """Digest of parser, chunker and settings; another recipe means the file is read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """What `stat` says of a file."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """A document ready to be stored, with all its chunks in order."""

    doc_id: DocId
    source: str
    path: str
    title: str
    media: str
    lang: str | None
    tags: tuple[str, ...]
    stamp: FileStamp
    content_hash: str
    recipe: str
    parser_version: str
    chunker_version: str
    chunks: tuple[ChunkRow, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkChanges:
    """What storing a document changed, in chunks."""

    kept: int = 0
    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One row to append."""

    key: Key
    chunk_id: ChunkId
    doc_id: DocId
    vector: "Vector" = field(repr=False)


class StoredDocument(NamedTuple):
    """A document in a list. `mtime_ns` is the file's when it was read, `indexed_at` in seconds."""

    doc_id: DocId
    source: str
    root: str
    path: str
    title: str
    media: str
    lang: str | None
    tags: tuple[str, ...]
    size: int
    mtime_ns: int
    indexed_at: float
    chunks: int
    warnings: tuple[str, ...]


class DocumentListing(NamedTuple):
    """A part of a list, and how many documents the whole list has."""

    documents: tuple[StoredDocument, ...]
    total: int


class DocumentDetail(NamedTuple):
    """A document with its chunks in order."""

    summary: StoredDocument
    content_hash: str
    recipe: str
    parser_version: str
    chunker_version: str
    chunks: tuple[StoredChunk, ...]


class ChunkDetail(NamedTuple):
    """A chunk with its neighbours in its document."""

    chunk: StoredChunk
    text_hash: str
    previous: ChunkId | None
    following: ChunkId | None


class AmbiguousName(NamedTuple):
    """What a reference could mean, when it could mean more than one thing."""

    candidates: tuple[str, ...]


class LibraryCounts(NamedTuple):
    """How much the library holds. `last_change` is in seconds since the epoch.

    `media` and `lang` count documents; documents of unknown language stand under the empty string.
    """

    documents: int
    chunks: int
    assets: int
    pending: int
    last_change: float | None
    media: Mapping[str, int]
    lang: Mapping[str, int]


EMBEDDING_VERSION = "embedding_version"
"""Names the model of the knowledge base's vectors; absent before the first."""

CURSOR_SALT = "cursor_salt"
"""Signs the cursors of this knowledge base."""

VECTORS_DIRTY = "vectors_dirty"
"""Set while vectors may be ahead of the library."""

STDIN = "stdin"
"""The source of texts that came from standard input."""
