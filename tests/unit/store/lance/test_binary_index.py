from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kebab.store.lance import binary_index
from kebab.store.lance.binary_index import open_binary_index, write_binary_index


def write(path: Path, rows: Any, axes: Any = None) -> None:
    keys = np.arange(10, 10 + len(rows))
    write_binary_index(path, keys, rows, lambda start, end: rows[start:end], axes, lambda *_: None)


@pytest.mark.parametrize("width", [3, 64, 130])
def test_candidates_have_the_highest_estimates(tmp_path: Path, width: int) -> None:
    rows = np.random.default_rng(0).standard_normal((300, width)).astype(np.float32)
    query, path = rows[5], tmp_path / "x.binary"
    write(path, rows)
    index = open_binary_index(path, width, None)
    assert index is not None
    mean = rows.mean(axis=0)
    direction = mean / np.linalg.norm(mean)
    moved = rows - mean
    rest = moved - np.outer(moved @ direction, direction)
    asked = query - query @ direction * direction
    differing = ((rest > 0) != (asked > 0)).mean(axis=1)
    lengths = np.linalg.norm(rest, axis=1) * np.linalg.norm(asked)
    estimates = moved @ direction * (query @ direction) + lengths * np.cos(np.pi * differing)
    found = index.find_candidates(query, 20).tolist()
    assert set((10 + np.argsort(-estimates)[:19]).tolist()) <= set(found)
    assert len(found) < 30
    assert len(index.find_candidates(query, 300)) == 300
    assert index.is_intact()


def test_many_estimates_are_cut_at_the_same_place_as_few() -> None:
    estimates = np.random.default_rng(0).standard_normal(100_000).astype(np.float32)
    floor = binary_index._find_floor(estimates, 4000)
    assert (estimates >= floor).sum() == 4000


def test_a_file_is_of_one_dimension_and_of_some_axes(tmp_path: Path) -> None:
    path, axes = tmp_path / "x.binary", np.eye(1, 8, dtype=np.float32)
    write(path, np.eye(8, dtype=np.float32), axes)
    assert open_binary_index(path, 8, axes) is not None
    assert open_binary_index(path, 8, None) is None
    assert open_binary_index(path, 9, axes) is None


def test_a_file_that_is_not_whole_counts_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.binary"
    assert open_binary_index(path, 8, None) is None
    write(path, np.eye(8, dtype=np.float32))
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        assert open_binary_index(path, 8, None) is None


def test_where_open_files_stay_the_index_is_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.binary"
    write(path, np.eye(8, dtype=np.float32))
    monkeypatch.setattr(binary_index, "can_remove_open_files", lambda: False)
    index = open_binary_index(path, 8, None)
    assert index is not None
    assert index.is_intact()
    assert index.find_candidates(np.eye(8, dtype=np.float32)[2], 1).tolist() == [12]
