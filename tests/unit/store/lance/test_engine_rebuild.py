import numpy as np
import pytest

from kebab.store.lance import layout
from kebab.store.lance.engine import LanceTable, copied, rebuild
from kebab.store.lance.vector_file import Sidecar


@pytest.fixture
def table(tmp_path, make_rows):
    made = LanceTable(tmp_path, "v", 3)
    made.append(make_rows(1, 2))
    made.append(make_rows(3))
    return made


def sidecar(data_dir):
    return Sidecar(layout.sidecar_path(data_dir, "v"), 3)


def test_the_file_equals_the_table(table, tmp_path, make_rows):
    assert rebuild(tmp_path, "v", 3)
    keys, matrix = sidecar(tmp_path).map(layout.stamp(table.path))
    assert keys.tolist() == [1, 2, 3]
    assert np.array_equal(matrix, np.array([row.vector for row in make_rows(1, 2, 3)]))


def test_a_copy_in_memory_equals_the_table(table, tmp_path):
    keys, matrix = copied(tmp_path, "v", 3)
    assert (keys.tolist(), matrix.shape) == ([1, 2, 3], (3, 3))


def test_without_a_table_there_is_nothing_to_write(tmp_path):
    assert not rebuild(tmp_path, "v", 3)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_file_is_no_fault(table, tmp_path):
    layout.sidecar_path(tmp_path, "v").mkdir()
    assert not rebuild(tmp_path, "v", 3)


def test_a_table_that_moves_meanwhile_is_not_taken_for_either_state(
    table, tmp_path, make_rows, monkeypatch
):
    real = LanceTable.batches

    def overtaken(self):
        yield from real(self)
        table.append(make_rows(9))

    monkeypatch.setattr(LanceTable, "batches", overtaken)
    assert not rebuild(tmp_path, "v", 3)
    assert sidecar(tmp_path).header() is None
