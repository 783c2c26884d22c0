import numpy as np
import pytest

from kebab.core.ids import Key
from kebab.errors.catalog import StoreCorrupt
from kebab.store.lance import key_file
from kebab.store.lance.engine import LanceTable, load_rows, rebuild_key_file
from kebab.store.lance.key_file import KeyFile


@pytest.fixture
def table(tmp_path, make_rows):
    made = LanceTable(tmp_path, "v", 3)
    made.append(make_rows(1, 2))
    made.append(make_rows(3))
    return made


def open_key_file(data_dir):
    return KeyFile(key_file.get_key_file_path(data_dir, "v"), 3)


def test_the_rebuilt_file_equals_the_table(table, tmp_path, make_rows):
    assert rebuild_key_file(tmp_path, "v", 3)
    keys, parts = open_key_file(tmp_path).map_vectors(key_file.read_table_digest(table.path))
    assert keys.tolist() == [1, 2, 3]
    assert np.array_equal(
        np.concatenate(parts), np.array([row.vector for row in make_rows(1, 2, 3)])
    )


def test_a_copy_in_memory_equals_the_table(table, tmp_path):
    keys, parts = load_rows(tmp_path, "v", 3)
    assert (keys.tolist(), sum(map(len, parts))) == ([1, 2, 3], 3)


def test_without_a_table_there_is_nothing_to_write(tmp_path):
    assert not rebuild_key_file(tmp_path, "v", 3)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_not_an_error(table, tmp_path):
    key_file.get_key_file_path(tmp_path, "v").mkdir()
    assert not rebuild_key_file(tmp_path, "v", 3)


def test_a_table_that_changes_during_a_rebuild_leaves_no_file(
    table, tmp_path, make_rows, monkeypatch
):
    real = LanceTable.iterate_batches

    def overtaken(self):
        yield from real(self)
        table.append(make_rows(9))

    monkeypatch.setattr(LanceTable, "iterate_batches", overtaken)
    assert not rebuild_key_file(tmp_path, "v", 3)
    assert not key_file.get_key_file_path(tmp_path, "v").exists()


def test_a_version_that_is_deleted_during_a_rebuild_is_not_damaged(table, tmp_path, monkeypatch):
    real = LanceTable.iterate_batches

    def overtaken(self):
        self.list_keys()
        table.delete([Key(1), Key(3)])
        assert table.maintain()
        yield from real(self)

    monkeypatch.setattr(LanceTable, "iterate_batches", overtaken)
    assert not rebuild_key_file(tmp_path, "v", 3)
    assert not key_file.get_key_file_path(tmp_path, "v").exists()


def test_a_damaged_table_cannot_be_rebuilt(table, tmp_path):
    for file in (table.path / "data").iterdir():
        file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(StoreCorrupt):
        rebuild_key_file(tmp_path, "v", 3)
