"""The embedding model: its runtime and its tokenizer."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest
import tokenizers
from onnxruntime.capi import onnxruntime_pybind11_state as state

from tests.faults.world import Fault, World, build_raising_fault

_PATIENCE_S = 2.0
_RAISED = [
    name
    for name, kind in vars(state).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
]


def _build_message(name: str) -> Fault:
    kind = getattr(state, name)
    return build_raising_fault(
        name, lambda: kind(f"[ONNXRuntimeError] : 1 : {name} : a wheel came off")
    )


def _spoil_result(value: float) -> Callable[..., Any]:
    def act(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return [np.full_like(one, value) for one in real(*args, **options)]

    return act


def _run_slowly(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Need much processor time for one text."""
    until = time.perf_counter() + _PATIENCE_S
    while time.perf_counter() < until:
        sum(range(1000))
    return real(*args, **options)


def list_faults(point: str) -> list[Fault]:
    """Return all that can go wrong at a point."""
    if point.startswith("tokens."):
        broken = build_raising_fault(
            "Exception", lambda: Exception("data did not match any variant")
        )
        return [broken, build_raising_fault("MemoryError", MemoryError)]
    found = [_build_message(name) for name in _RAISED]
    found += [
        build_raising_fault("MemoryError", MemoryError),
        build_raising_fault("RuntimeError", lambda: RuntimeError("std::bad_alloc")),
    ]
    if point == "onnx.run":
        found += [Fault("nan", _spoil_result(float("nan"))), Fault("zeros", _spoil_result(0.0))]
        found += [Fault("slow", _run_slowly)]
    return found


def install(world: World, patch: pytest.MonkeyPatch) -> None:
    """Stand between kebab and its model."""
    runtime, tokenizer = onnxruntime.InferenceSession, tokenizers.Tokenizer
    patch.setattr(
        onnxruntime,
        "InferenceSession",
        lambda *args, **options: _Counted(
            world, world.call("onnx.create", runtime, *args, **options), "onnx", ("run",)
        ),
    )
    patch.setattr(tokenizers, "Tokenizer", _Tokenizers(world, tokenizer))


class _Counted:
    """An object of which some methods are calls of the seam."""

    def __init__(self, world: World, inner: Any, prefix: str, names: tuple[str, ...]) -> None:
        self._world = world
        self._inner = inner
        self._prefix = prefix
        self._names = names

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._names:
            return found
        return lambda *args, **options: self._world.call(
            f"{self._prefix}.{name}", found, *args, **options
        )


class _Tokenizers:
    """The class of tokenizers, as far as kebab uses it."""

    def __init__(self, world: World, inner: Any) -> None:
        self._world = world
        self._inner = inner

    def from_file(self, path: str) -> _Counted:
        found = self._world.call("tokens.load", self._inner.from_file, path)
        return _Counted(
            self._world, found, "tokens", ("encode", "encode_batch", "encode_batch_fast")
        )
