"""Making the sidecar from the table, when it is missing or of another state."""

from pathlib import Path
from typing import TYPE_CHECKING

from kebab.errors.dependency import needed
from kebab.store.lance import layout
from kebab.store.lance.engine import LanceTable
from kebab.store.lance.sidecar import Sidecar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kebab.store.lance.sidecar import Batch


class _Overtaken(Exception):  # noqa: N818 - not an error: the writer was faster
    """The table moved while it was copied, so which state was copied is unknown."""


def rebuild(data_dir: Path, version: str, dimension: int) -> bool:
    """Write the sidecar anew; return whether it could be written.

    Raises:
        StoreCorrupt: The table cannot be read.
    """
    table = LanceTable(data_dir, version, dimension)
    stamp = layout.stamp(table.path)
    if stamp is None:
        return False
    sidecar = Sidecar(layout.sidecar_path(data_dir, version), dimension)
    try:
        sidecar.create(stamp, _steady(table, stamp))
    except (OSError, _Overtaken):
        return False
    return True


def _steady(table: LanceTable, stamp: bytes) -> "Iterator[Batch]":
    yield from table.batches()
    if layout.stamp(table.path) != stamp:
        raise _Overtaken


def copied(data_dir: Path, version: str, dimension: int) -> "Batch":
    """Return all rows of the table in memory.

    Raises:
        StoreCorrupt: The table cannot be read.
    """
    with needed(layout.FEATURE, "numpy"):
        import numpy as np

    empty = (np.empty(0, np.int64), np.empty((0, dimension), np.float32))
    batches = [empty, *LanceTable(data_dir, version, dimension).batches()]
    keys = np.concatenate([keys for keys, _ in batches])
    return keys, np.concatenate([matrix for _, matrix in batches])
