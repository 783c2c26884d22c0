import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kebab.errors.catalog import StoreCorrupt
from kebab.store.lance import vector_file
from kebab.store.lance import vectors as vector_search
from kebab.store.lance.vector_file import VectorFile
from kebab.store.lance.vectors import LanceVectors, MappedVectors

ROOT = Path(__file__).parents[4]
X = np.array([1, 0, 0], np.float32)
SEARCH = """
import sys
from pathlib import Path
import numpy as np
from kebab.store.lance.vectors import MappedVectors
vectors = MappedVectors(Path(sys.argv[1]), "v", 3)
print([key for key, _ in vectors.find_nearest(np.array([1, 0, 0], np.float32), 2)])
print(sorted({"lancedb", "pyarrow"} & set(sys.modules)))
"""


@pytest.fixture
def writer(tmp_path, make_rows):
    made = LanceVectors(tmp_path, "v", 3)
    made.append(make_rows(0, 1, 2))
    return made


def found(data_dir):
    return [key for key, _ in MappedVectors(data_dir, "v", 3).find_nearest(X, 9)]


def test_a_search_does_not_import_the_database(writer, tmp_path):
    command = [sys.executable, "-c", SEARCH, str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[0, 1]\n[]\n"
    assert run.stderr == ""


def test_one_index_follows_the_table_while_it_grows_and_shrinks(writer, tmp_path, make_rows):
    vectors = MappedVectors(tmp_path, "v", 3)
    assert vectors.count() == 3
    writer.append(make_rows(3))
    assert vectors.count() == 4
    writer.delete([0])
    assert [key for key, _ in vectors.find_nearest(X, 1)] == [1]


def test_a_missing_vector_file_is_rebuilt(writer, tmp_path):
    path = vector_file.get_vector_file_path(tmp_path, "v")
    path.unlink()
    assert found(tmp_path) == [0, 1, 2]
    assert path.exists()


def test_an_outdated_vector_file_is_not_used(writer, tmp_path, make_rows):
    path = vector_file.get_vector_file_path(tmp_path, "v")
    old = path.read_bytes()
    writer.append(make_rows(5))
    path.write_bytes(old)
    assert found(tmp_path) == [0, 1, 2, 5]


def test_search_works_when_the_vector_file_cannot_be_written(writer, tmp_path):
    path = vector_file.get_vector_file_path(tmp_path, "v")
    path.unlink()
    path.mkdir()
    assert found(tmp_path) == [0, 1, 2]


def test_a_damaged_table_without_a_vector_file_is_corrupt(writer, tmp_path):
    vector_file.get_vector_file_path(tmp_path, "v").unlink()
    for file in (vector_file.get_table_path(tmp_path, "v") / "data").iterdir():
        file.write_bytes(b"junk")
    with pytest.raises(StoreCorrupt):
        found(tmp_path)


def test_a_read_only_reader_writes_no_vector_file(writer, tmp_path):
    path = vector_file.get_vector_file_path(tmp_path, "v")
    path.unlink()

    vectors = MappedVectors(tmp_path, "v", 3, keep=False)

    assert [key for key, _ in vectors.find_nearest(X, 2)] == [0, 1]
    assert not path.exists()


def test_a_rebuilt_vector_file_is_mapped_and_the_table_not_read_again(
    writer, tmp_path, monkeypatch
):
    def refuse(*_):
        raise AssertionError("the table is read into memory")

    vector_file.get_vector_file_path(tmp_path, "v").unlink()
    monkeypatch.setattr(vector_search, "load_rows", refuse)

    assert found(tmp_path) == [0, 1, 2]


def test_a_rebuilt_vector_file_that_cannot_be_mapped_is_replaced_by_memory(
    writer, tmp_path, monkeypatch
):
    monkeypatch.setattr(VectorFile, "map_vectors", lambda _file, _digest: None)

    assert found(tmp_path) == [0, 1, 2]


@pytest.fixture
def late(writer, make_rows, monkeypatch):
    """Commit a row, but leave the vector file behind; return the call that lets it follow."""
    calls = []
    follow = VectorFile.append_rows
    monkeypatch.setattr(VectorFile, "append_rows", lambda *call: calls.append(call))
    writer.append(make_rows(9))
    return lambda: [follow(*calls.pop()) for _ in calls]


def test_a_reader_waits_until_the_vector_file_follows_a_commit(late, tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("the table is read")

    monkeypatch.setattr("kebab.store.lance.vectors.time.sleep", lambda _: late())
    monkeypatch.setattr(vector_search, "rebuild_vector_file", refuse)

    assert sorted(found(tmp_path)) == [0, 1, 2, 9]


def test_a_reader_waits_only_shortly(late, tmp_path):
    assert sorted(found(tmp_path)) == [0, 1, 2, 9]


def test_a_reader_does_not_wait_for_a_writer_of_long_ago(late, writer, tmp_path, monkeypatch):
    def refuse(_):
        raise AssertionError("the reader waits")

    newest = vector_file.list_manifests(vector_file.get_table_path(tmp_path, "v"))[0]
    os.utime(newest, (1, 1))
    monkeypatch.setattr("kebab.store.lance.vectors.time.sleep", refuse)

    assert sorted(found(tmp_path)) == [0, 1, 2, 9]
