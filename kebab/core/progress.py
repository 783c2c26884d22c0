"""Progress: what a long run tells while it works."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, TypeAlias


class ProgressKind(StrEnum):
    """The kinds of progress events; exactly one terminal event ends a run."""

    SCAN_STARTED = "scan_started"
    SCAN_COMPLETED = "scan_completed"
    ASSET_STARTED = "asset_started"
    ASSET_FINISHED = "asset_finished"
    MODEL_FETCH = "model_fetch"
    EMBED_BATCH = "embed_batch"
    HEARTBEAT = "heartbeat"
    COMPLETED = "completed"
    ABORTED = "aborted"


class Progress(NamedTuple):
    """One event. `done` and `total` count files, bytes or chunks, as `unit` says."""

    kind: ProgressKind
    path: str | None = None
    phase: str | None = None
    done: int | None = None
    total: int | None = None
    unit: str | None = None
    message: str | None = None
    elapsed_ms: int = 0


Report: TypeAlias = Callable[[Progress], None]


def silent(event: Progress) -> None:
    """Take an event and do nothing."""
    del event
