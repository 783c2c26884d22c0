"""Chooses what worker processes build, in which portions, and how many workers there are."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kebab.chunk.estimate import estimate_tokens
from kebab.ingest.build import DocumentBuilder
from kebab.ingest.plan import FileTask
from kebab.limits.deadline import can_set_alarm

_MIN_BYTES = 2_000_000
"""The least input that makes a worker worthwhile; starting it takes as long as 200 kB of work."""

_MAX_WORKERS = 8
"""The writer is the bottleneck beyond this number."""

BATCH_FILES = 16
_BATCH_BYTES = 1_000_000
_MAX_TEXT_BYTES = 16_000_000
"""Larger texts are built by the caller, because their rows would be in memory twice."""

_FILES_PER_WORKER = 4
"""How many files of isolated parsers make a further worker worthwhile."""


class Unit(NamedTuple):
    """The numbers of the files that a worker gets at once."""

    files: tuple[int, ...]
    isolated: bool = False


class PoolPlan(NamedTuple):
    """What workers build, in the order of the files, and how many workers there are at most."""

    units: list[Unit]
    workers: int


def plan_units(tasks: Sequence[FileTask], builder: DocumentBuilder) -> PoolPlan:
    """Choose the files for workers, and the number of workers."""
    isolated = [builder.is_isolated(task.entry.media) for task in tasks]
    texts = [number for number, alone in enumerate(isolated) if not alone]
    size = sum(tasks[number].entry.size for number in texts)
    interruptible = can_set_alarm() or not builder.deadline_s
    shared = counts_in_worker(builder) and len(texts) > BATCH_FILES and size >= _MIN_BYTES
    if interruptible and (not shared or count_cores() == 1):
        texts = []
    elif interruptible:
        texts = [number for number in texts if tasks[number].entry.size <= _MAX_TEXT_BYTES]
    alone = [Unit((number,), isolated=True) for number, one in enumerate(isolated) if one]
    useful = 1 + size // _MIN_BYTES * bool(texts) + len(alone) // _FILES_PER_WORKER
    units = sorted([*split_batches(tasks, texts), *alone])
    return PoolPlan(units, min(count_cores(), useful, _MAX_WORKERS))


def counts_in_worker(builder: DocumentBuilder) -> bool:
    """Return whether a worker can count tokens as the builder does."""
    return builder.budget.count is estimate_tokens


def count_cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def split_batches(tasks: Sequence[FileTask], numbers: Sequence[int]) -> Iterator[Unit]:
    """Yield batches that are small in files and in bytes."""
    batch: list[int] = []
    size = 0
    for number in numbers:
        bytes_more = tasks[number].entry.size
        if batch and (len(batch) == BATCH_FILES or size + bytes_more > _BATCH_BYTES):
            yield Unit((*batch,))
            batch, size = [], 0
        batch.append(number)
        size += bytes_more
    if batch:
        yield Unit((*batch,))
