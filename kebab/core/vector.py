"""Vectors: float32 arrays of numpy, which only type checkers import from here."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
    """One unit vector, shape (dimension,)."""

    Matrix: TypeAlias = NDArray[np.float32]
    """Unit vectors in rows, shape (count, dimension)."""
