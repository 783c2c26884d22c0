"""Builds documents and embeds passages on the nodes of a cluster; the caller stores them.

This machine reads the files and sends their bytes, so no node needs them, and a node with another
file at the same path cannot change what is indexed. Files that cost little to send and much to read
go to the nodes. This machine reads the rest: archives and their members, pictures, and files above
16 MB. It also does what a node leaves undone, so a lost batch costs only its time.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

from kebab.chunk.budget import Budget, make_mixed_counter
from kebab.core.chunks import DocId
from kebab.core.files import CONTAINERS
from kebab.core.ports import Cluster, Embedder
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


@dataclass
class NodeCounter:
    """Counts tokens with the tokenizer of a model folder; it is pickled before the first call."""

    load: Callable[[str], Embedder]
    folder: str
    is_portable = True

    @cached_property
    def _count(self) -> Callable[[Sequence[str]], list[int]]:
        embedder = self.load(self.folder)
        return make_mixed_counter(embedder.count_tokens, embedder.supports)

    def __call__(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text."""
        return self._count(texts)


class BatchBuilder:
    """Builds documents on a node in a worker process of its own, under the limits of each file.

    With a model it counts with the tokenizer there. The worker ends with the process of the node.
    """

    def __init__(
        self, builder: DocumentBuilder, load: Callable[[str], Embedder] | None, folder: str | None
    ) -> None:
        if folder is not None and load is not None:
            count = NodeCounter(load, folder)
            builder = replace(builder, budget=Budget(builder.budget.limit, count))
        self._builder, self._slots = builder, [Slot()]

    def __call__(self, batch: dict[int, BuildTask]) -> dict[int, BuildResult]:
        """Return the results by the numbers of the files; none where this node lacks a library."""
        builder, tasks = self._builder, [*batch.values()]
        entries = [task.entry for task in tasks]
        alone = [builder.is_isolated(entry.media) for entry in entries]
        units = [Unit((number,), isolated=True) for number, one in enumerate(alone) if one]
        if texts := tuple(number for number, one in enumerate(alone) if not one):
            units = sorted([*units, Unit(texts)])
        plan = PoolPlan(units, 1)
        results = Pool(entries, builder, tasks.__getitem__, plan, self._slots).iterate(bool)
        found = zip(batch, results, strict=True)
        return {number: one for number, one in found if not isinstance(one, DependencyMissing)}


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
        build_here = partial(
            build_ahead, builder=builder, choose_id=choose_id, should_stop=should_stop
        )
        model = self._find_model()
        # Parsers with a deadline ask programs and models of this machine about pictures.
        portable = {
            media: parser
            for media, parser in builder.parsers.items()
            if media not in CONTAINERS and getattr(parser, "deadline_s", None) is None
        }
        # The counter of this machine cannot be pickled.
        budget = Budget(builder.budget.limit) if model else builder.budget
        for_nodes = replace(builder, parsers=portable, budget=budget)
        sent = [
            number
            for number, entry in enumerate(task.entry for task in tasks)
            if not entry.container and entry.media in portable and entry.size <= MAX_TEXT_BYTES
        ]
        # For few files the processes of the nodes would take longer to start.
        if len(tasks) <= BATCH_FILES or not counts_in_worker(for_nodes):
            sent = []
        units = list(split_batches(tasks, sent))
        results = self._cluster.map_batches(
            partial(BatchBuilder, for_nodes, model and model.load),
            (_read_files(unit, tasks, builder, choose_id) for unit in units),
            should_stop,
            folder=model and model.folder,
        )
        firsts, kept = {unit.files[0] for unit in units}, {*range(len(tasks))}.difference(sent)

        def iterate() -> Iterator[BuildResult]:
            done: dict[int, BuildResult] = {}
            for number, task in enumerate(tasks):
                if number in kept:
                    yield next(here)
                    continue
                if number in firsts:
                    done = next(results, {}) or {}
                result = done.get(number)
                if result is None and not should_stop():
                    with build_here([task]) as again:
                        result = next(again)
                yield result

        with closing(results), build_here([tasks[number] for number in sorted(kept)]) as here:
            yield iterate()

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
                for start, vectors in zip(starts, results, strict=False):
                    for indexes, matrix in vectors or ():
                        found = [start + index for index in indexes]
                        missing.difference_update(found)
                        yield found, matrix
        rest = sorted(missing)
        if rest and not should_stop():
            for indexes, matrix in embedder.embed_passages([texts[index] for index in rest]):
                yield [rest[index] for index in indexes], matrix


def _read_files(
    unit: Unit,
    tasks: Sequence[FileTask],
    builder: DocumentBuilder,
    choose_id: Callable[[FileTask], DocId],
) -> dict[int, BuildTask]:
    """Return the files of a unit with their bytes, without those that cannot be read."""
    found = {}
    for number in unit.files:
        task = tasks[number]
        with suppress(OSError, Signal):  # this machine meets it again, and reports it
            content = read_entry(task.entry, builder.containers)
            found[number] = BuildTask(task.source, task.entry, choose_id(task), content)
    return found
