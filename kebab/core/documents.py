"""Declares documents, their rows in the stores and in lists, and the links between them."""

import os
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

from kebab.core.chunks import ChunkId, ChunkRow, DocId, Key, Place, compute_digest
from kebab.core.files import FileState, find_container, join_root
from kebab.core.queries import StoredChunk
from kebab.errors.signal import Signal

if TYPE_CHECKING:
    from kebab.core.chunks import Vector
    from kebab.wire.record import Freshness


class BlockKind(StrEnum):
    """The kind of a block; properties are front matter, and definitions of links."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    HTML = "html"
    PROPERTIES = "properties"


class Block(NamedTuple):
    """A part of a document: `text == document.text[start:end]`.

    `start` and `end` are code-point offsets. `level` is 1 to 6 for headings, else 0. `label` is a
    heading's text without its markup, or the header row of a table that does not begin with it.
    `ends` is a level for a block that is no heading and begins a new section all the same: the
    sections of headings of this and deeper levels end before it. For a heading it says that the
    section ends with it: it has no text below.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    label: str = ""
    ends: int = 0


class Edit(NamedTuple):
    """A part [start, end) of a text that a reader sees as `text`, such as a character reference.

    A comment is seen as nothing. `text` has no line ends; those of the part stay, so that the lines
    of what is seen are those of the file.
    """

    start: int
    end: int
    text: str = ""


def apply_edits(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    """Return the part [start, end) of a text as a reader sees it; the edits are in order."""
    parts, done = list[str](), start
    for number in range(bisect_right(edits, start, key=attrgetter("end")), len(edits)):
        edit = edits[number]
        begin, stop = max(edit.start, done), min(edit.end, end)
        if edit.start >= end:
            break
        if stop > done:
            lines = "\n" * text.count("\n", begin, stop)
            parts += (text[done:begin], edit.text if begin == edit.start else "", lines)
            done = stop
    if not parts:
        return text[start:end]
    return unicodedata.normalize("NFC", "".join([*parts, text[done:end]]))


class Omission(NamedTuple):
    """Text of a file that its parser left out of the document, and what it is: `navigation`."""

    reason: str
    text: str


class OmittedWords(NamedTuple):
    """How many words of a kind are in no passage of a document, and their tokens, each once."""

    reason: str
    words: int
    tokens: str = ""


class Metadata(NamedTuple):
    """What a document says of itself: in its front matter or in the properties of its file.

    `date` is ISO 8601, `YYYY-MM-DD`, or a time in UTC. `aliases` are further names of the document.
    `properties` are all fields as pairs of key and value: the key of a field within another one has
    the keys above before it (`project.client`), and each item of a list is a pair.
    """

    title: str | None = None
    tags: tuple[str, ...] = ()
    lang: str | None = None
    authors: tuple[str, ...] = ()
    date: str | None = None
    aliases: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()

    def list_properties(self) -> tuple[tuple[str, str], ...]:
        """Return the properties, with the authors and tags that are declared in another way."""
        authors = (("author", name) for name in self.authors)
        tags = (("tags", name) for name in self.tags)
        return tuple(dict.fromkeys((*self.properties, *authors, *tags)))


class ParsedDocument(NamedTuple):
    r"""A file as text with its blocks.

    `text` is NFC with `\n` line ends. For a format that is cited by lines it is the whole decoded
    file, so that its lines are the file's lines; for other formats it is extracted text. Blocks are
    in order and do not overlap; front matter is a block of properties. `lang` is what the front
    matter says, else a guess. `places` are the pages, slides or cells of the text, sorted by
    `start`. `links` are the targets of its links to other files, as written. `edits`, in order, say
    what a reader sees instead of parts of the text; passages have what a reader sees. `omissions`
    are texts of the file that are in no passage. `failures` say why a model wrote nothing about its
    pictures; such a document is read again by the next ingest.
    """

    text: str
    title: str
    blocks: tuple[Block, ...]
    metadata: Metadata = Metadata()
    lang: str | None = None
    encoding: str = "utf-8"
    warnings: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    links: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    omissions: tuple[Omission, ...] = ()
    failures: tuple[Signal, ...] = ()


PUBLISHED_BASES = "published"
"""The folder in the data folder with a file for each published base that is searched too."""

PUBLISHED_ROOT = "/.kebab-published/"
"""The root of a source whose files stayed with the publisher, before the name of the source."""


class Source(Struct, frozen=True, kw_only=True):
    """A registered root. The filter `source` matches `name`; `kind` says what is scanned."""

    name: str
    root: str
    kind: Literal["folder", "files", "stdin"]


class SourcePlan(Struct, frozen=True, kw_only=True):
    """What a run is about to read of one scope of a source, and what its scan has seen.

    `below` is a folder of the source, empty for all of it. `files` are the only compared paths;
    None means all files below. `folders` holds the times of the listed folders and of their ignore
    files. `rules` is the digest of the rules of the scan.
    """

    source: str
    below: str
    files: tuple[str, ...] | None
    unread: Sequence["UnreadFile"]
    folders: Mapping[str, int]
    rules: str


class UnreadFile(NamedTuple):
    """A file that is known and not read; one that could not be read has the reason.

    `indexed` says whether its earlier content is a document.
    """

    path: str
    indexed: bool
    reason: str | None = None


class Listing(NamedTuple):
    """The digest of the rules of the last complete scan of a source, and its unread files."""

    rules: str | None = None
    unread: Collection[str] = ()


class KnownDocument(Struct, frozen=True, kw_only=True):
    """The facts about a stored document that show whether its file has changed."""

    doc_id: DocId
    path: str
    size: int
    mtime_ns: int
    inode: int
    content_hash: str
    recipe: str
    """Digest of parser, chunker and settings; another recipe means the file is read again."""
    title: str = ""


class FileStamp(Struct, frozen=True, kw_only=True):
    """The result of `stat` for a file."""

    size: int
    mtime_ns: int
    inode: int


class DocumentRow(Struct, frozen=True, kw_only=True):
    """A document ready to be stored, with its chunks in order."""

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
    authors: tuple[str, ...] = ()
    date: str | None = None
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    failures: tuple[Signal, ...] = ()
    omissions: tuple[OmittedWords, ...] = ()


class ChunkChanges(Struct, frozen=True, kw_only=True):
    """The numbers of chunks that storing a document kept, added and removed."""

    kept: int = 0
    added: int = 0
    removed: int = 0


class MovedDocument(NamedTuple):
    """What a document has whose file was moved: its number of chunks, and its warnings."""

    chunks: int
    warnings: tuple[str, ...]


class VectorRow(Struct, frozen=True):
    """A vector, ready to be stored."""

    key: Key
    vector: "Vector"


class StoredDocument(NamedTuple):
    """A stored document. `mtime_ns` is from when it was read, `indexed_at` is in seconds.

    `date` is what the document says of itself, ISO 8601; None when only its file has a time.
    """

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
    date: str | None = None
    authors: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


def check_freshness(stored: StoredDocument | StoredChunk | FileState) -> "Freshness":
    """Compare the file on disk with what was indexed, by size and modification time."""
    if stored.root.startswith(PUBLISHED_ROOT):
        return "published"
    try:
        status = os.stat(find_container(join_root(stored.root, stored.path)))  # noqa: PTH116 - called for every hit
    except OSError:
        return "gone"
    return compare_status(stored, status)


def compare_status(
    stored: StoredDocument | StoredChunk | FileState, status: os.stat_result
) -> "Freshness":
    """Compare the status of the file with what was indexed; for a member, that of its container."""
    path = join_root(stored.root, stored.path)
    size = status.st_size if find_container(path) == path else stored.size
    same = (size, status.st_mtime_ns) == (stored.size, stored.mtime_ns)
    return "fresh" if same else "changed"


class Extent(NamedTuple):
    """A source, or a folder or a document `below` its root, that a reply is about.

    `rules` is the digest of the rules of its last complete listing; None without one.
    """

    number: int
    source: Source
    rules: str | None
    below: str = ""


class FileCounts(NamedTuple):
    """The numbers of documents, of unread and failed files, and of those that are documents too."""

    documents: int = 0
    unread: int = 0
    failed: int = 0
    indexed: int = 0

    @property
    def files(self) -> int:
        """The number of known files."""
        return self.documents + self.unread + self.failed - self.indexed


class DocumentName(NamedTuple):
    """The id of a document and where it is: its source, the root of the source, and its path."""

    doc_id: DocId
    source: str
    root: str
    path: str


class SourceCounts(NamedTuple):
    """A source, the numbers of its documents and chunks, and when the last was indexed."""

    source: Source
    documents: int
    chunks: int
    last_indexed: float | None


class DocumentOrder(NamedTuple):
    """The order of a list of documents: by source and path, or by another field first.

    Dates go from the newest, sizes from the largest, unless the order is reversed.
    """

    field: Literal["path", "title", "date", "modified", "indexed", "size", "passages"] = "path"
    reverse: bool = False


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
    omissions: tuple[OmittedWords, ...] = ()


class ChunkDetail(NamedTuple):
    """A chunk with its neighbours in its document."""

    chunk: StoredChunk
    text_hash: str
    previous: ChunkId | None
    following: ChunkId | None


class AmbiguousName(NamedTuple):
    """The objects that a name could mean, when there are several."""

    candidates: tuple[str, ...]


class LibraryCounts(NamedTuple):
    """The size of the library. `last_change` is in seconds since the epoch.

    The mappings count documents; an empty string counts documents of unknown language.
    """

    documents: int
    chunks: int
    assets: int
    pending: int
    last_change: float | None
    media: Mapping[str, int]
    lang: Mapping[str, int]


EMBEDDING_VERSION = "embedding_version"
"""The key of the embedding version of the stored vectors; absent before the first."""

EMBEDDING_REASON = "embedding_reason"
"""The key of the reason why `auto` chose the embedding model; absent when a person named it."""

PLUGIN_FORMATS = "plugin_formats"
"""The key of the formats of plugins that the last ingest knew, so that readers need no plugin."""


def build_last_scan_key(source: str) -> str:
    """Return the key of the time when a whole source was last scanned, in nanoseconds."""
    return f"scanned:{compute_digest(source)}"


def build_named_files_key(source: str) -> str:
    """Return the key of the files of a source that the user named although rules skip them."""
    return f"named_files:{compute_digest(source)}"


def parse_named_files(stored: str | None) -> set[str]:
    """Return the stored files that the user named; none of a damaged value."""
    import json  # msgspec refuses names that are not valid UTF-8

    try:
        return {str(name) for name in json.loads(stored or "[]")}
    except (ValueError, TypeError):
        return set()


NO_PASSAGE = "found by its name only"
"""What the warning of a document without text begins with."""


def find_emptiness(warnings: Iterable[str]) -> str | None:
    """Return why a document has no text, as its warnings say; None where none says so."""
    start = f"{NO_PASSAGE}: "
    return next((text.removeprefix(start) for text in warnings if text.startswith(start)), None)


_PARTIAL = re.compile(r"\b(?:searched|are left out|cut|unreadable|only images)\b")


def is_partial(warnings: Iterable[str]) -> bool:
    """Return whether the warnings of a document say that a part of it is not searched."""
    return any(map(is_cut, warnings))


def is_cut(warning: str) -> bool:
    """Return whether a warning says that a part of a document is not searched."""
    return _PARTIAL.search(warning) is not None


CURSOR_SALT = "cursor_salt"
"""The key of the salt that signs cursors."""

STDIN = "stdin"
"""The name of the source of texts from standard input."""


class LinkTarget(NamedTuple):
    """A document with the names by which links may call it; `path` is below `source`."""

    doc_id: DocId
    source: str
    path: str
    title: str
    aliases: tuple[str, ...] = ()


class Link(NamedTuple):
    """A link of the document at `path` of `source` to the file that `target` names."""

    doc_id: DocId
    source: str
    path: str
    target: str
