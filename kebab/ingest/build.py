"""Builds the row of a document from a file, here or in a worker; nothing is stored here."""

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from kebab.chunk.budget import Budget, build_chunk_rows
from kebab.chunk.split import iterate_chunks
from kebab.core.chunks import Chunk, ChunkRow, DocId, add_tokens, compute_digest, compute_named_hash
from kebab.core.documents import (
    NO_PASSAGE,
    DocumentRow,
    FileStamp,
    OmittedWords,
    ParsedDocument,
    Source,
)
from kebab.core.files import CONTAINERS, NAMED, FileEntry
from kebab.core.media import CitationKind, get_media_type
from kebab.core.ports import Parser, is_isolated
from kebab.errors.catalog import TimedOut, UnsupportedMedia
from kebab.errors.signal import Signal
from kebab.ingest.job import ParserGuard
from kebab.ingest.members import FileContent, read_entry
from kebab.limits.deadline import build_failure, raise_memory_error
from kebab.limits.worker import DEFAULT_MEMORY_MB
from kebab.source.content import HEAD_BYTES, find_mismatch
from kebab.text.dates import choose_date
from kebab.text.names import TITLE_RULE, read_file_name
from kebab.text.tokenizer import join_tokens

if TYPE_CHECKING:
    from kebab.parse.containers import ContainerFiles

INCOMPLETE = "incomplete"
"""The recipe of a document that the next ingest reads again."""

UNREADABLE = "unreadable"
"""The recipe of a document that has only a name, because its file could not be read."""


class BuildTask(NamedTuple):
    """A file, the id that its document has or gets, and its bytes where another machine builds."""

    source: Source
    entry: FileEntry
    doc_id: DocId
    content: FileContent | None = None


class ParsedFile(NamedTuple):
    """A parsed file, with what its row needs of its bytes, and its media type by its content.

    `spent_s` is the processor time of its parser.
    """

    document: ParsedDocument
    stamp: FileStamp
    content_hash: str
    media: str
    spent_s: float = 0.0


CUT_SHARE = 0.25
"""The part of the deadline that cutting has in any case, so that what was parsed is kept."""
_CHUNKS_AT_ONCE = 1_000
_WORD = re.compile(r"\w")


def describe_emptiness(text: str, warnings: Sequence[str]) -> str:
    """Return why a document has no text for readers; its warnings are the reason if any."""
    if warnings:
        cause = "; ".join(warnings)
    elif not text.strip():
        cause = "no text"
    elif not _WORD.search(text):
        cause = "no words"
    else:
        cause = "only front matter" if text.startswith(("---", "+++")) else "only comments or marks"
    return f"{NO_PASSAGE}: {cause}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentBuilder:
    """Builds the document rows of a run; it must be picklable for the worker processes."""

    parsers: Mapping[str, Parser]
    guard: ParserGuard
    budget: Budget
    chunker: str
    recipes: Mapping[str, str]
    deadline_s: float
    max_memory_mb: int = DEFAULT_MEMORY_MB
    containers: "ContainerFiles | None" = None

    def is_isolated(self, media: str) -> bool:
        """Return whether files of a media type are parsed in a worker process only."""
        parser = self.parsers.get(media)
        return parser is not None and is_isolated(parser)

    def get_deadline(self, media: str) -> float:
        """Return the time limit of a file in seconds: parsers of pictures take longer."""
        own: float | None = getattr(self.parsers.get(media), "deadline_s", None)
        if own is None or not (own and self.deadline_s):
            return self.deadline_s if own is None else 0.0
        return max(own, self.deadline_s)

    def build_row(self, task: BuildTask, content: FileContent | ParsedFile) -> DocumentRow:
        """Return the row of a document, ready to be stored; its file may be parsed already.

        Without text it has a passage by which it is found: that has only the title.

        Raises:
            ParseFailed: The text cannot be cut into passages.
            TimedOut: Cutting takes too long.
            Signal: `parse` raises it.
        """
        parsed = content if isinstance(content, ParsedFile) else self.parse(task.entry, content)
        chunks, cut = self.cut_chunks(task, parsed.document, spent_s=parsed.spent_s)
        is_empty = not chunks
        if is_empty:
            only = Chunk(ordinal=0, text="", start=0, end=0, start_line=1, end_line=1)
            title = parsed.document.title
            chunks = tuple(build_chunk_rows(task.doc_id, title, [only], self.chunker, Counter()))
        row = self.make_row(task, parsed, chunks)
        warnings = (*row.warnings, *cut)
        if is_empty and parsed.media not in {*CONTAINERS, *NAMED.values()}:
            warnings = (describe_emptiness(parsed.document.text, warnings),)
        return replace(row, warnings=warnings)

    def build_name(self, task: BuildTask, cause: str) -> DocumentRow:
        """Return the row of a file that cannot be read, which is found by its name."""
        entry = task.entry
        stamp = FileStamp(size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode)
        named = compute_named_hash(entry.size, entry.mtime_ns)
        document = ParsedDocument("", read_file_name(entry.path) or entry.path, ())
        row = self.build_row(task, ParsedFile(document, stamp, named, entry.media))
        return replace(row, recipe=UNREADABLE, warnings=(f"{NO_PASSAGE}: {cause}",))

    def parse(self, entry: FileEntry, content: FileContent) -> ParsedFile:
        """Return the parsed file, by its content where its name has the wrong suffix.

        Raises:
            ParseFailed: The file is something else, which cannot be parsed here.
            TimedOut: The parser takes too long.
            UnsupportedMedia: No parser reads this media type.
            DependencyMissing: The libraries of the parser are not installed.
        """
        parser = self._get_parser(entry)
        started = time.thread_time()
        with self.guard(entry.path, parser.version, self.get_deadline(entry.media)):
            media, mismatch = entry.media, find_mismatch(entry.media, content.data[:HEAD_BYTES])
            if mismatch is not None and media not in CONTAINERS:
                found = mismatch.media
                escapes = found is not None and self.is_isolated(found) > self.is_isolated(media)
                if found is None or found not in self.parsers or escapes:
                    raise build_failure(entry.path, parser.version, mismatch.cause)
                media = found
            parse: Callable[..., ParsedDocument] = self.parsers[media].parse
            companion = _read_companion(self.parsers[media], entry)
            document = parse(content.data, entry.path, *companion)
        spent_s = time.thread_time() - started
        return ParsedFile(document, content.stamp, content.content_hash, media, spent_s)

    def _get_parser(self, entry: FileEntry) -> Parser:
        parser = self.parsers.get(entry.media)
        if parser is None:
            raise UnsupportedMedia(path=entry.path, media=entry.media)
        return parser

    def cut_chunks(
        self, task: BuildTask, document: ParsedDocument, spent_s: float = 0.0
    ) -> tuple[tuple[ChunkRow, ...], tuple[str, ...]]:
        """Return the chunks of a document, and a warning where its time allowed only the first.

        `spent_s` is the time that parsing took.

        Raises:
            TimedOut: There is no time for any chunk.
        """
        path, version = task.entry.path, self._get_parser(task.entry).version
        seen: Counter[str] = Counter()
        limit = self.get_deadline(task.entry.media)
        rows: list[ChunkRow] = []
        try:
            with self.guard(path, version, limit and max(limit - spent_s, limit * CUT_SHARE)):
                chunks = iterate_chunks(document, self.budget)
                while batch := [*islice(chunks, _CHUNKS_AT_ONCE)]:
                    rows += build_chunk_rows(task.doc_id, document.title, batch, self.chunker, seen)
        except TimedOut:
            if not rows:
                raise
            size, end = len(document.text), rows[-1].chunk.end
            cause = "cutting it into passages takes longer than `ingest.deadline_s`"
            warning = f"only the first {end:,} of {size:,} characters are searched: {cause}"
            return (*rows,), (warning,)
        return (*rows,), ()

    def make_row(
        self, task: BuildTask, parsed: ParsedFile, chunks: tuple[ChunkRow, ...]
    ) -> DocumentRow:
        """Return the row of a parsed file with its chunks."""
        document, (source, entry, doc_id, _) = parsed.document, task
        # Where no lines are cited, the date is a property of the file, and not part of its text.
        is_property = get_media_type(entry.media).cites not in {
            CitationKind.LINE,
            CitationKind.CODE,
        }
        limit: tuple[str, ...] = ()
        if entry.limit:
            share = f"{entry.limit:,} of {entry.size:,} bytes"
            limit = (f"only the first {share} are searched, see `ingest.max_file_bytes`",)
        return DocumentRow(
            doc_id=doc_id,
            source=source.name,
            path=entry.path,
            title=document.title,
            media=parsed.media,
            lang=document.lang,
            tags=document.metadata.tags,
            stamp=parsed.stamp,
            content_hash=parsed.content_hash,
            recipe=INCOMPLETE if document.failures else choose_recipe(self.recipes, entry),
            parser_version=self.parsers[parsed.media].version,
            chunker_version=self.chunker,
            chunks=chunks,
            warnings=(*limit, *document.warnings),
            authors=document.metadata.authors,
            date=choose_date(document.metadata.date, entry.path, is_property=is_property),
            aliases=document.metadata.aliases,
            links=document.links,
            properties=document.metadata.list_properties(),
            failures=document.failures,
            omissions=tuple(
                OmittedWords(
                    one.reason,
                    len(one.text.split()),
                    " ".join(dict.fromkeys(join_tokens(one.text[:_MAX_OMITTED_CHARS]).split())),
                )
                for one in document.omissions
            ),
        )


_MAX_OMITTED_CHARS = 1_000_000


_MAX_COMPANION_BYTES = 20_000_000


def _read_companion(parser: Parser, entry: FileEntry) -> tuple[bytes, ...]:
    """Return the bytes of the file that a parser reads beside another one, if there is one."""
    name = getattr(parser, "companion", "")
    file = Path(entry.absolute).parent / name
    try:
        if not name or entry.container or file.stat().st_size > _MAX_COMPANION_BYTES:
            return ()
        return (file.read_bytes(),)
    except OSError:
        return ()


class BuiltFile(NamedTuple):
    """The row of a file, or the parsed file where the caller cuts it, and its time to build."""

    made: DocumentRow | ParsedFile
    duration_ms: float = 0.0


BuildResult: TypeAlias = BuiltFile | Signal | None
"""A file, or its error; None where the caller has to build it."""


@dataclass(frozen=True, slots=True)
class WorkerBuilder:
    """Builds the files of a task in a worker process; with `cuts` also their rows."""

    builder: DocumentBuilder
    cuts: bool

    def __call__(self, tasks: Sequence[BuildTask]) -> list[BuildResult]:
        """Return the result of each file.

        Raises:
            MemoryError: A file needs more memory than the process may have.
        """
        return [self.build(task) for task in tasks]

    def build(self, task: BuildTask) -> BuildResult:
        """Return the result of a file; the caller reports files that cannot be read."""
        started = time.monotonic()
        try:
            content = task.content or read_entry(task.entry, self.builder.containers)
            parsed = self.builder.parse(task.entry, content)
            made: DocumentRow | ParsedFile = parsed
            if self.cuts:
                row = self.builder.build_row(task, parsed)
                made = replace(row, chunks=add_tokens(row.chunks, join_tokens))
        except Signal as error:
            raise_memory_error(error)
            return error
        except OSError:
            return None
        return BuiltFile(made, (time.monotonic() - started) * 1000)


def compute_recipes(parsers: Mapping[str, Parser], chunker: str) -> dict[str, str]:
    """Return by media type the digest of everything that decides what is stored of a file.

    A parser whose recipe is None cannot read anything now.
    """
    found = {media: getattr(one, "recipe", one.version) for media, one in parsers.items()}
    return {
        media: compute_digest("recipe", recipe, chunker, TITLE_RULE)
        for media, recipe in found.items()
        if recipe is not None
    }


def choose_recipe(recipes: Mapping[str, str], entry: FileEntry, known: str = "-") -> str:
    """Return the recipe of a file; that of a part has its limit, so that another one reads more.

    Without a parser, when a plugin is gone, it is the `known` one, so that a document stays.
    """
    if (recipe := recipes.get(entry.media)) is None:
        return known
    return f"{recipe}:{entry.limit}" if entry.limit else recipe
