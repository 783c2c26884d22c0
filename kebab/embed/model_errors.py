"""The table of the exceptions of onnxruntime and tokenizers, and their translation to signals."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import TracebackType

from kebab.errors.catalog import EmbeddingUnavailable

CAUSES = {
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

_OUT_OF_MEMORY = "out of memory"


@contextmanager
def translate_runtime_errors(model: str, place: str) -> Iterator[None]:
    """Turn the exceptions of onnxruntime into `EmbeddingUnavailable`."""
    kinds = _runtime_exceptions()
    try:
        yield
    except MemoryError as error:
        raise _unavailable(model, place, _OUT_OF_MEMORY) from error
    except tuple(kinds) as error:
        if type(error) not in kinds:
            raise
        raise _unavailable(model, place, f"{kinds[type(error)]}; {error}") from error


@cache
def _runtime_exceptions() -> dict[type[BaseException], str]:
    """Return the message for each exception class of the runtime."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    kinds = {getattr(state, name): cause for name, cause in CAUSES.items() if hasattr(state, name)}
    # A C++ exception that the binding does not know becomes a Python `RuntimeError`.
    return kinds | {
        RuntimeError: CAUSES["RuntimeException"],
        FloatingPointError: "its output is broken",
    }


class TokenizerErrorTranslator:
    """Turns the exceptions of tokenizers into `EmbeddingUnavailable`.

    The library raises plain `Exception`, so only that exact class is translated.
    """

    def __init__(self, model: str, place: str) -> None:
        self._model = model
        self._place = place

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Translate the exception of the block."""
        if isinstance(error, MemoryError):
            raise _unavailable(self._model, self._place, _OUT_OF_MEMORY) from error
        if kind is Exception:
            cause = f"the tokenizer failed; {error}"
            raise _unavailable(self._model, self._place, cause) from error


def _unavailable(model: str, place: str, cause: str) -> EmbeddingUnavailable:
    return EmbeddingUnavailable(model=model, tried=[place], cause=cause)
