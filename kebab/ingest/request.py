"""What a run is asked to do, and the ports it works through."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from kebab.chunk.budget import Budget
from kebab.chunk.identify import CHUNKER_VERSION
from kebab.core.ports import Clock, EmbedderFactory, LibraryWriter, Parser, VectorWriter
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
