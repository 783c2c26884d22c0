"""What crosses the ports of the stores: rows to be written, and what is known of written ones."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kebab.core.chunk import ChunkRow
from kebab.core.ids import ChunkId, DocId, Key

if TYPE_CHECKING:
    from kebab.core.vector import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A registered root. `name` is what the filter `source` matches; `kind` says what it scans."""

    name: str
    root: str
    kind: Literal["folder", "files", "stdin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
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
class Written:
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
