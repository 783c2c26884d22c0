"""The vector index made to agree with the library, whatever interrupted an earlier run."""

from collections import Counter
from collections.abc import Collection

from kebab.core.ids import Key
from kebab.core.ports import LibraryWriter, VectorWriter


def reconcile(
    library: LibraryWriter, vectors: VectorWriter, version: str, *, sure: bool = False
) -> None:
    """Delete every row that the library does not vouch for.

    A chunk whose row is missing or stored twice waits for its vector again. With `sure` the rows
    themselves are read.
    """
    stored = Counter(vectors.keys(sure=sure))
    vouched = library.vector_keys()
    doubtful = {key for key in vouched if stored[key] != 1}
    if doubtful:
        library.mark_vectors(doubtful, "pending", version)
    stray = {key for key in stored if key not in vouched or key in doubtful}
    if stray:
        vectors.delete(stray)
    clear_garbage(library, library.garbage())


def clear_garbage(library: LibraryWriter, keys: Collection[Key]) -> None:
    """Forget garbage that the index does not hold, without a transaction for nothing."""
    if keys:
        library.clear_garbage(keys)
