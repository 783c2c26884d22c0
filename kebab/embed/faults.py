"""The one table of what onnxruntime and tokenizers can raise, and the signals it becomes."""

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
    "InvalidArgument": "the model does not take what it was given",
    "InvalidGraph": "the model file holds no valid graph",
    "InvalidProtobuf": "the model file is damaged",
    "ModelLoadCanceled": "loading the model was cancelled",
    "ModelLoaded": "the model was loaded twice",
    "ModelRequiresCompilation": "the model needs compiling first",
    "NoModel": "no model was loaded",
    "NoSuchFile": "the model file is missing",
    "NotFound": "the runtime lacks what the model needs",
    "NotImplemented": "the runtime does not know an operator of the model",
    "RuntimeException": "the runtime failed",
}
"""Each exception of onnxruntime by its name, in plain words."""


_OUT_OF_MEMORY = "out of memory"


@contextmanager
def translated(model: str, place: str) -> Iterator[None]:
    """Turn whatever onnxruntime raises inside into `EmbeddingUnavailable`."""
    kinds = _kinds()
    try:
        yield
    except MemoryError as error:
        raise _unavailable(model, place, _OUT_OF_MEMORY) from error
    except tuple(kinds) as error:
        if type(error) not in kinds:
            raise
        raise _unavailable(model, place, f"{kinds[type(error)]}; {error}") from error


@cache
def _kinds() -> dict[type[BaseException], str]:
    """Return what each exception of the runtime is called."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    kinds = {getattr(state, name): cause for name, cause in CAUSES.items() if hasattr(state, name)}
    # What its C++ throws and its binding does not know comes as Python's own.
    return kinds | {
        RuntimeError: CAUSES["RuntimeException"],
        FloatingPointError: "its output is broken",
    }


class Tokenizing:
    """Turns what tokenizers raises within into `EmbeddingUnavailable`.

    The library has no class of its own: all it raises is `Exception`, so exactly that is meant.
    """

    def __init__(self, model: str, place: str) -> None:
        self._model = model
        self._place = place

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Translate what was raised."""
        if isinstance(error, MemoryError):
            raise _unavailable(self._model, self._place, _OUT_OF_MEMORY) from error
        if kind is Exception:
            cause = f"the tokenizer failed; {error}"
            raise _unavailable(self._model, self._place, cause) from error


def _unavailable(model: str, place: str, cause: str) -> EmbeddingUnavailable:
    return EmbeddingUnavailable(model=model, tried=[place], cause=cause)
