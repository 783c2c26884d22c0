import resource
from pathlib import Path

import numpy as np
import pytest

from kebab.core.ids import Key
from kebab.store.lance.vector_file import LARGE_ROWS, VectorFile, release_pages
from kebab.store.lance.vectors import ExactIndex

STATM = Path("/proc/self/statm")
_PAGE = resource.getpagesize()


def resident_bytes():
    try:
        return int(STATM.read_text(encoding="ascii").split()[1]) * _PAGE
    except FileNotFoundError:
        pytest.skip("this system does not say what is held in memory")


def test_a_mapped_array_leaves_memory_and_keeps_its_values(tmp_path):
    path = tmp_path / "numbers"
    np.arange(4_000_000, dtype=np.int64).tofile(path)
    mapped = np.memmap(path, np.int64, "r")
    total = mapped[::2].sum()
    before = resident_bytes()

    release_pages(mapped[5:])

    assert before - resident_bytes() > 20_000_000
    assert mapped[::2].sum() == total


def test_an_array_that_is_not_mapped_is_unchanged(tmp_path):
    own = np.arange(9)
    release_pages(own)
    assert own.tolist() == list(range(9))


def test_the_first_query_of_a_large_file_reads_it_in_parts(tmp_path):
    rows, dimension = LARGE_ROWS + 20_000, 64
    dice = np.random.default_rng(1)
    matrix = dice.standard_normal((rows, dimension), np.float32)
    path = tmp_path / "vectors.f32"
    VectorFile(path, dimension).write(b"s" * 16, [(np.arange(rows), matrix)])
    mapped = VectorFile(path, dimension).map_vectors(b"s" * 16)
    assert mapped is not None
    query = matrix[7] / np.linalg.norm(matrix[7])
    before = resident_bytes()

    index, held = ExactIndex(*mapped), ExactIndex(np.arange(rows), matrix)
    some = [Key(key) for key in range(0, rows, 400)]
    once, beside = index.find_nearest(query, 50), index.compute_cosines(matrix[9], some)

    assert resident_bytes() - before < path.stat().st_size / 2
    assert once == held.find_nearest(query, 50)
    assert beside == pytest.approx(held.compute_cosines(matrix[9], some), abs=2e-6)
    assert np.array_equal(index.get([Key(3)])[Key(3)], matrix[3])
    assert index.find_nearest(query.copy(), 50) == once
