"""Runs an installed model with onnxruntime alone, on one thread and one text at a time.

A fresh process embeds a question so, because fastembed takes half a second to import. The vectors
equal those of fastembed. One text at a time makes a vector depend on its text alone: int8 scales
activations over all texts of a run. onnxruntime is imported on first use.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.embed import install
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.errors.signal import Signal
from kebab.errors.system import import_library

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector
    from kebab.embed.registry import EmbeddingModel

_ROUNDING = 1e-3
_FATAL = 4  # the severity below which onnxruntime stays silent; failures are raised anyway


@contextmanager
def translate_model_errors(model: str, directory: Path) -> Iterator[None]:
    """Turn the exceptions of onnxruntime and tokenizers into `EmbeddingUnavailable`.

    tokenizers raises plain `Exception`. A C++ exception that the binding of onnxruntime does not
    know becomes a Python `RuntimeError`. Subclasses of both are errors of others.
    """
    try:
        yield
    except MemoryError as error:
        cause = "out of memory"
        raise EmbeddingUnavailable(model=model, tried=[str(directory)], cause=cause) from error
    except Exception as error:
        kind = type(error)
        is_runtime = kind.__module__.startswith("onnxruntime.")
        if kind not in {Exception, RuntimeError, FloatingPointError} and not is_runtime:
            raise
        cause = f"the {'tokenizer' if kind is Exception else 'runtime'} failed; {error}"
        raise EmbeddingUnavailable(model=model, tried=[str(directory)], cause=cause) from error


def import_runtime() -> Any:
    """Return onnxruntime, which writes no log from now on."""
    runtime = import_library("onnxruntime", "embedding", "onnxruntime")
    runtime.set_default_logger_severity(_FATAL)
    return runtime


def require_files(model: "EmbeddingModel", directory: Path) -> None:
    """Check that all files of a model are there in full size.

    Raises:
        EmbeddingUnavailable: They are not.
    """
    if not install.is_complete(model, directory):
        cause = "the model's files are missing or incomplete"
        raise EmbeddingUnavailable(model=model.name, tried=[str(directory)], cause=cause)


class Encoder:
    """The model of an installed directory, loaded on first use."""

    def __init__(self, directory: Path, model: "EmbeddingModel") -> None:
        self._directory = directory
        self._model = model
        self._lock = threading.Lock()
        self._session: Any = None

    def prepare(self) -> None:
        """Start loading in a thread; a later call waits for it and raises its errors.

        The library is imported here, because the import holds the interpreter lock in any thread.
        Opening the model does not.
        """
        if self._session is not None:
            return
        import_runtime()
        with suppress(RuntimeError):  # the system has no thread left
            threading.Thread(target=self._load_in_thread, name="model", daemon=True).start()

    def _load_in_thread(self) -> None:
        with suppress(Signal):  # the next caller of `load` gets it
            self.load()

    def load(self) -> Any:
        """Return the runtime's session, loading it on the first call.

        Raises:
            EmbeddingUnavailable: The model cannot be loaded.
        """
        with self._lock:
            if self._session is None:
                require_files(self._model, self._directory)
                runtime = import_runtime()
                options = runtime.SessionOptions()
                options.intra_op_num_threads = 1
                options.inter_op_num_threads = 1
                path = str(self._directory / install.MODEL_FILE)
                with translate_model_errors(self._model.name, self._directory):
                    self._session = runtime.InferenceSession(
                        path, options, providers=["CPUExecutionProvider"]
                    )
            return self._session

    def embed(self, ids: Sequence[int]) -> "Vector":
        """Return the unit vector of a sequence, shape (dimension,), float32.

        Raises:
            EmbeddingUnavailable: The model cannot be loaded, or fails.
        """
        import numpy as np

        hidden = self._compute_hidden_states(ids)
        first = self._model.pooling == "cls"
        with translate_model_errors(self._model.name, self._directory):
            return normalise(hidden[0] if first else hidden.mean(axis=0, dtype=np.float64))

    def embed_tokens(self, ids: Sequence[int]) -> "Matrix":
        """Return the unit vector of each token of a sequence, shape (tokens, dimension), float32.

        Raises:
            EmbeddingUnavailable: The model cannot be loaded, or fails.
        """
        hidden = self._compute_hidden_states(ids)
        with translate_model_errors(self._model.name, self._directory):
            return normalise(hidden)

    def _compute_hidden_states(self, ids: Sequence[int]) -> "Matrix":
        """Return the output of the last layer, shape (tokens, dimension)."""
        session = self.load()
        import numpy as np

        tokens = np.array([ids], dtype=np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        feed = {entry.name: inputs[entry.name] for entry in session.get_inputs()}
        with translate_model_errors(self._model.name, self._directory):
            hidden: Matrix = session.run(None, feed)[0][0]
        return hidden


def normalise(vectors: Any) -> "Vector":
    """Return a vector, or each row of a matrix, scaled to length 1, as float32.

    Raises:
        FloatingPointError: A vector is zero or not a number; the model is broken.
    """
    import numpy as np

    lengths = np.linalg.norm(np.asarray(vectors, np.float64), axis=-1, keepdims=True)
    scaled: Vector = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    if not (np.abs(np.linalg.norm(scaled, axis=-1) - 1.0) < _ROUNDING).all():
        raise FloatingPointError("a vector has no direction")
    return scaled
