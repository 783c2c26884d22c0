import errno
import os
import resource
from pathlib import Path

import numpy as np
import pytest

from kebab.core.ids import Key
from kebab.store.lance import key_file as subject
from kebab.store.lance.exact_index import ExactIndex
from kebab.store.lance.key_file import (
    LARGE_ROWS,
    TOMBSTONE,
    KeyFile,
    RunFinder,
    advise_pages,
    delete_leftovers,
)

ONE, TWO, THREE = (bytes([number]) * 16 for number in (1, 2, 3))


def vectors(*numbers):
    return np.array([[number, number + 0.5, 0] for number in numbers], np.float32).reshape(-1, 3)


def batch(*numbers):
    return np.array(numbers, np.int64), vectors(*numbers)


def write_data(table, files):
    """Write data files in turn, each with some bytes around its vectors."""
    (table / "data").mkdir(parents=True, exist_ok=True)
    for second, (name, matrix) in enumerate(files.items(), 1_000):
        path = table / "data" / f"{name}.lance"
        path.write_bytes(b"head" + matrix.astype("<f4").tobytes() + b"foot")
        os.utime(path, (second, second))


def store(table, files, numbers):
    """Return the mapped rows of one file after another."""
    write_data(table, files)
    key_file = KeyFile(table.with_suffix(".keys"), next(iter(files.values())).shape[1])
    matrix = np.concatenate(list(files.values()))
    key_file.write(ONE, RunFinder(table).find_runs([(numbers, matrix)]))
    return key_file.map_vectors(ONE)


@pytest.fixture
def table(tmp_path):
    return tmp_path / "lance" / "v.lance"


@pytest.fixture
def path(table):
    return table.with_suffix(".keys")


@pytest.fixture
def key_file(table, path):
    write_data(table, {"a": vectors(4, 2), "b": vectors(7), "c": vectors(9)})
    made = KeyFile(path, 3)
    made.write(ONE, RunFinder(table).find_runs([batch(4, 2), batch(7)]))
    return made


@pytest.fixture
def nine(table):
    """Return the runs of the row 9."""
    return lambda: RunFinder(table).find_runs([batch(9)])


def keys(key_file, digest):
    mapped = key_file.map_vectors(digest)
    return None if mapped is None else mapped[0].tolist()


def list_runs(table, *batches):
    runs = RunFinder(table).find_runs(batches)
    return [(run.file, run.offset, run.rows["key"].tolist()) for run in runs]


def test_rows_are_mapped_in_the_order_written(key_file):
    found, parts = key_file.map_vectors(ONE)
    assert found.tolist() == [4, 2, 7]
    assert np.array_equal(np.concatenate(parts), vectors(4, 2, 7))
    assert all(part.base is not None for part in parts)
    assert key_file.map_vectors(TWO) is None


def test_runs_follow_the_files_and_skip_deleted_rows(table, monkeypatch):
    monkeypatch.setattr(subject, "_HOLE_ROWS", 1)
    write_data(table, {"a": vectors(1, 2, 3, 4, 5, 6, 7), "b": vectors(8)})

    found = list_runs(table, batch(1, 3), batch(4, 7, 8))

    assert found == [
        ("a.lance", 4, [1, TOMBSTONE, 3, 4]),
        ("a.lance", 4 + 6 * 12, [7]),
        ("b.lance", 4, [8]),
    ]


def test_runs_have_a_greatest_length(table, monkeypatch):
    monkeypatch.setattr(subject, "RUN_ROWS", 2)
    monkeypatch.setattr(subject, "_ROWS_AT_ONCE", 2)
    write_data(table, {"a": vectors(1, 2, 3)})

    assert [run for *_, run in list_runs(table, batch(1, 2, 3))] == [[1, 2], [3]]


def test_the_newest_of_equal_vectors_is_found_and_repeated_ones_too(table):
    write_data(table, {"a": vectors(1, 2), "b": vectors(1, 2, 1)})

    (run,) = RunFinder(table).find_runs([(np.array([5, 6, 7]), vectors(1, 2, 1))])
    other = list_runs(table, (np.array([6, 5]), vectors(2, 1)), (np.array([7]), vectors(2)))

    assert run.file == "b.lance"
    assert [name for name, *_ in other] == ["b.lance", "a.lance"]


def test_a_vector_that_no_file_holds_is_an_error(table):
    write_data(table, {"a": vectors(1, 2)})

    with pytest.raises(LookupError):
        list_runs(table, batch(1, 3))


def test_deleted_rows_become_tombstones(key_file):
    key_file.delete_rows(ONE, TWO, np.array([2, 99], np.int64))

    assert keys(key_file, TWO) == [4, TOMBSTONE, 7]
    assert key_file.read_rows(TWO)["key"].tolist() == [4, TOMBSTONE, 7]
    assert key_file.read_rows(ONE) is None


def test_only_leftovers_of_kebab_are_deleted(tmp_path):
    kept = ["fastembed-a-3-v1.lance", "fastembed-a-3-v1.keys", "mine", ".fastembed-a"]
    gone = ["fastembed-a-3-v1.gone", "fastembed-b-3-v1.lance", "fastembed-b-3-v1.keys"]
    gone += ["fastembed-a-3-v1.f32"]  # of an earlier version
    for name in (*kept, *gone, ".fastembed-a-3-v1.keys.1"):
        if name.endswith((".lance", ".gone")):
            (tmp_path / name / "data").mkdir(parents=True)
        else:
            (tmp_path / name).touch()

    delete_leftovers(tmp_path, ["fastembed-a-3-v1"])
    delete_leftovers(tmp_path / "nowhere", [])

    assert {one.name for one in tmp_path.iterdir()} == set(kept)


def test_a_missing_file_has_no_rows(path, key_file):
    path.unlink()

    assert key_file.read_rows(ONE) is None


def test_runs_are_appended_only_to_the_expected_state(key_file, nine):
    key_file.append_runs(ONE, TWO, nine())
    assert (keys(key_file, ONE), keys(key_file, TWO)) == (None, [4, 2, 7, 9])
    key_file.append_runs(ONE, THREE, nine())
    assert keys(key_file, TWO) == [4, 2, 7, 9]


def test_mapped_rows_do_not_change(key_file, nine):
    found, parts = key_file.map_vectors(ONE)
    key_file.delete_rows(ONE, TWO, np.array([2]))
    key_file.append_runs(TWO, THREE, nine())
    assert (found.tolist(), sum(map(len, parts))) == ([4, 2, 7], 3)


def test_an_empty_table_has_an_empty_file(path, key_file, nine):
    key_file.write(ONE, [])
    assert keys(key_file, ONE) == []
    key_file.delete_rows(ONE, TWO, np.array([1]))
    key_file.append_runs(TWO, THREE, nine())
    assert keys(key_file, THREE) == [9]


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:-1],
        lambda raw: raw[:40],
        lambda raw: b"",
        lambda raw: bytes([raw[0] ^ 1]) + raw[1:],
        lambda raw: raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:],
    ],
)
def test_a_damaged_file_is_never_mapped(key_file, path, nine, damage):
    path.write_bytes(damage(path.read_bytes()))
    assert key_file.map_vectors(ONE) is None
    key_file.append_runs(ONE, TWO, nine())
    assert key_file.map_vectors(TWO) is None


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_data_file_that_changed_is_never_mapped_and_copies_are_what_is_left(
    key_file, table, damage
):
    data = table / "data" / "a.lance"
    if damage == "cut":
        os.truncate(data, 4 + 12 + 3)
    else:
        data.unlink()

    found, parts = key_file.map_copies()

    assert key_file.map_vectors(ONE) is None
    assert found.tolist() == ([4, 7] if damage == "cut" else [7])
    assert np.array_equal(np.concatenate(parts), vectors(*found))


def test_a_copy_has_its_checksum(key_file, table):
    data = table / "data" / "a.lance"
    raw = bytearray(data.read_bytes())
    raw[5] ^= 1
    data.write_bytes(raw)

    assert key_file.map_copies()[0].tolist() == [2, 7]


@pytest.mark.parametrize("fault", [OSError(errno.ENOMEM, "no memory"), ValueError("too long")])
def test_a_file_that_cannot_be_mapped_is_none(key_file, monkeypatch, fault):
    def refuse(*_):
        raise fault

    monkeypatch.setattr(np, "memmap", refuse)

    assert key_file.map_vectors(ONE) is None


def test_where_mapped_files_cannot_be_removed_they_are_read(key_file, monkeypatch):
    monkeypatch.setattr(subject, "can_remove_open_files", lambda: False)
    monkeypatch.delattr(np, "memmap")

    assert np.array_equal(np.concatenate(key_file.map_vectors(ONE)[1]), vectors(4, 2, 7))


def test_a_file_of_another_dimension_is_never_mapped(key_file, path):
    assert KeyFile(path, 4).map_vectors(ONE) is None


def test_an_interrupted_write_leaves_the_old_file_and_no_draft(key_file, path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        key_file.write(TWO, [])
    assert keys(key_file, ONE) == [4, 2, 7]
    assert {one.suffix for one in path.parent.iterdir()} == {".lance", ".keys"}


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

    advise_pages(mapped[5:], "DONTNEED")

    assert before - resident_bytes() > 20_000_000
    assert mapped[::2].sum() == total


def test_an_array_that_is_not_mapped_is_unchanged(tmp_path):
    own = np.arange(9)
    advise_pages(own, "DONTNEED")
    assert own.tolist() == list(range(9))


def test_the_first_query_of_a_large_file_reads_it_in_parts(tmp_path):
    rows, dimension = LARGE_ROWS + 20_000, 64
    dice = np.random.default_rng(1)
    matrix = dice.standard_normal((rows, dimension), np.float32)
    parts = store(tmp_path / "v.lance", {"a": matrix}, np.arange(rows))
    query = matrix[7] / np.linalg.norm(matrix[7])
    before = resident_bytes()

    index, held = ExactIndex(*parts), ExactIndex(np.arange(rows), [matrix])
    some = [Key(key) for key in range(0, rows, 400)]
    once, beside = index.find_nearest(query, 50), index.compute_cosines(matrix[9], some)

    assert resident_bytes() - before < matrix.nbytes / 2
    assert once == held.find_nearest(query, 50)
    assert beside == pytest.approx(held.compute_cosines(matrix[9], some), abs=2e-6)
    assert np.array_equal(index.get([Key(3)])[Key(3)], matrix[3])
    assert index.find_nearest(query.copy(), 50) == once
