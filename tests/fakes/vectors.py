"""A vector index in memory, for tests of what stands above the stores."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kebab.core.chunks import NO_BACKGROUND, CosineBackground, Key, KeyedScore, Keys, sort_keys
from kebab.core.documents import VectorRow
from kebab.errors.catalog import StoreCorrupt

if TYPE_CHECKING:
    from kebab.core.chunks import Vector


class MemoryVectors:
    """A `VectorWriter` that keeps its rows in a list; `commits` counts what a disk would do.

    `tables` holds those of all embedding versions.
    """

    def __init__(self, tables: "Mapping[str, MemoryVectors] | None" = None) -> None:
        self._tables = {} if tables is None else tables
        self.rows: list[VectorRow] = []
        self.commits = 0
        self.saved = 0

    def find_nearest(
        self, query: "Vector", limit: int, allowed: Sequence[Key] | None = None
    ) -> list[KeyedScore]:
        wanted = self._latest() if allowed is None else self._latest(allowed)
        scored = [(key, _cosine(query, vector)) for key, vector in wanted.items()]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def compute_cosines(self, query: "Vector", keys: Collection[Key]) -> dict[Key, float]:
        return {key: _cosine(query, vector) for key, vector in self._latest(keys).items()}

    def measure_background(self, query: "Vector") -> CosineBackground:
        cosines = [_cosine(query, vector) for vector in self._latest().values()]
        if not cosines:
            return NO_BACKGROUND
        return CosineBackground(len(cosines), float(np.mean(cosines)), float(np.std(cosines)))

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        return self._latest(keys)

    def count(self) -> int:
        return len(self._latest())

    def append(self, rows: Sequence[VectorRow]) -> None:
        self.rows.extend(rows)
        self.commits += 1

    def delete(self, keys: Collection[Key]) -> None:
        gone = set(keys)
        self.rows = [row for row in self.rows if row.key not in gone]
        self.commits += 1

    def list_keys(self, *, verify: bool = False) -> Keys:
        return sort_keys(row.key for row in self.rows)

    def rebuild(self) -> None:
        self.rows = []
        self.commits += 1

    def delete_others(self) -> None:
        for table in self._tables.values():
            if table is not self:
                table.rows = []

    def save(self) -> None:
        self.saved += 1

    def _latest(self, keys: Collection[Key] | None = None) -> "dict[Key, Vector]":
        wanted = None if keys is None else set(keys)
        return {row.key: row.vector for row in self.rows if wanted is None or row.key in wanted}


class TornVectors(MemoryVectors):
    """An index that cannot be read until it was made anew."""

    torn = True

    def list_keys(self, *, verify: bool = False) -> Keys:
        if self.torn:
            raise StoreCorrupt(path="/x", cause="torn")
        return super().list_keys(verify=verify)

    def rebuild(self) -> None:
        self.torn = False
        super().rebuild()


def _cosine(query: "Vector", vector: "Vector") -> float:
    return round(float(np.dot(query, vector)), 6)
