"""The one table of what onnxruntime can raise, and the signals it becomes."""

from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def translated(model: str, place: str) -> Iterator[None]:
    """Turn whatever onnxruntime raises inside into `EmbeddingUnavailable`."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    kinds = tuple(getattr(state, name) for name in CAUSES if hasattr(state, name))
    try:
        yield
    except kinds as error:
        cause = f"{CAUSES[type(error).__name__]}; {error}"
        raise EmbeddingUnavailable(model=model, tried=[place], cause=cause) from error
