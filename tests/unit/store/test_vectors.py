"""The table and the snapshot that readers map, and what is made of killed runs and old files."""

import shutil
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest

from kebab.core.chunks import Key
from kebab.core.documents import VectorRow
from kebab.errors.catalog import IoError, StoreCorrupt
from kebab.store import vectors
from kebab.store.lance import LanceTable, import_lancedb
from kebab.store.vectors import LanceVectors, MappedVectors, list_vector_files

VERSION, DIMENSION = "fastembed-minilml6-8-v1", 8
TABLE = f"lance/{VERSION}.lance"


@pytest.fixture
def writer(tmp_path):
    return LanceVectors(tmp_path, VERSION, DIMENSION)


def draw(count, seed=3):
    matrix = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def store(writer, count, first=1):
    matrix = draw(count, first)
    writer.append([VectorRow(Key(first + i), row) for i, row in enumerate(matrix)])
    writer.save()
    return matrix


def read(tmp_path, axes=None):
    return MappedVectors(tmp_path, VERSION, DIMENSION, lambda: axes)


def forbid_lancedb(monkeypatch):
    def refuse(_self):
        raise AssertionError("the table was read")

    monkeypatch.setattr(LanceTable, "_connect", refuse)


def test_a_reader_maps_the_snapshot_and_needs_no_lancedb(writer, tmp_path, monkeypatch):
    matrix = store(writer, 20)
    forbid_lancedb(monkeypatch)

    found = read(tmp_path).load_index().find_nearest(matrix[4], 1)

    assert found == [(5, pytest.approx(1.0, abs=1e-3))]


def test_a_search_imports_no_lancedb(writer, tmp_path):
    store(writer, 3)
    program = (
        "import sys; from pathlib import Path; from kebab.store.vectors import MappedVectors;"
        f"print(MappedVectors(Path(sys.argv[1]), '{VERSION}', {DIMENSION}).load_index().count());"
        "print('lancedb' in sys.modules, 'pyarrow' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["3", "False", "False"]


@pytest.mark.parametrize("axes", [None, np.eye(DIMENSION, dtype=np.float32)[:1]])
@pytest.mark.parametrize("allowed", [None, range(1, 300, 7)])
def test_the_nearest_are_those_of_all_comparisons(writer, tmp_path, monkeypatch, axes, allowed):
    monkeypatch.setattr(vectors, "_BLOCK_ROWS", 64)
    matrix = store(writer, 300)
    query = draw(1, 99)[0]
    rest = matrix if axes is None else matrix - (matrix @ axes.T) @ axes
    asked = query if axes is None else query - (query @ axes.T) @ axes
    cosines = rest @ asked / np.linalg.norm(rest, axis=1) / np.linalg.norm(asked)
    wanted = [key for key in np.argsort(-cosines) + 1 if allowed is None or key in allowed]

    keys = None if allowed is None else [Key(key) for key in allowed]
    found = read(tmp_path, axes).load_index().find_nearest(query, 10, keys)

    assert [score for _, score in found] == pytest.approx(
        [cosines[key - 1] for key in wanted[:10]], abs=2e-3
    )


@pytest.mark.parametrize("lost", ["keys", "vectors", "both", "cut"])
def test_without_a_whole_snapshot_the_table_is_read_and_the_next_save_makes_one(
    writer, tmp_path, monkeypatch, lost
):
    store(writer, 5)
    for path in list_vector_files(tmp_path, VERSION):
        if lost == "cut":
            path.write_bytes(path.read_bytes()[:-9])
        elif lost in (path.name, "both") or f".{lost}." in path.name:
            path.unlink()

    assert read(tmp_path).load_index().count() == 5
    LanceVectors(tmp_path, VERSION, DIMENSION).save()
    forbid_lancedb(monkeypatch)
    assert read(tmp_path).load_index().count() == 5


def test_between_the_commit_and_the_snapshot_a_reader_has_what_the_library_marks(
    writer, tmp_path, monkeypatch
):
    store(writer, 5)
    writer.append([VectorRow(Key(9), draw(1)[0])])
    reader = read(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(writer, "_save_snapshot", lambda: forbid_lancedb(patch))
        writer.save()
        assert reader.load_index().count() == 5

    writer.save()
    assert reader.load_index().count() == 6


def test_two_readers_see_a_write_and_what_they_mapped_stays(writer, tmp_path):
    matrix = store(writer, 5)
    one, other = read(tmp_path), read(tmp_path)
    index = one.load_index()
    assert other.load_index().count() == 5

    writer.delete([Key(1)])
    store(writer, 3, 10)

    assert (one.load_index().count(), other.load_index().count()) == (7, 7)
    assert index.find_nearest(matrix[0], 1)[0][0] == 1
    assert len(list_vector_files(tmp_path, VERSION)) == 2
    assert len(list((tmp_path / "lance").glob("*.npy"))) == 2


def test_saving_without_a_change_writes_nothing(writer, tmp_path):
    store(writer, 5)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "lance").rglob("*")}

    LanceVectors(tmp_path, VERSION, DIMENSION).save()

    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "lance").rglob("*")}


@pytest.mark.parametrize("damage", ["data", "_versions", "missing"])
def test_a_write_to_a_table_that_cannot_be_read_keeps_the_vectors_of_the_snapshot(
    writer, tmp_path, damage
):
    matrix = store(writer, 5)
    for path in (tmp_path / TABLE / damage).rglob("*"):
        path.write_bytes(b"odd")
    if damage == "missing":
        shutil.rmtree(tmp_path / TABLE)

    again = LanceVectors(tmp_path, VERSION, DIMENSION)
    with pytest.raises(StoreCorrupt):
        again.list_keys(verify=True)
    again.delete([Key(1)])
    store(again, 1, 9)

    assert list(again.list_keys(verify=True)) == [2, 3, 4, 5, 9]
    assert read(tmp_path).load_index().find_nearest(matrix[2], 1)[0][0] == 3


def test_a_killed_call_that_makes_the_table_anew_loses_nothing(writer, tmp_path, monkeypatch):
    store(writer, 5)
    shutil.rmtree(tmp_path / TABLE)
    full = IoError(path="", op="write", cause="full")
    with monkeypatch.context() as killed:
        killed.setattr(import_lancedb().table.LanceTable, "add", Mock(side_effect=full))
        killed.setattr(LanceVectors, "_save_snapshot", Mock(side_effect=full))
        with pytest.raises(IoError):
            LanceVectors(tmp_path, VERSION, DIMENSION).list_keys()

    assert list(LanceVectors(tmp_path, VERSION, DIMENSION).list_keys()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("call", ["rebuild", "save"])
def test_a_damaged_table_without_a_snapshot_is_emptied(writer, tmp_path, call):
    store(writer, 5)
    for path in (*list_vector_files(tmp_path, VERSION), *(tmp_path / TABLE / "data").iterdir()):
        path.write_bytes(b"odd")

    again = LanceVectors(tmp_path, VERSION, DIMENSION)
    again.delete([Key(1)])
    getattr(again, call)()

    assert list(again.list_keys(verify=True)) == []


def test_only_what_belongs_to_the_versions_in_use_stays(writer, tmp_path):
    store(LanceVectors(tmp_path, "fastembed-other-8-v1", DIMENSION), 2)
    for name in (f"{VERSION}.keys", f"{VERSION}.binary", f".{VERSION}-1.keys.npy.123"):
        (tmp_path / "lance" / name).write_bytes(b"old")
    (tmp_path / "lance" / "notes of mine.txt").write_text("mine")

    store(writer, 2)

    kept = sorted(path.name for path in (tmp_path / "lance").iterdir())
    assert kept == [
        f"{VERSION}-1.keys.npy",
        f"{VERSION}-1.vectors.npy",
        f"{VERSION}.lance",
        "notes of mine.txt",
    ]


def test_many_small_commits_are_compacted_and_keep_their_rows(writer, tmp_path):
    for key in range(40):
        store(writer, 1, key)

    assert list(writer.list_keys(verify=True)) == list(range(40))
    assert len(list((tmp_path / TABLE / "data").iterdir())) < 30


def test_a_table_of_an_earlier_build_is_read_and_written_anew_by_the_first_write(writer, tmp_path):
    wide = pa.FixedSizeListArray.from_arrays(pa.array(draw(2).ravel()), DIMENSION)
    columns = {"key": pa.array([1, 2]), "chunk_id": pa.array(["a", "b"]), "vector": wide}
    folder = tmp_path / "lance"
    folder.mkdir()
    database = import_lancedb().connect(folder)
    database.create_table(VERSION, pa.table(columns))
    assert read(tmp_path).load_index().count() == 2

    store(writer, 1, 3)

    assert list(writer.list_keys(verify=True)) == [1, 2, 3]
    assert database.open_table(VERSION).schema.names == ["key", "vector"]
