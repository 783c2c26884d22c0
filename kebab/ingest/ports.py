"""Declares what a run receives, and reports its progress."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from kebab.chunk.budget import Budget
from kebab.chunk.ids import CHUNKER_VERSION
from kebab.core.ports import Clock, EmbedderFactory, LibraryWriter, Parser, VectorWriter
from kebab.core.progress import Progress, ProgressKind, Report
from kebab.source.walk import ScanRules


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    """One run.

    `paths` are folders or files; without any, the workspace and every registered source are
    scanned. `chunker` is the label of how documents are cut: what was cut under another one is
    read again. `private` holds absolute folders that are never scanned, such as the data
    directory.
    """

    paths: tuple[str, ...] = ()
    workspace: str | None = None
    force: bool = False
    dry_run: bool = False
    rules: ScanRules = field(default_factory=ScanRules)
    chunker: str = CHUNKER_VERSION
    deadline_s: float = 0.0
    private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPorts:
    """What a run needs of the world, each part built on first use.

    `library` is None only for a dry run where no database exists. `vectors` opens the index of an
    embedding version. `budget` is asked once, after the embedder was, before the first document
    is cut. What the library is told within `batch` may share commits.
    """

    library: LibraryWriter | None
    vectors: Callable[[str], VectorWriter]
    embedder: EmbedderFactory
    parsers: Mapping[str, Parser]
    budget: Callable[[], Budget]
    clock: Clock
    batch: Callable[[], AbstractContextManager[None]] = nullcontext


@dataclass(frozen=True, slots=True, kw_only=True)
class TextNote:
    """Text that becomes a document without being a file of the person's own.

    `folder` is where such texts are kept, one file each.
    """

    title: str
    text: str
    source_uri: str | None
    folder: str


SILENCE_S = 1.0
"""The longest time without a word while a loop is turning."""


class Pulse:
    """Sends events; remembers when it last did."""

    def __init__(self, report: Report, clock: Clock) -> None:
        self._report = report
        self._clock = clock
        self._started = self._last = clock.monotonic()

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the run began."""
        return round((self._clock.monotonic() - self._started) * 1000)

    def say(
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
        event = Progress(
            kind=kind,
            path=path,
            phase=phase,
            done=done,
            total=total,
            unit=unit,
            message=message,
            elapsed_ms=self.elapsed_ms,
        )
        self._report(event)

    def beat(self, phase: str) -> None:
        """Send a heartbeat when nothing was said for a while."""
        if self._clock.monotonic() - self._last >= SILENCE_S:
            self.say(ProgressKind.HEARTBEAT, phase=phase)
