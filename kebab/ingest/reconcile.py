"""The vector index made to agree with the library, whatever interrupted an earlier run."""

from collections.abc import Collection

from kebab.core.ids import Key
from kebab.core.keys import lacking, repeated
from kebab.core.ports import LibraryWriter, VectorWriter


def reconcile(
    library: LibraryWriter, vectors: VectorWriter, version: str, *, sure: bool = False
) -> None:
    """Delete every row that the library does not vouch for.

    A chunk whose row is missing or stored twice waits for its vector again. With `sure` the rows
    themselves are read.
    """
    stored, vouched = vectors.keys(sure=sure), library.vector_keys()
    unknown, twice = set(lacking(stored, vouched)), repeated(stored)
    doubtful = {*lacking(vouched, stored), *twice} - unknown
    if doubtful:
        library.mark_vectors(doubtful, "pending", version)
    stray = unknown | twice
    if stray:
        vectors.delete(stray)
    clear_garbage(library, library.garbage())


def clear_garbage(library: LibraryWriter, keys: Collection[Key]) -> None:
    """Forget garbage that the index does not hold, without a transaction for nothing."""
    if keys:
        library.clear_garbage(keys)
