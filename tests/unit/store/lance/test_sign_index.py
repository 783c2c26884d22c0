from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kebab.store.lance import sign_index
from kebab.store.lance.sign_index import open_sign_index, write_sign_index


def write(path: Path, rows: Any, axes: Any = None) -> None:
    keys = np.arange(10, 10 + len(rows))
    write_sign_index(path, keys, rows, lambda start, end: rows[start:end], axes, lambda *_: None)


@pytest.mark.parametrize("width", [3, 64, 130])
def test_candidates_are_those_whose_signs_differ_least(tmp_path: Path, width: int) -> None:
    rows = np.random.default_rng(0).standard_normal((300, width)).astype(np.float32)
    query, path = rows[5], tmp_path / "x.signs"
    write(path, rows)
    index = open_sign_index(path, width, None)
    assert index is not None
    distances = ((rows > rows.mean(axis=0)) != (query > 0)).sum(axis=1)
    reached = np.sort(distances)[19]
    expected = (10 + np.flatnonzero(distances <= reached)).tolist()
    assert index.find_candidates(query, 20).tolist() == expected
    assert index.is_intact()


def test_a_file_is_of_one_dimension_and_of_some_axes(tmp_path: Path) -> None:
    path, axes = tmp_path / "x.signs", np.eye(1, 8, dtype=np.float32)
    write(path, np.eye(8, dtype=np.float32), axes)
    assert open_sign_index(path, 8, axes) is not None
    assert open_sign_index(path, 8, None) is None
    assert open_sign_index(path, 9, axes) is None


def test_a_file_that_is_not_whole_counts_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.signs"
    assert open_sign_index(path, 8, None) is None
    write(path, np.eye(8, dtype=np.float32))
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        assert open_sign_index(path, 8, None) is None


def test_where_open_files_stay_the_index_is_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.signs"
    write(path, np.eye(8, dtype=np.float32))
    monkeypatch.setattr(sign_index, "can_remove_open_files", lambda: False)
    index = open_sign_index(path, 8, None)
    assert index is not None
    assert index.is_intact()
    assert index.find_candidates(np.eye(8, dtype=np.float32)[2], 1).tolist() == [12]
