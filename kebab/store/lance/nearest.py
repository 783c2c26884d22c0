"""The read path: vectors are searched in the mapped sidecar, without importing LanceDB."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.core.chunk import KeyedScore
from kebab.core.ids import Key
from kebab.store.lance import layout
from kebab.store.lance.flat import FlatIndex
from kebab.store.lance.rebuild import copied, rebuild
from kebab.store.lance.sidecar import Sidecar

if TYPE_CHECKING:
    from kebab.core.vector import Vector
    from kebab.store.lance.sidecar import Batch


class MappedVectors:
    """`Vectors` of one embedding version; every call sees the latest state of the table.

    With `keep` a sidecar that had to be made is kept on disk for the next reader.
    """

    def __init__(self, data_dir: Path, version: str, dimension: int, *, keep: bool = True) -> None:
        self._data_dir = data_dir
        self._version = version
        self._dimension = dimension
        self._keep = keep
        self._table = layout.table_path(data_dir, version)
        self._sidecar = Sidecar(layout.sidecar_path(data_dir, version), dimension)
        self._stamp: bytes | None = None
        self._loaded: FlatIndex | None = None

    def nearest(
        self, query: "Vector", limit: int, allowed: Sequence[Key] | None = None
    ) -> list[KeyedScore]:
        """Return the chunks of highest cosine, filtered before the cut.

        Raises:
            StoreCorrupt: The table cannot be read.
        """
        index = self.current()
        return index.nearest(query, limit, allowed) if index else []

    def cosines(self, query: "Vector", keys: Collection[Key]) -> dict[Key, float]:
        """Return the cosine of those of these chunks that have a vector."""
        index = self.current()
        return index.cosines(query, keys) if index else {}

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return the stored vectors of those of these chunks that have one."""
        index = self.current()
        return index.get(keys) if index else {}

    def count(self) -> int:
        """Return how many chunks have a vector."""
        index = self.current()
        return index.count() if index else 0

    def current(self) -> FlatIndex | None:
        """Return the index of the latest state, which stays as it is; None without a table.

        Raises:
            StoreCorrupt: The table cannot be read.
        """
        stamp = layout.stamp(self._table)
        if stamp is None:
            return None
        if self._loaded is None or stamp != self._stamp:
            self._loaded = FlatIndex(*(self._sidecar.map(stamp) or self._rebuild(stamp)))
            self._stamp = stamp
        return self._loaded

    def _rebuild(self, stamp: bytes) -> "Batch":
        """Copy the table into the sidecar, or only into memory where nothing may be written."""
        if self._keep and rebuild(self._data_dir, self._version, self._dimension):
            mapped = self._sidecar.map(stamp)
            if mapped is not None:
                return mapped
        return copied(self._data_dir, self._version, self._dimension)
