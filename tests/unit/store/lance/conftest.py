"""Rows for vector indexes of three dimensions."""

import numpy as np
import pytest

from kebab.core.documents import VectorRow
from kebab.core.ids import ChunkId, DocId, Key


@pytest.fixture
def make_rows():
    """Return a function that makes a row for each key; equal keys get equal vectors."""

    def make(*keys):
        return [VectorRow(Key(key), ChunkId(f"{key:032x}"), DocId("d"), _unit(key)) for key in keys]

    return make


def _unit(key):
    vector = np.array([1, key, key * key], np.float32)
    return vector / np.linalg.norm(vector)
