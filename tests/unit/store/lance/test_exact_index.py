import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kebab.core.documents import VectorRow
from kebab.core.ids import ChunkId, DocId, Key
from kebab.store.lance import exact_index, key_file
from kebab.store.lance.binary_index import open_binary_index
from kebab.store.lance.exact_index import ExactIndex
from kebab.store.lance.vectors import LanceVectors, MappedVectors

WIDTH = 96


def cluster(count: int, seed: int = 0) -> Any:
    """Return unit vectors around some centres, as those of texts on some subjects."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(7).standard_normal((40, WIDTH)) + 0.5
    rows = centres[random.integers(0, 40, count)] + random.standard_normal((count, WIDTH))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(autouse=True)
def _seek_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_index, "_CANDIDATES", 40)
    monkeypatch.setattr(exact_index, "_LEAST_CANDIDATES", 1)


def make(keys: Any, rows: Any, path: Path, axes: Any = None) -> ExactIndex:
    ExactIndex(keys, [rows], axes).write_binary(path, lambda *_: None)
    return ExactIndex(keys, [rows], axes, open_binary_index(path, WIDTH, axes))


def list_keys(hits: Sequence[tuple[Any, float]]) -> list[int]:
    return [key for key, _ in hits]


@pytest.mark.parametrize("axes", [None, np.eye(2, WIDTH, dtype=np.float32)])
def test_nearly_all_of_the_nearest_are_found_with_their_exact_cosine(
    tmp_path: Path, axes: Any
) -> None:
    rows, queries = cluster(8000), cluster(60, seed=1)
    keys = np.arange(0, 16000, 2)
    exact, index = ExactIndex(keys, [rows], axes), make(keys, rows, tmp_path / "x.binary", axes)
    assert (exact.is_approximate, index.is_approximate) == (False, True)
    found = total = 0
    for query in queries:
        expected, hits = exact.find_nearest(query, 10), index.find_nearest(query, 10)
        found += len(set(expected) & set(hits))
        total += len(expected)
        assert dict(hits) == pytest.approx(
            exact.compute_cosines(query, [key for key, _ in hits]), abs=2e-6
        )
    assert found / total >= 0.98


def test_filters_apply_before_the_candidates_are_chosen(tmp_path: Path) -> None:
    rows, query = cluster(8000), cluster(1, seed=1)[0]
    index = make(np.arange(8000), rows, tmp_path / "x.binary")
    allowed = [Key(key) for key in range(0, 8000, 3)]
    expected = ExactIndex(np.arange(8000), [rows]).find_nearest(query, 10, allowed)
    assert len({*index.find_nearest(query, 10, allowed)} & {*expected}) >= 9


def test_rows_of_later_runs_are_compared_and_deleted_ones_are_not(tmp_path: Path) -> None:
    rows, path = cluster(8010), tmp_path / "x.binary"
    ExactIndex(np.arange(8000), [rows[:8000]]).write_binary(path, lambda *_: None)
    keys = np.arange(8010)
    keys[7] = key_file.TOMBSTONE
    index = ExactIndex(keys, [rows], None, open_binary_index(path, WIDTH, None))
    assert list_keys(index.find_nearest(rows[8009], 1)) == [8009]
    assert 7 not in list_keys(index.find_nearest(rows[7], 50))
    assert index.find_binary_fault() == ""


def test_equal_vectors_are_all_candidates_and_ties_go_to_the_smaller_key(tmp_path: Path) -> None:
    rows = np.repeat(cluster(1), 500, axis=0)
    index = make(np.arange(500), rows, tmp_path / "x.binary")
    assert list_keys(index.find_nearest(rows[0], 3)) == [0, 1, 2]


def test_signs_of_other_vectors_are_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "x.binary"
    make(np.arange(200), cluster(200), path)
    other = ExactIndex(
        np.arange(200), [cluster(200, seed=9)], None, open_binary_index(path, WIDTH, None)
    )
    assert other.find_binary_fault() == "differs from the vectors"


def write(vectors: LanceVectors, rows: Any, start: int) -> None:
    vectors.append(
        [
            VectorRow(Key(key), ChunkId(f"{key:032x}"), DocId(f"{key:032x}"), row)
            for key, row in enumerate(rows, start)
        ]
    )


def open_writer(data: Path, *, above: int = 1000) -> LanceVectors:
    return LanceVectors(data, "v", WIDTH, approximate_from=above)


def has_signs(data: Path) -> bool:
    index = MappedVectors(data, "v", WIDTH).load_index()
    assert index is not None
    return index.is_approximate


def test_a_large_index_gets_signs_and_a_small_one_loses_them(tmp_path: Path) -> None:
    vectors, rows, steps = open_writer(tmp_path), cluster(1200), list[tuple[int, int]]()
    write(vectors, rows[:999], 0)
    vectors.maintain()
    assert not has_signs(tmp_path)
    write(vectors, rows[999:], 999)
    vectors.maintain(lambda *step: steps.append(step))
    assert steps == [(1200, 1200)]
    assert has_signs(tmp_path)
    vectors.delete([Key(key) for key in range(300)])
    vectors.maintain()
    assert not has_signs(tmp_path)


def test_signs_are_written_again_when_many_vectors_were_added(tmp_path: Path) -> None:
    vectors, rows = open_writer(tmp_path), cluster(1300)
    path = key_file.get_binary_index_path(tmp_path, "v")
    write(vectors, rows[:1200], 0)
    vectors.maintain()
    before = path.read_bytes()
    write(vectors, rows[1200:1250], 1200)
    vectors.maintain()
    assert path.read_bytes() == before
    write(vectors, rows[1250:], 1250)
    vectors.maintain()
    assert path.read_bytes() != before


@pytest.mark.parametrize("place", [20, 5000, -1])
def test_damage_is_found_and_maintenance_repairs_it(tmp_path: Path, place: int) -> None:
    vectors = open_writer(tmp_path)
    write(vectors, cluster(1200), 0)
    vectors.maintain()
    path = key_file.get_binary_index_path(tmp_path, "v")
    content = bytearray(path.read_bytes())
    good, state = bytes(content), vectors.describe_files()
    content[place] ^= 1
    path.write_bytes(content)
    assert vectors.check_binary_index()
    assert vectors.describe_files() != state
    vectors.maintain()
    assert (vectors.check_binary_index(), path.read_bytes()) == ("", good)


def test_a_build_that_is_ended_leaves_the_old_state(tmp_path: Path) -> None:
    vectors, rows = open_writer(tmp_path), cluster(1300)
    write(vectors, rows[:1000], 0)
    vectors.maintain()
    path = key_file.get_binary_index_path(tmp_path, "v")
    before = path.read_bytes()
    write(vectors, rows[1000:], 1000)

    def end(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vectors.maintain(end)
    assert path.read_bytes() == before
    assert list_keys(MappedVectors(tmp_path, "v", WIDTH).find_nearest(rows[1100], 1)) == [1100]
    vectors.maintain()
    assert path.read_bytes() != before


_KILLED = """
import os, sys
from pathlib import Path
from kebab.store.lance.vectors import LanceVectors
if sys.argv[2] == "draft":
    os.fsync = lambda file: os._exit(9)
vectors = LanceVectors(Path(sys.argv[1]), "v", 96, approximate_from=1000)
vectors.maintain(lambda *_: os._exit(9) if sys.argv[2] == "signs" else None)
"""


@pytest.mark.parametrize("moment", ["signs", "draft"])
def test_a_killed_build_changes_nothing(tmp_path: Path, moment: str) -> None:
    vectors, rows = open_writer(tmp_path), cluster(1300)
    write(vectors, rows[:1000], 0)
    vectors.maintain()
    path = key_file.get_binary_index_path(tmp_path, "v")
    before = path.read_bytes()
    write(vectors, rows[1000:], 1000)
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), moment], check=False)
    assert (killed.returncode, path.read_bytes()) == (9, before)
    assert list_keys(MappedVectors(tmp_path, "v", WIDTH).find_nearest(rows[1100], 1)) == [1100]
    vectors.maintain()
    assert path.read_bytes() != before
    assert vectors.check_binary_index() == ""


def test_a_cleared_index_has_no_signs(tmp_path: Path) -> None:
    vectors = open_writer(tmp_path)
    write(vectors, cluster(1200), 0)
    vectors.maintain()
    vectors.clear()
    assert not key_file.get_binary_index_path(tmp_path, "v").exists()
