"""LanceDB: every call of its connection, its tables and its queries."""

import errno
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from kebab.store.lance import import_lancedb
from tests.faults.world import Fault, World, build_raising_fault

PREFIX = "lance"
_SAID = {
    "missing": "lance error: LanceError(IO): Object at location kebab/lance/x not found",
    "full": "lance error: LanceError(IO): Generic LocalFileSystem error: No space left on device",
    "denied": "lance error: LanceError(IO): Generic LocalFileSystem error: Permission denied",
    "conflict": "lance error: Retryable commit conflict for version 3: commit conflict",
    "odd": "lance error: something nobody foresaw\nand more of it",
}
_KEPT_WHOLE = (str, bytes, int, float, bool, dict, list, tuple, pa.RecordBatch, pa.Table)


def list_faults(point: str) -> list[Fault]:
    """Return all that can go wrong in a call of LanceDB."""
    del point
    return [
        *(
            build_raising_fault(f"engine:{name}", partial(RuntimeError, said))
            for name, said in _SAID.items()
        ),
        build_raising_fault("ValueError", lambda: ValueError("Table 'x' was not found")),
        build_raising_fault("OSError", lambda: OSError(errno.EIO, os.strerror(errno.EIO))),
        build_raising_fault("ENOSPC", lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))),
        build_raising_fault(
            "ArrowInvalid", lambda: pa.ArrowInvalid("Mix of struct and list types")
        ),
        build_raising_fault("ArrowMemoryError", lambda: pa.lib.ArrowMemoryError("malloc failed")),
        build_raising_fault("MemoryError", MemoryError),
    ]


def install(world: World, patch: pytest.MonkeyPatch) -> None:
    """Stand between kebab and LanceDB."""
    lancedb = import_lancedb()
    real = lancedb.connect
    patch.setattr(
        lancedb,
        "connect",
        lambda place: _Proxy(world, world.call(f"{PREFIX}.connect", real, place)),
    )


class _Proxy:
    """An object of LanceDB whose methods are calls of the seam, and so is each step of a stream."""

    def __init__(self, world: World, inner: Any) -> None:
        self._world = world
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def called(*args: Any, **options: Any) -> Any:
            result = self._world.call(f"{PREFIX}.{name}", found, *args, **options)
            if result is None or isinstance(result, _KEPT_WHOLE):
                return result
            return _Proxy(self._world, result)

        return called

    def __iter__(self) -> Iterator[Any]:
        steps = iter(self._inner)
        while True:
            step = self._world.call(f"{PREFIX}.batch", next, steps, None)
            if step is None:
                return
            yield step
