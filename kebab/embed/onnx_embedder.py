"""Embeds texts with onnxruntime: one text per run and thread, several in parallel, with a deadline.

On a CPU this is faster than a padded batch, because no time goes into padding. It also makes a
vector depend on its text alone: int8 scales activations over all texts of a run.

A busy machine lets a run wait for other programs, so its limit counts the processor time of the
threads that work on it. A run that hangs ends after `WALL_FACTOR` times the limit by the clock.
onnxruntime and tokenizers are imported on first use.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from kebab.config.settings import AUTO
from kebab.core.chunks import TokenVectors
from kebab.core.ports import Embedder
from kebab.embed import install
from kebab.embed.model_tokenizer import ModelTokenizer, TokenSequence
from kebab.errors.catalog import DependencyMissing, EmbeddingUnavailable, TimedOut
from kebab.errors.signal import Signal
from kebab.errors.system import import_library, translate_import_errors
from kebab.limits.deadline import WALL_FACTOR
from kebab.platform import count_cores, read_thread_time
from kebab.text.language import is_written_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.core.chunks import Matrix, Vector
    from kebab.embed.registry import EmbeddingModel

_SHORTEST_WAIT_S = 0.005


class RunTime:
    """Adds up the processor time of the threads that work on one run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = 0.0
        self._working: dict[int, float] = {}
        """The processor time at which each thread began."""

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Count the processor time that this thread needs for the block."""
        thread = threading.get_ident()
        with self._lock:
            self._working[thread] = time.thread_time()
        try:
            yield
        finally:
            with self._lock:
                self._done += time.thread_time() - self._working.pop(thread)

    def read(self) -> float:
        """Return the seconds so far; where no thread can be asked, only those of ended blocks."""
        with self._lock:
            total = self._done
            for thread, began in self._working.items():
                total += (read_thread_time(thread) or began) - began
            return total


class Deadline:
    """Limits each run to the same processor time; 0 milliseconds mean no limit.

    One thread watches all runs, because a thread for each run costs a short query a tenth of its
    time. It sleeps until the first run can be due, with all `threads` at work on it.
    """

    def __init__(self, milliseconds: int, threads: int = 1) -> None:
        self.milliseconds = milliseconds
        self._threads = threads
        self._lock = threading.Lock()
        self._runs: dict[int, tuple[float, RunTime, Any]] = {}
        self._watching = False

    @contextmanager
    def limit(self, options: Any, run_time: RunTime) -> Iterator[None]:
        """Terminate the run with these `onnxruntime.RunOptions` when it takes too long."""
        if not self.milliseconds:
            yield
            return
        try:
            with self._lock:
                self._runs[id(options)] = (time.monotonic(), run_time, options)
                if not self._watching:
                    threading.Thread(target=self._watch, name="embed-deadline", daemon=True).start()
                    self._watching = True
            yield
        finally:
            with self._lock:
                self._runs.pop(id(options), None)

    def _watch(self) -> None:
        while (wait := self._terminate_late_runs()) is not None:
            time.sleep(wait)

    def _terminate_late_runs(self) -> float | None:
        """Terminate late runs; return the seconds until the next can be due, None without runs."""
        limit = self.milliseconds / 1000
        waits = []
        with self._lock:
            for key, (began, run_time, options) in list(self._runs.items()):
                left = limit - run_time.read()
                left_by_clock = began + limit * WALL_FACTOR - time.monotonic()
                if left > 0 and left_by_clock > 0:
                    waits.append(min(left / self._threads, left_by_clock))
                else:
                    options.terminate = True
                    del self._runs[key]
            self._watching = bool(waits)
            return max(min(waits), _SHORTEST_WAIT_S) if waits else None


CPU = "cpu"
PROVIDERS = {
    "cuda": ("CUDAExecutionProvider", "onnxruntime-gpu"),
    "coreml": ("CoreMLExecutionProvider", "onnxruntime"),
    "directml": ("DmlExecutionProvider", "onnxruntime-directml"),
    "openvino": ("OpenVINOExecutionProvider", "onnxruntime-openvino"),
}
"""What onnxruntime calls its providers beside that of the processor, and the package with each."""


def list_providers() -> list[str]:
    """Return the providers beside the processor that the installed onnxruntime offers."""
    offered = import_library("onnxruntime", "embedding", "onnxruntime").get_available_providers()
    return [name for name, (label, _) in PROVIDERS.items() if label in offered]


def choose_provider(setting: str, manifest: "install.Manifest") -> str:
    """Return the provider of the setting; `auto` means the one that was best, if it is there."""
    if setting != AUTO:
        return setting
    best = manifest.provider
    return best if best == CPU or best in list_providers() else CPU


_MAX_THREADS = 4
_ROUNDING = 1e-3
_FATAL = 4  # the severity below which onnxruntime stays silent; failures are raised anyway

RUNTIME_CAUSES = {
    "DeviceReset": "the device was reset",
    "EPFail": "the processor's kernels failed",
    "EngineError": "the engine failed",
    "Fail": "the model failed to run",
    "InvalidArgument": "the model rejects its input",
    "InvalidGraph": "the model file has no valid graph",
    "InvalidProtobuf": "the model file is damaged",
    "ModelLoadCanceled": "loading the model was cancelled",
    "ModelLoaded": "the model was loaded twice",
    "ModelRequiresCompilation": "the model needs compiling first",
    "NoModel": "no model was loaded",
    "NoSuchFile": "the model file is missing",
    "NotFound": "the runtime lacks a feature that the model needs",
    "NotImplemented": "the runtime does not know an operator of the model",
    "RuntimeException": "the runtime failed",
}
"""The plain message for each exception of onnxruntime, by its name."""


@cache
def _list_runtime_errors() -> dict[type[BaseException], str]:
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    named = ((name, cause) for name, cause in RUNTIME_CAUSES.items() if hasattr(state, name))
    return {getattr(state, name): cause for name, cause in named} | {
        MemoryError: "out of memory",
        # A C++ exception that the binding does not know becomes a Python `RuntimeError`.
        RuntimeError: RUNTIME_CAUSES["RuntimeException"],
        FloatingPointError: "its output is broken",
    }


@contextmanager
def translate_runtime_errors(model: str, directory: str) -> Iterator[None]:
    """Turn the exceptions of onnxruntime into `EmbeddingUnavailable`."""
    causes = _list_runtime_errors()
    try:
        yield
    except tuple(causes) as error:
        kind = MemoryError if isinstance(error, MemoryError) else type(error)
        if kind not in causes:
            raise
        cause = causes[kind] if kind is MemoryError else f"{causes[kind]}; {error}"
        raise EmbeddingUnavailable(model=model, tried=[directory], cause=cause) from error


def choose_thread_count() -> int:
    """Return how many texts run in parallel by default: one per core, at most 4."""
    return min(count_cores(), _MAX_THREADS)


class InferenceSession:
    """The model of an installed directory, loaded on first use."""

    def __init__(
        self,
        directory: "Path",
        model: "EmbeddingModel",
        threads: int,
        deadline_ms: int,
        provider: str = CPU,
    ) -> None:
        self._directory = directory
        self._provider = provider
        self._model = model
        self._threads = threads
        self._deadline = Deadline(deadline_ms, threads)
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
                if not install.is_complete(self._model, self._directory):
                    cause = "the model's files are missing or incomplete"
                    tried = [str(self._directory)]
                    raise EmbeddingUnavailable(model=self._model.name, tried=tried, cause=cause)
                runtime = self._open()
                self._wanted = {entry.name for entry in runtime.get_inputs()}
                self._outputs = [runtime.get_outputs()[0].name]
                self._runtime = runtime
            return self._runtime

    def prepare(self) -> None:
        """Start loading in a thread; a later call waits for it and raises its errors.

        The library is imported here, because the import holds the interpreter lock in any thread.
        Opening the model does not.
        """
        if self._runtime is not None or self._prepared:
            return
        self._prepared = True
        import_library("onnxruntime", "embedding", "onnxruntime")
        with suppress(RuntimeError):  # the system has no thread left
            threading.Thread(target=self._load_in_thread, name="model", daemon=True).start()

    def _load_in_thread(self) -> None:
        with suppress(Signal):  # the next caller of `load` gets it
            self.load()

    def _open(self) -> Any:
        """Open the model on one thread, without log output."""
        onnxruntime = import_library("onnxruntime", "embedding", "onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _FATAL
        path = self._directory / install.MODEL_FILE
        manifest = install.read_manifest(self._directory)
        provider = choose_provider(self._provider, manifest) if manifest else CPU
        label, package = PROVIDERS.get(provider, ("CPUExecutionProvider", "onnxruntime"))
        feature = f"the provider `{provider}` of onnxruntime"
        missing = DependencyMissing(feature=feature, install=f"pip install {package}")
        if provider not in {CPU, *list_providers()}:
            raise missing
        with self._translate_errors():
            names = list(dict.fromkeys((label, "CPUExecutionProvider")))
            session = onnxruntime.InferenceSession(str(path), options, providers=names)
        # The runtime itself goes on without a provider whose libraries it cannot load.
        if self._provider != AUTO and label not in session.get_providers():
            raise missing
        return session

    def start_run(self, sequences: "Sequence[list[int]]", *, pooled: bool = True) -> "InferenceRun":
        """Start a run; its vectors can be fetched once.

        With `pooled` a sequence gives one vector, otherwise a matrix with a vector for each token.
        A single sequence, or any on a single thread, runs when its vector is fetched.

        Raises:
            EmbeddingUnavailable: The model cannot be loaded, or no thread can be started.
        """
        self.load()
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.log_severity_level = _FATAL
        run_time = RunTime()
        compute = self._embed_sequence if pooled else self._embed_tokens
        embed = partial(compute, options=options, run_time=run_time)
        if self._threads == 1 or len(sequences) == 1:
            return InferenceRun(options, run_time, [partial(embed, one) for one in sequences])
        # The longest go first, so that no thread ends with a long one.
        order = sorted(range(len(sequences)), key=lambda index: -len(sequences[index]))
        with self._translate_errors():
            with self._lock:
                if self._pool is None:  # all callers of the session share it
                    self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embed")
            jobs = {index: self._pool.submit(embed, sequences[index]) for index in order}
        return InferenceRun(
            options, run_time, [jobs[index].result for index in range(len(sequences))]
        )

    def wait_for_vectors(self, run: "InferenceRun") -> "list[Vector]":
        """Wait for the vectors of a run; its deadline counts processor time.

        Raises:
            TimedOut: The run took too long, or hangs; `elapsed_ms` is the time that was too long.
            EmbeddingUnavailable: The runtime failed.
        """
        started = time.monotonic()
        try:
            with self._translate_errors(), self._deadline.limit(run.options, run.time):
                return [result() for result in run.results]
        except EmbeddingUnavailable as error:
            if not run.options.terminate:
                raise
            elapsed_ms, deadline_ms = int(run.time.read() * 1000), self._deadline.milliseconds
            if elapsed_ms < deadline_ms:
                elapsed_ms = int((time.monotonic() - started) * 1000)
            raise TimedOut(
                operation="embedding a batch",
                elapsed_ms=elapsed_ms,
                deadline_ms=deadline_ms,
                setting="models.embedding.deadline_s",
            ) from error
        finally:
            run.stop()

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_runtime_errors(self._model.name, str(self._directory))

    def _embed_sequence(self, sequence: list[int], options: Any, run_time: RunTime) -> "Vector":
        import numpy as np

        hidden = self._compute_hidden_states(sequence, options, run_time)
        if self._model.pooling == "cls":
            return normalise(hidden[0].astype(np.float64))
        return normalise(hidden.mean(axis=0, dtype=np.float64))

    def _embed_tokens(self, sequence: list[int], options: Any, run_time: RunTime) -> "Matrix":
        """Return a unit vector for each token, special tokens included."""
        return normalise(self._compute_hidden_states(sequence, options, run_time))

    def _compute_hidden_states(
        self, sequence: list[int], options: Any, run_time: RunTime
    ) -> "Matrix":
        """Return the output of the last layer, shape (tokens, dimension)."""
        import numpy as np

        ids = np.array([sequence], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feed = {name: value for name, value in inputs.items() if name in self._wanted}
        with run_time.measure():
            hidden: Matrix = self._runtime.run(self._outputs, feed, options)[0][0]
        return hidden


class InferenceRun(Struct, frozen=True):
    """A run in progress; each of `results` waits for a sequence and returns its vectors."""

    options: Any
    time: RunTime
    results: "Sequence[Callable[[], Vector]]"

    def stop(self) -> None:
        """Stop the sequences that still run."""
        self.options.terminate = True


def normalise(vectors: Any) -> "Vector":
    """Return a vector, or each row of a matrix, scaled to length 1, as float32.

    Raises:
        FloatingPointError: A vector is zero or not a number; the model is broken.
    """
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vector = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    if not (np.abs(np.linalg.norm(scaled, axis=-1) - 1.0) < _ROUNDING).all():
        raise FloatingPointError("the vector has no direction")
    return scaled


_StartedRun: TypeAlias = tuple[list[list[list[int]]], InferenceRun]
"""The windows of each text, and the run over them."""

SLICE = 32  # texts that are returned together: less than a second of work


QUERY_WINDOWS = 2
"""How many windows of a query are embedded: each costs as much as a passage."""

TOKEN_CHARS = 16
"""More characters than the tokens of prose have, so that no more of a query is cut into tokens."""


class ModelEmbedder(Embedder):
    """What every embedder says of its model; without a tokenizer its tokens are estimated."""

    has_tokenizer = True

    def __init__(self, model: "EmbeddingModel") -> None:
        self._model = model

    @property
    def profile(self) -> "EmbeddingModel":
        """The registry row of the model."""
        return self._model

    @property
    def version(self) -> str:
        """Provider, model, dimension and version."""
        return self._model.version

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._model.dimension

    @property
    def window(self) -> int:
        """The most content tokens of one vector, without special tokens."""
        return self._model.window

    def supports(self, text: str) -> bool:
        """Return whether the model knows the script of most letters of the text."""
        return is_written_in(text, self._model.scripts)


class OnnxEmbedder(ModelEmbedder):
    """Embeds with an installed model directory; implements `kebab.core.ports.Embedder`."""

    def __init__(
        self,
        directory: "Path",
        model: "EmbeddingModel",
        *,
        threads: int | None = None,
        deadline_ms: int = 0,
        provider: str = AUTO,
    ) -> None:
        """Take the directory of an installed model; nothing is read before the first call.

        `threads` texts run in parallel (by default one per core, at most 4). `deadline_ms` limits
        every slice of texts; 0 means no limit. `provider` is that of the settings.
        """
        super().__init__(model)
        self.directory = directory
        self._tokenizer = ModelTokenizer(directory, model)
        self._session = InferenceSession(
            directory, model, threads or choose_thread_count(), deadline_ms, provider
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens; no model is loaded."""
        return self._tokenizer.count_tokens(texts)

    def prepare(self) -> None:
        """Start to load the model in the background."""
        self._session.prepare()

    def embed_query(self, text: str) -> "Vector":
        """Return the unit vector of a question, shape (dimension,), float32.

        Of a pasted page only the first windows count.
        """
        start = text[: QUERY_WINDOWS * self._model.window * TOKEN_CHARS]
        (cuts,) = self._tokenizer.split_windows([start], self._model.query_prefix)
        windows = [cuts[:QUERY_WINDOWS]]
        return self._wait_for_vectors(windows, self._session.start_run(windows[0]))[0]

    def embed_passages(self, texts: Sequence[str]) -> "Iterator[tuple[list[int], Matrix]]":
        """Yield (indexes into texts, unit vectors of shape (len(indexes), dimension))."""
        with translate_import_errors("embedding", "numpy"):
            import numpy as np

        started: deque[_StartedRun] = deque()
        done = 0
        try:
            # The model runs one slice while the caller handles the slice before it.
            for start in range(0, len(texts) + SLICE, SLICE):
                if part := texts[start : start + SLICE]:
                    started.append(self._start_run(part, self._model.passage_prefix))
                if start and started:
                    vectors = self._wait_for_vectors(*started.popleft())
                    yield list(range(done, done + len(vectors))), np.stack(vectors)
                    done += len(vectors)
        finally:
            for _, run in started:
                run.stop()

    def embed_tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[TokenVectors]:
        """Return the token vectors of each text; only the first window of a text is read."""
        prefix = self._model.query_prefix if as_query else self._model.passage_prefix
        most = self._model.window * TOKEN_CHARS
        found: list[TokenVectors] = []
        for first in range(0, len(texts), SLICE):
            starts = [text[:most] for text in texts[first : first + SLICE]]
            sequences = self._tokenizer.encode_starts(starts, prefix)
            run = self._session.start_run([one.ids for one in sequences], pooled=False)
            found += map(_select_tokens, sequences, self._session.wait_for_vectors(run))
        return found

    def _start_run(self, texts: Sequence[str], prefix: str) -> _StartedRun:
        """Cut texts into windows and start a run over them."""
        windows = self._tokenizer.split_windows(texts, prefix)
        return windows, self._session.start_run([window for cuts in windows for window in cuts])

    def _wait_for_vectors(
        self, windows: list[list[list[int]]], run: InferenceRun
    ) -> "list[Vector]":
        """Return the vector of each text: the mean of its windows, weighted by their tokens."""
        vectors = iter(self._session.wait_for_vectors(run))
        return [_average_windows([(next(vectors), len(cut)) for cut in cuts]) for cuts in windows]


class NodeEmbedders(Struct, frozen=True):
    """Loads the model on a machine of a cluster, with one thread, because each core has its own."""

    model: "EmbeddingModel"
    provider: str
    deadline_ms: int

    def __call__(self, folder: str) -> OnnxEmbedder:
        """Return the embedder of a model folder."""
        return OnnxEmbedder(
            Path(folder),
            self.model,
            threads=1,
            deadline_ms=self.deadline_ms,
            provider=self.provider,
        )


def _select_tokens(sequence: TokenSequence, vectors: "Matrix") -> TokenVectors:
    return TokenVectors(vectors[list(sequence.spans)], list(sequence.spans.values()))


def _average_windows(windows: "list[tuple[Vector, int]]") -> "Vector":
    """Return the mean of the windows' vectors, weighted by their tokens, as a unit vector."""
    if len(windows) == 1:
        return windows[0][0]
    return normalise(sum(vector * weight for vector, weight in windows))
