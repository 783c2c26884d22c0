"""Declares a job: what it receives, how it reports progress, and what it returns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from kebab.chunk.budget import CHUNKER_VERSION, Budget
from kebab.core.files import ScanRules
from kebab.core.ids import ChunkId
from kebab.core.ports import Clock, Cluster, Embedder, Parser, VectorWriter
from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind, RateMeter
from kebab.errors.signal import Signal
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
