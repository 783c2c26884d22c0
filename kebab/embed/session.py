"""Runs the ONNX model: one text in one run on one thread, several texts side by side.

Side by side beats a padded batch on a CPU: nothing is spent on padding, and with eight-bit
weights, whose activations are scaled over everything in a run, a text's vector depends on nothing
but the text.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kebab.embed import layout
from kebab.embed.faults import translated
from kebab.errors.catalog import EmbeddingUnavailable, TimedOut
from kebab.errors.dependency import needed

if TYPE_CHECKING:
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
        self._deadline_ms = deadline_ms
        self._lock = threading.Lock()
        self._runtime: Any = None
        self._pool: ThreadPoolExecutor | None = None

    def load(self) -> Any:
        """Return the runtime's session, loading it on the first call."""
        with self._lock:
            if self._runtime is None:
                self._check()
                self._runtime = self._open()
            return self._runtime

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

    def run(self, sequences: "Sequence[list[int]]") -> "list[Vector]":
        """Return the pooled unit vector of each sequence of token ids.

        Raises:
            TimedOut: The sequences together took longer than the deadline.
            EmbeddingUnavailable: The runtime failed.
        """
        self.load()
        with self._deadline() as options, translated(self._model.name, str(self._directory)):
            if self._threads == 1 or len(sequences) == 1:
                return [self._one(sequence, options) for sequence in sequences]
            # The longest go first, so that no thread is left with a long one at the end.
            order = sorted(range(len(sequences)), key=lambda place: -len(sequences[place]))
            jobs = {
                place: self._workers().submit(self._one, sequences[place], options)
                for place in order
            }
            return [jobs[place].result() for place in range(len(sequences))]

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
        runtime = self.load()
        wanted = {entry.name for entry in runtime.get_inputs()}
        feed = {name: value for name, value in inputs.items() if name in wanted}
        hidden = runtime.run([runtime.get_outputs()[0].name], feed, options)[0][0]
        return unit(hidden.mean(axis=0, dtype=np.float64))

    @contextmanager
    def _deadline(self) -> Iterator[Any]:
        """Give run options that end every run when the deadline passes."""
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.log_severity_level = _FATAL
        if not self._deadline_ms:
            yield options
            return
        started = time.monotonic()
        timer = threading.Timer(self._deadline_ms / 1000, setattr, (options, "terminate", True))
        timer.daemon = True
        timer.start()
        try:
            yield options
        except EmbeddingUnavailable as error:
            if not options.terminate:
                raise
            elapsed = int((time.monotonic() - started) * 1000)
            raise TimedOut(
                operation="embedding a batch", elapsed_ms=elapsed, deadline_ms=self._deadline_ms
            ) from error
        finally:
            timer.cancel()


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
