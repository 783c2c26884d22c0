"""Runs the ONNX model: one text in one run on one thread, several texts side by side.

Side by side beats a padded batch on a CPU: nothing is spent on padding, and with eight-bit
weights, whose activations are scaled over everything in a run, a text's vector depends on nothing
but the text.
"""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from kebab.embed import layout
from kebab.embed.deadline import Deadline
from kebab.embed.faults import translated
from kebab.errors.catalog import EmbeddingUnavailable, TimedOut
from kebab.errors.dependency import needed
from kebab.errors.signal import Signal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kebab.core.vector import Vector
    from kebab.embed.models import EmbeddingModel

_MOST_THREADS = 4
_ROUNDING = 1e-3
_FATAL = 4  # the severity below which onnxruntime stays silent; failures are raised anyway


def default_threads() -> int:
    """Return how many texts run side by side unless told otherwise."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return min(len(allowed) or os.cpu_count() or 1, _MOST_THREADS)


class Session:
    """The model of an installed directory, loaded when it is first needed."""

    def __init__(
        self, directory: "Path", model: "EmbeddingModel", threads: int, deadline_ms: int
    ) -> None:
        self._directory = directory
        self._model = model
        self._threads = threads
        self._deadline = Deadline(deadline_ms)
        self._lock = threading.Lock()
        self._runtime: Any = None
        self._prepared = False
        self._wanted: set[str] = set()
        self._outputs: list[str] = []
        self._pool: ThreadPoolExecutor | None = None

    def load(self) -> Any:
        """Return the runtime's session, loading it on the first call."""
        with self._lock:
            if self._runtime is None:
                self._check()
                runtime = self._open()
                self._wanted = {entry.name for entry in runtime.get_inputs()}
                self._outputs = [runtime.get_outputs()[0].name]
                self._runtime = runtime
            return self._runtime

    def prepare(self) -> None:
        """Begin to load in a thread; whoever needs the runtime waits for it, and hears of faults.

        The library is imported here, since that keeps the interpreter busy in any thread; opening
        the model does not.
        """
        if self._runtime is not None or self._prepared:
            return
        self._prepared = True
        with needed("embedding", "onnxruntime"):
            import onnxruntime  # noqa: F401 - for the thread

        with suppress(RuntimeError):  # no thread can be had
            threading.Thread(target=self._ahead, name="model", daemon=True).start()

    def _ahead(self) -> None:
        with suppress(Signal):
            self.load()

    def _check(self) -> None:
        """Refuse a directory that is not whole."""
        if not layout.whole(self._model, self._directory):
            raise EmbeddingUnavailable(
                model=self._model.name,
                tried=[str(self._directory)],
                cause="the model's files are missing or cut off",
            )

    def _open(self) -> Any:
        """Open the model with threads capped and the runtime silent."""
        with needed("embedding", "onnxruntime"):
            import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _FATAL
        path = self._directory / layout.MODEL_FILE
        with translated(self._model.name, str(self._directory)):
            return onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )

    def start(self, sequences: "Sequence[list[int]]") -> "Run":
        """Begin a run, whose vectors can be asked for once.

        Alone, or on the only thread, a sequence runs when its vector is asked for.

        Raises:
            EmbeddingUnavailable: The model cannot be loaded, or no thread can be had.
        """
        self.load()
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.log_severity_level = _FATAL
        if self._threads == 1 or len(sequences) == 1:
            return Run(options, [partial(self._one, one, options) for one in sequences])
        # The longest go first, so that no thread is left with a long one at the end.
        order = sorted(range(len(sequences)), key=lambda place: -len(sequences[place]))
        with translated(self._model.name, str(self._directory)):
            jobs = {
                place: self._workers().submit(self._one, sequences[place], options)
                for place in order
            }
        return Run(options, [jobs[place].result for place in range(len(sequences))])

    def vectors(self, run: "Run") -> "list[Vector]":
        """Wait for the vectors of a run, from now on no longer than the deadline.

        Raises:
            TimedOut: The deadline has passed.
            EmbeddingUnavailable: The runtime failed.
        """
        started = time.monotonic()
        try:
            with (
                translated(self._model.name, str(self._directory)),
                self._deadline.bounds(run.options),
            ):
                return [vector() for vector in run.awaited]
        except EmbeddingUnavailable as error:
            if not run.options.terminate:
                raise
            elapsed = int((time.monotonic() - started) * 1000)
            limit = self._deadline.milliseconds
            raise TimedOut(
                operation="embedding a batch", elapsed_ms=elapsed, deadline_ms=limit
            ) from error
        finally:
            run.stop()

    def _workers(self) -> ThreadPoolExecutor:
        """Return the pool of threads."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embed")
        return self._pool

    def _one(self, sequence: list[int], options: Any) -> "Vector":
        """Run one sequence and pool its tokens."""
        import numpy as np

        ids = np.array([sequence], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feed = {name: value for name, value in inputs.items() if name in self._wanted}
        hidden = self._runtime.run(self._outputs, feed, options)[0][0]
        return unit(hidden.mean(axis=0, dtype=np.float64))


@dataclass(frozen=True, slots=True)
class Run:
    """Sequences on their way through the model: what each one's vector is awaited by."""

    options: Any
    awaited: "Sequence[Callable[[], Vector]]"

    def stop(self) -> None:
        """End what is still running of it."""
        self.options.terminate = True


def unit(vector: Any) -> "Vector":
    """Return the vector scaled to length 1, as float32.

    Raises:
        FloatingPointError: It is zero or not a number, as the output of a broken model.
    """
    import numpy as np

    scaled: Vector = (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)
    if not abs(float(np.linalg.norm(scaled)) - 1.0) < _ROUNDING:
        raise FloatingPointError("the model gave no direction")
    return scaled
