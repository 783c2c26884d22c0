"""Builds documents and embeds passages on the nodes of a cluster; the caller stores them.

This machine reads the files and sends their bytes, so no node needs them, and a node with another
file at the same path cannot change what is indexed. Files that cost little to send and much to read
go to the nodes. This machine reads the rest: archives and their members, pictures, and files above
16 MB. It also does what a node leaves undone, so a lost batch costs only its time.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from kebab.chunk.budget import Budget, make_mixed_counter
from kebab.core.files import CONTAINERS
from kebab.core.ids import DocId
from kebab.core.ports import Cluster, Embedder, Parser
from kebab.errors.catalog import DependencyMissing, TimedOut
from kebab.errors.signal import Signal
from kebab.ingest.build import BuildResult, BuildTask, DocumentBuilder
from kebab.ingest.commit import (
    BATCH_FILES,
    MAX_TEXT_BYTES,
    Pool,
    PoolPlan,
    Slot,
    Unit,
    build_ahead,
    counts_in_worker,
    split_batches,
)
from kebab.ingest.job import NodeModel
from kebab.ingest.members import read_entry
from kebab.ingest.plan import FileTask

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix

_TEXTS = 64
"""How many texts a node embeds at once: about two seconds of work."""


@dataclass(slots=True)
class NodeCounter:
    """Counts tokens with the tokenizer of a model folder; it is pickled before the first call."""

    load: Callable[[str], Embedder]
    folder: str
    is_portable = True
    _count: Callable[[Sequence[str]], list[int]] | None = field(default=None, init=False)

    def __call__(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text."""
        if self._count is None:
            embedder = self.load(self.folder)
            self._count = make_mixed_counter(embedder.count_tokens, embedder.supports)
        return self._count(texts)


def make_node_builder(
    builder: DocumentBuilder, load: Callable[[str], Embedder] | None, folder: str | None
) -> "BatchBuilder":
    """Return what builds documents on a node; with a model it counts with the tokenizer there."""
    if folder is not None and load is not None:
        count = NodeCounter(load, folder)
        builder = replace(builder, budget=Budget(builder.budget.limit, count))
    return BatchBuilder(builder)


class BatchBuilder:
    """Builds documents on a node in a worker process of its own, under the limits of each file."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._slots = [Slot()]

    def __call__(self, tasks: list[BuildTask]) -> list[BuildResult]:
        """Return the results; None where this node lacks a library."""
        builder, entries = self._builder, [task.entry for task in tasks]
        alone = [builder.is_isolated(entry.media) for entry in entries]
        texts = tuple(number for number, is_alone in enumerate(alone) if not is_alone)
        units = [
            Unit((number,), isolated=True) for number, is_alone in enumerate(alone) if is_alone
        ]
        units = sorted([*units, Unit(texts)]) if texts else units
        results = Pool(
            entries, builder, tasks.__getitem__, PoolPlan(units, 1), self._slots
        ).iterate(bool)
        return [None if isinstance(result, DependencyMissing) else result for result in results]

    def close(self) -> None:
        """End the worker process; it also ends with the process of the node."""
        for slot in self._slots:
            slot.end()


Vectors: TypeAlias = "list[tuple[list[int], Matrix]]"


def make_node_embedder(
    load: Callable[[str], Embedder], folder: str | None
) -> "Callable[[list[str]], Vectors | None]":
    """Return what embeds texts on a node, with the model in the folder."""
    assert folder is not None, "a model has a folder"
    return partial(embed_batch, load(folder))


def embed_batch(embedder: Embedder, texts: list[str]) -> "Vectors | None":
    """Return the vectors of the texts; None when they take too long, the caller tries fewer."""
    try:
        return list(embedder.embed_passages(texts))
    except TimedOut:
        return None


class ClusterWork:
    """Builds documents as `build_ahead` does, and embeds passages as an embedder does."""

    at_once = 65_536
    """A pass has so many passages, because the processes of the nodes start for each pass."""

    def __init__(self, cluster: Cluster, find_model: Callable[[], NodeModel | None]) -> None:
        self._cluster = cluster
        self._find_model = find_model

    @contextmanager
    def build_ahead(
        self,
        tasks: Sequence[FileTask],
        builder: DocumentBuilder,
        choose_id: Callable[[FileTask], DocId],
        should_stop: Callable[[], bool],
    ) -> Iterator[Iterator[BuildResult]]:
        """Yield an iterator over the results of the files, None where the caller builds one."""
        build = _ClusterBuild(tasks, builder, choose_id, should_stop)
        with closing(build.iterate(self._cluster, self._find_model)) as results:
            yield results

    def embed_passages(
        self, embedder: Embedder, texts: Sequence[str], should_stop: Callable[[], bool]
    ) -> "Iterator[tuple[list[int], Matrix]]":
        """Yield (indexes into texts, vectors); this machine embeds what the nodes do not.

        Raises:
            ClusterUnreachable: There is no cluster, or it failed.
            TimedOut: A text takes too long.
        """
        model, missing = self._find_model(), set(range(len(texts)))
        if model is not None and len(texts) > _TEXTS:
            starts = range(0, len(texts), _TEXTS)
            results = self._cluster.map_batches(
                partial(make_node_embedder, model.load),
                (texts[start : start + _TEXTS] for start in starts),
                should_stop,
                folder=model.folder,
            )
            with closing(results):
                for number, vectors in results:
                    for indexes, matrix in vectors or ():
                        found = [starts[number] + index for index in indexes]
                        missing.difference_update(found)
                        yield found, matrix
        rest = sorted(missing)
        if rest and not should_stop():
            for indexes, matrix in embedder.embed_passages([texts[index] for index in rest]):
                yield [rest[index] for index in indexes], matrix


@dataclass(slots=True)
class _ClusterBuild:
    """Builds files on the nodes, and here what they leave undone."""

    tasks: Sequence[FileTask]
    builder: DocumentBuilder
    choose_id: Callable[[FileTask], DocId]
    should_stop: Callable[[], bool]
    sent: list[tuple[int, ...]] = field(default_factory=list)

    def iterate(
        self, cluster: Cluster, find_model: Callable[[], NodeModel | None]
    ) -> Generator[BuildResult, None, None]:
        """Yield the results in the order of the files."""
        if len(self.tasks) <= BATCH_FILES:  # the processes of the nodes would take longer to start
            with self._build_here(self.tasks) as here:
                yield from here
            return
        model = find_model()
        # A node reads a file that is small, and that needs nothing of this machine.
        builder = self.builder
        numbers = [
            number
            for number, entry in enumerate(task.entry for task in self.tasks)
            if not entry.container
            and entry.media not in CONTAINERS
            and entry.size <= MAX_TEXT_BYTES
            and _is_portable(builder.parsers.get(entry.media))
        ]
        if model is not None:  # the counter of this machine cannot be pickled
            builder = replace(builder, budget=Budget(builder.budget.limit))
        elif not counts_in_worker(builder):
            numbers = []
        units = list(split_batches(self.tasks, numbers))
        rest = sorted({*range(len(self.tasks))}.difference(numbers))
        # The other parsers stay on this machine.
        parsers = {media: one for media, one in builder.parsers.items() if _is_portable(one)}
        results = cluster.map_batches(
            partial(make_node_builder, replace(builder, parsers=parsers), model and model.load),
            self._read(units),
            self.should_stop,
            folder=model and model.folder,
        )
        done: dict[int, BuildResult] = {}
        batches = {number: batch for batch, unit in enumerate(units) for number in unit.files}
        last = -1
        with closing(results), self._build_here([self.tasks[number] for number in rest]) as here:
            for number, task in enumerate(self.tasks):
                if number not in batches:
                    yield next(here)
                    continue
                while last < batches[number] and (found := next(results, None)) is not None:
                    last = found[0]
                    done.update(zip(self.sent[last], found[1], strict=True))
                result = done.pop(number, None)
                if result is None and not self.should_stop():
                    with self._build_here([task]) as again:
                        result = next(again)
                yield result

    def _build_here(
        self, tasks: Sequence[FileTask]
    ) -> AbstractContextManager[Iterator[BuildResult]]:
        return build_ahead(tasks, self.builder, self.choose_id, self.should_stop)

    def _read(self, units: Sequence[Unit]) -> Iterator[list[BuildTask]]:
        """Yield the files of each unit with their bytes, without those that cannot be read."""
        for unit in units:
            tasks = {}
            for number in unit.files:
                task = self.tasks[number]
                with suppress(OSError, Signal):  # this machine meets it again, and reports it
                    content = read_entry(task.entry, self.builder.containers)
                    doc_id = self.choose_id(task)
                    tasks[number] = BuildTask(task.source, task.entry, doc_id, content)
            self.sent.append((*tasks,))
            yield list(tasks.values())


def _is_portable(parser: Parser | None) -> bool:
    """Return whether a parser asks no program and no model of this machine about pictures."""
    return parser is not None and getattr(parser, "deadline_s", None) is None
