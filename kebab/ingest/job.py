"""Declares a job: what it receives, the scopes that it scans, and how it reports progress.

The scopes are sources, parts that the user names, or what changed. A path that a watcher of files
reports may be a file, a folder, or gone: its folder is scanned with everything below it. So a
change of an ignore file is applied too.
"""

import os
import stat as modes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from kebab.chunk.budget import CHUNKER_VERSION, Budget
from kebab.core.chunks import ChunkId
from kebab.core.documents import KnownDocument, Listing, Source
from kebab.core.files import (
    ScanRules,
    add_working_folder,
    cut_root,
    is_below,
    join_root,
    list_containers,
    resolve_folder_links,
    resolve_links,
)
from kebab.core.ports import Clock, Cluster, Embedder, Parser, VectorWriter
from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind, RateMeter
from kebab.errors.signal import Signal
from kebab.errors.system import build_io_error, build_read_error, escape_undecodable
from kebab.limits.worker import DEFAULT_MEMORY_MB
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestItem, ItemKindName

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix
    from kebab.parse.containers import ContainerFiles
    from kebab.source.walk import FolderScanner
    from kebab.store.sqlite.writer import SqliteWriter


ParserGuard: TypeAlias = Callable[[str, str, float], AbstractContextManager[None]]
"""Takes the path, the parser's version and its time limit; translates exceptions to signals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestJob:
    """What one run has to do.

    `paths` are folders or files; without any, the run scans the workspace and every registered
    source. `chunker` is the version of the chunker: documents of another version are read again.
    `changed` means that the paths are what changed below the registered sources: the folders of
    these are scanned.
    `private` holds absolute folders that are never scanned, such as the data directory.
    `vector_seconds` limits the time for vectors.
    """

    paths: tuple[str, ...] = ()
    workspace: str | None = None
    force: bool = False
    dry_run: bool = False
    changed: bool = False
    rules: ScanRules = field(default_factory=ScanRules)
    chunker: str = CHUNKER_VERSION
    deadline_s: float = 0.0
    max_memory_mb: int = DEFAULT_MEMORY_MB
    private: tuple[str, ...] = ()
    vector_seconds: float | None = None


SurveyLanguages: TypeAlias = Callable[[], Mapping[str, int]]
"""Returns the bytes of text by language, stored and to be read; the choice of a model asks."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """An embedder, and the reason for it when the run chose its model."""

    embedder: Embedder
    reason: str | None = None


class NodeModel(NamedTuple):
    """The folder of a model, and what makes its embedder of a copy of it on another machine."""

    folder: str
    load: Callable[[str], Embedder]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPorts:
    """The adapters of a run, each built on first use.

    `library` is None only for a dry run without a database. `vectors` opens the index of an
    embedding version. `budget` is called once, after `embedder` and before the first document is
    split. Writes to the library within `batch` may share commits. `parsers` and `guard` are
    picklable, because worker processes get a copy of them. `survey_parsers` take their place where
    only the language of a sample is wanted, so they ask no model.
    `list_searched` returns the chunks that were found last; their documents are embedded first.
    Without `containers` the files within mails, mailboxes and archives are not read, and without
    `cluster` this machine does everything; `node_model` is the loaded model as its nodes get it.
    `describe_error` words the error of a file for the report.
    """

    library: "SqliteWriter | None"
    vectors: Callable[[str], VectorWriter]
    embedder: Callable[[SurveyLanguages], LoadedModel | None]
    scanner: "FolderScanner"
    parsers: Mapping[str, Parser]
    survey_parsers: Mapping[str, Parser] | None = None
    guard: ParserGuard
    budget: Callable[[], Budget]
    clock: Clock
    describe_error: Callable[[Signal], ErrorReply]
    batch: Callable[[], AbstractContextManager[None]] = nullcontext
    list_searched: Callable[[], Sequence[ChunkId]] = tuple
    containers: "ContainerFiles | None" = None
    cluster: Cluster | None = None
    node_model: Callable[[], NodeModel | None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextNote:
    """A text that becomes a document; `folder` stores such texts, one file each."""

    title: str
    text: str
    source_uri: str | None
    folder: str


HEARTBEAT_INTERVAL_S = 1.0
"""The longest time without an event."""


class ProgressReporter:
    """Sends progress events, and heartbeats when there was no event for a while."""

    def __init__(self, report: ProgressCallback, clock: Clock) -> None:
        self._report = report
        self._clock = clock
        self._started = self._last = clock.monotonic()
        self._meter = RateMeter(clock.monotonic)

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the run began."""
        return round((self._clock.monotonic() - self._started) * 1000)

    def send(
        self,
        kind: ProgressKind,
        *,
        path: str | None = None,
        phase: str | None = None,
        count: tuple[int, int] | None = None,
        unit: str | None = None,
        message: str | None = None,
    ) -> None:
        """Send an event; `count` is (done, total)."""
        self._last = self._clock.monotonic()
        done, total = count or (None, None)
        event = Progress(kind, path, phase, done, total, unit, message, self.elapsed_ms)
        self._report(self._meter.add_estimate(event))

    def send_heartbeat(self, phase: str) -> None:
        """Send a heartbeat, unless the last event is recent."""
        if self._clock.monotonic() - self._last >= HEARTBEAT_INTERVAL_S:
            self.send(ProgressKind.HEARTBEAT, phase=phase)


class ClusterEmbedding(Protocol):
    """Embeds passages on several machines, with the vectors of this one."""

    at_once: int
    """How many passages are worth one pass over the cluster."""

    def embed_passages(
        self, embedder: Embedder, texts: Sequence[str], should_stop: Callable[[], bool]
    ) -> "Iterator[tuple[list[int], Matrix]]":
        """Yield (indexes into texts, vectors) as the embedder does, until told to stop."""


class RunContext:
    """The clock, the progress and the cancellation of a run, and its cluster if it has one."""

    def __init__(
        self,
        report: ProgressCallback,
        clock: Clock,
        cancel: Cancel,
        list_searched: Callable[[], Sequence[ChunkId]] = tuple,
        cluster: ClusterEmbedding | None = None,
    ) -> None:
        self.cluster = cluster
        self.list_searched = list_searched
        self.reporter = ProgressReporter(report, clock)
        self.clock = clock
        self.cancel = cancel
        self._embedding_ends: float | None = None

    def limit_embedding(self, seconds: float | None) -> None:
        """Let the embedding that begins now end after some seconds; None means no limit."""
        if seconds is not None:
            self._embedding_ends = self.clock.monotonic() + seconds

    @property
    def embedding_ended(self) -> bool:
        """Whether no further text is to be embedded: the run is cancelled, or time is up."""
        ends = self._embedding_ends
        return self.cancel.requested or (ends is not None and self.clock.monotonic() >= ends)


def build_item(kind: ItemKindName, source: str, path: str, doc_id: str | None = None) -> IngestItem:
    """Return the item of a file before anything is stored of it."""
    return IngestItem(
        kind=kind,
        doc_id=doc_id,
        doc_path=path,
        source=source,
        chunk_count=0,
        embedded=0,
        reused=0,
        warnings=[],
        error=None,
    )


class EmptyLibrary:
    """The state of a library that does not exist yet."""

    def list_sources(self) -> list[Source]:
        """Return no roots."""
        return []

    def load_known_documents(self, source: str) -> dict[str, KnownDocument]:
        """Return no documents."""
        del source
        return {}

    def list_children(self, source: str, folder: str) -> set[str]:
        """Return nothing."""
        del source, folder
        return set()

    def load_listing(self, source: str) -> Listing:
        """Return no rules and no files."""
        del source
        return Listing()

    def get_value(self, name: str) -> str | None:
        """Return no value."""
        del name
        return None


LibraryState: TypeAlias = "SqliteWriter | EmptyLibrary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A part of a source: the folder `below` its root, or only `files`.

    `named` means that the user named the files, so that ignore rules do not apply to them.
    """

    source: Source
    below: str = ""
    files: tuple[str, ...] | None = None
    named: bool = False

    @property
    def location(self) -> str:
        """The absolute path of the scope."""
        if self.files is not None and len(self.files) == 1:
            return join_root(self.source.root, self.files[0])
        return join_root(self.source.root, self.below) if self.below else self.source.root

    @property
    def is_whole(self) -> bool:
        """Whether the scope is all of the source."""
        return not (self.below or self.named)

    def contains(self, path: str) -> bool:
        """Return whether a path of the source lies in the scope."""
        if self.files is not None:
            return any(one in self.files for one in (path, *list_containers(path)))
        return not self.below or path == self.below or path.startswith(f"{self.below}/")


def choose_scopes(job: IngestJob, library: LibraryState, scanner: "FolderScanner") -> list[Scope]:
    """Return the scopes of a run; none when the user names no path and no source is known.

    Raises:
        IoError: A path does not exist.
    """
    chooser = _ScopeChooser(job, library, scanner)
    if job.paths:
        return _merge_scopes(chooser.choose_named(path) for path in job.paths)
    scopes = [build_source_scope(source, library) for source in library.list_sources()]
    if job.workspace:
        scopes.append(chooser.choose_folder(_resolve(job.workspace)))
    return _merge_scopes(scopes)


def build_source_scope(source: Source, library: LibraryState) -> Scope:
    """Return the scope of a whole source."""
    if source.kind != "files":
        return Scope(source=source)
    return Scope(source=source, files=tuple(sorted(library.list_children(source.name, ""))))


class _ScopeChooser:
    """Chooses the scope of a path: a source, a part of one, or a new source."""

    def __init__(self, job: IngestJob, library: LibraryState, scanner: "FolderScanner") -> None:
        self._job = job
        self._library = library
        self._scanner = scanner
        self._sources = library.list_sources()

    def choose_named(self, path: str) -> Scope:
        """Return the scope of a path that the user names."""
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - a Path would take no name for this folder
        except OSError as failure:
            resolved = _resolve(path)
            if self._job.force and any(resolved == source.root for source in self._sources):
                return self.choose_folder(resolved)
            raise build_io_error(failure, "read", escape_undecodable(path)) from failure
        except ValueError as failure:
            raise build_read_error(repr(path), str(failure)) from failure
        if modes.S_ISDIR(mode):
            return self.choose_folder(_resolve(path))
        # The name stays as the user wrote it: a link is a document under its own name.
        return self._choose_file(_resolve(str(Path(path).parent)), Path(path).name)

    def choose_folder(self, path: str) -> Scope:
        """Return the scope of a folder: a source, a part of one, or a new source."""
        for source in self._sources:
            if source.root == path and source.kind == "folder":
                return Scope(source=source)
        owner = self._find_folder_above(path)
        if owner is not None:
            below = cut_root(path, owner.root)
            rules = self._job.rules
            if self._scanner.find_skip_reason(owner.root, rules, below, folder=True) is None:
                return Scope(source=owner, below=below)
        return Scope(source=Source(name=path, root=path, kind="folder"))

    def _choose_file(self, folder: str, name: str) -> Scope:
        for source in self._sources:
            if source.root == folder and source.kind == "stdin":
                return Scope(source=source, files=(name,), named=True)
        exact = Source(name=folder, root=folder, kind="files")
        if exact not in self._sources or name not in self._library.load_known_documents(folder):
            path = join_root(folder, name)
            owner = self._find_folder_above(path)
            if owner is not None:
                return Scope(source=owner, files=(cut_root(path, owner.root),), named=True)
        return Scope(source=exact, files=(name,), named=True)

    def _find_folder_above(self, path: str) -> Source | None:
        above = [
            source
            for source in self._sources
            if source.kind == "folder" and is_below(path, source.root)
        ]
        return max(above, key=lambda source: len(source.root), default=None)


def _merge_scopes(scopes: Iterable[Scope]) -> list[Scope]:
    """Merge the files of one source into one scope, and drop scopes that another covers."""
    by_key: dict[tuple[str, str, bool], Scope] = {}
    for scope in scopes:
        key = (scope.source.name, scope.below, scope.named)
        earlier = by_key.get(key)
        if earlier is not None and earlier.files is not None and scope.files is not None:
            files = tuple(dict.fromkeys(earlier.files + scope.files))
            scope = replace(earlier, files=files)  # noqa: PLW2901 - the merged form of the same scope
        by_key[key] = scope
    merged = list(by_key.values())
    return [scope for scope in merged if not any(_covers(other, scope) for other in merged)]


def _covers(wide: Scope, narrow: Scope) -> bool:
    if wide is narrow or wide.files is not None or wide.source.name != narrow.source.name:
        return False
    if narrow.files is not None:
        return not narrow.named
    return wide.contains(f"{narrow.below}/") and wide.below != narrow.below


def _resolve(path: str) -> str:
    resolved = resolve_links(path)
    try:
        resolved.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise build_read_error(
            escape_undecodable(resolved), "the name is not valid UTF-8"
        ) from failure
    return resolved


def choose_changed_scopes(
    job: IngestJob, library: LibraryState, scanner: "FolderScanner"
) -> list[Scope]:
    """Return the folders of registered sources in which something changed.

    A path in no source has none. What became of a path is found by the scan of its folder.
    """
    sources = [source for source in library.list_sources() if source.kind != "stdin"]
    scopes = []
    named = (one for one in job.paths if one and "\0" not in one and escape_undecodable(one) == one)
    for path in dict.fromkeys(map(add_working_folder, named)):
        owners = _find_owners(path, sources) or _find_owners(resolve_folder_links(path), sources)
        for source, found in owners:
            below = _find_scanned_folder(source, found, job, scanner)
            is_part = below and source.kind == "folder"
            scopes.append(
                Scope(source=source, below=below)
                if is_part
                else build_source_scope(source, library)
            )
    return _merge_scopes(scopes)


def _find_scanned_folder(
    source: Source, path: str, job: IngestJob, scanner: "FolderScanner"
) -> str:
    """Return the nearest folder above a path that a scan enters; empty for the root."""
    private = [resolve_links(folder) for folder in job.private]
    folder = path.rpartition("/")[0]
    while folder:
        found = join_root(source.root, folder)
        is_real = os.path.isdir(found) and resolve_links(found) == found  # noqa: PTH112 - a plain string
        own = any(found == one or is_below(found, one) for one in private)
        skip = scanner.find_skip_reason(source.root, job.rules, folder, folder=True)
        if is_real and not own and skip is None:
            break
        folder = folder.rpartition("/")[0]
    return folder


def _find_owners(path: str, sources: list[Source]) -> list[tuple[Source, str]]:
    """Return each source that a path can change, with the path below its root."""
    inside = [one for one in sources if one.root == path or is_below(one.root, path)]
    owners = [(source, "") for source in inside]
    folders = [one for one in sources if one.kind == "folder" and is_below(path, one.root)]
    if folders:
        nearest = max(folders, key=lambda source: len(source.root))
        owners.append((nearest, cut_root(path, nearest.root)))
    folder = os.path.dirname(path)  # noqa: PTH120 - a plain string
    named = [one for one in sources if one.kind == "files" and one.root == folder]
    return owners + [(source, cut_root(path, source.root)) for source in named]
