import errno
import os
import resource
from pathlib import Path

import numpy as np
import pytest

from kebab.core.ids import Key
from kebab.store.lance.vector_file import (
    HEADER_BYTES,
    LARGE_ROWS,
    TOMBSTONE,
    Header,
    VectorFile,
    delete_leftovers,
    release_pages,
)
from kebab.store.lance.vectors import ExactIndex

ONE, TWO, THREE = (bytes([number]) * 16 for number in (1, 2, 3))


def batch(*keys):
    matrix = np.array([[key, key + 0.5, 0] for key in keys], np.float32).reshape(-1, 3)
    return np.array(keys, np.int64), matrix


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lance" / "v.f32"


@pytest.fixture
def vector_file(path):
    made = VectorFile(path, 3)
    made.write(ONE, [batch(4, 2), batch(7)])
    return made


def keys(vector_file, digest):
    mapped = vector_file.map_vectors(digest)
    return None if mapped is None else mapped[0].tolist()


def test_rows_are_mapped_in_the_order_written(vector_file):
    found, matrix = vector_file.map_vectors(ONE)
    assert found.tolist() == [4, 2, 7]
    assert np.array_equal(matrix, batch(4, 2, 7)[1])
    assert matrix.base is not None


def test_keys_are_read_without_mapping_and_in_parts(vector_file, monkeypatch):
    monkeypatch.setattr("kebab.store.lance.vector_file._READ_ROWS", 2)

    assert vector_file.read_keys(ONE).tolist() == [4, 2, 7]
    assert vector_file.read_keys(TWO) is None


def test_deleted_rows_are_synced_before_the_header_says_so(vector_file, path, monkeypatch):
    seen = []
    real = os.fsync

    def note(file):
        seen.append(keys(VectorFile(path, 3), ONE))
        real(file)

    monkeypatch.setattr(os, "fsync", note)

    vector_file.delete_rows(ONE, TWO, np.array([2], np.int64))

    assert seen == [[4, TOMBSTONE, 7]]
    assert keys(vector_file, TWO) == [4, TOMBSTONE, 7]


def test_only_leftovers_of_kebab_are_deleted(tmp_path):
    kept = ["fastembed-a-3-v1.lance", "fastembed-a-3-v1.f32", "mine", ".fastembed-a"]
    gone = ["fastembed-a-3-v1.gone", "fastembed-b-3-v1.lance", "fastembed-b-3-v1.f32"]
    for name in (*kept, *gone, ".fastembed-a-3-v1.f32.1"):
        if name.endswith((".lance", ".gone")):
            (tmp_path / name / "data").mkdir(parents=True)
        else:
            (tmp_path / name).touch()

    delete_leftovers(tmp_path, ["fastembed-a-3-v1"])
    delete_leftovers(tmp_path / "nowhere", [])

    assert {one.name for one in tmp_path.iterdir()} == set(kept)


def test_a_missing_file_has_no_keys(path, vector_file):
    path.unlink()

    assert vector_file.read_keys(ONE) is None


def test_rows_are_read_by_their_keys(vector_file):
    found, matrix = vector_file.read_rows(ONE, np.array([7, 4, 99]))

    assert found.tolist() == [4, 7]
    assert np.array_equal(matrix, batch(4, 7)[1])
    assert vector_file.read_rows(TWO, np.array([7])) is None


def test_rows_that_cannot_be_read_are_none(path, vector_file):
    assert vector_file.read_keys(ONE) is not None
    size = path.stat().st_size
    os.truncate(path, size - 1)

    assert vector_file.read_rows(ONE, np.array([7])) is None


def test_cached_keys_follow_updates(path, vector_file):
    assert vector_file.read_keys(ONE).tolist() == [4, 2, 7]
    vector_file.append_rows(ONE, TWO, batch(9))
    vector_file.delete_rows(TWO, THREE, np.array([2]))
    vector_file.update_digest(THREE, ONE)

    assert vector_file.read_keys(ONE).tolist() == [4, TOMBSTONE, 7, 9]
    assert keys(VectorFile(path, 3), ONE) == [4, TOMBSTONE, 7, 9]
    assert vector_file.read_rows(ONE, np.array([9, 2]))[0].tolist() == [9]


def test_keys_are_read_again_after_another_writer(path, vector_file):
    assert vector_file.read_keys(ONE).tolist() == [4, 2, 7]
    VectorFile(path, 3).append_rows(ONE, TWO, batch(9))

    assert vector_file.read_keys(ONE) is None
    assert vector_file.read_keys(TWO).tolist() == [4, 2, 7, 9]


def test_keys_are_read_again_from_a_replaced_file_of_the_same_state(path):
    ours, theirs = VectorFile(path, 3), VectorFile(path, 3)
    ours.write(ONE, [batch(1, 2, 3, 4, 5)])
    ours.delete_rows(ONE, TWO, np.array([1, 2]))
    theirs.write(TWO, [batch(3, 4, 5)])

    taken = ours.read_rows(TWO, np.array([5]))
    assert taken is not None
    assert [part.tolist() for part in taken] == [part.tolist() for part in batch(5)]
    ours.delete_rows(TWO, THREE, np.array([4]))
    assert keys(theirs, THREE) == [3, TOMBSTONE, 5]
    ours.append_rows(THREE, ONE, batch(9))
    assert keys(theirs, ONE) == [3, TOMBSTONE, 5, 9]


def test_another_state_of_the_table_is_refused(vector_file):
    assert vector_file.map_vectors(TWO) is None


def test_rows_are_appended_only_to_the_expected_state(vector_file):
    vector_file.append_rows(ONE, TWO, batch(9))
    assert (keys(vector_file, ONE), keys(vector_file, TWO)) == (None, [4, 2, 7, 9])
    vector_file.append_rows(ONE, THREE, batch(5))
    assert keys(vector_file, TWO) == [4, 2, 7, 9]


def test_deleted_rows_become_tombstones(vector_file):
    vector_file.delete_rows(ONE, TWO, np.array([2, 99]))
    assert keys(vector_file, TWO) == [4, TOMBSTONE, 7]


def test_mapped_rows_do_not_change(vector_file):
    found, matrix = vector_file.map_vectors(ONE)
    vector_file.delete_rows(ONE, TWO, np.array([2]))
    vector_file.append_rows(TWO, THREE, batch(9))
    assert (found.tolist(), len(matrix)) == ([4, 2, 7], 3)


def test_the_header_follows_commits_that_change_no_row(vector_file):
    vector_file.update_digest(ONE, TWO)
    assert keys(vector_file, TWO) == [4, 2, 7]
    vector_file.update_digest(ONE, THREE)
    assert keys(vector_file, THREE) is None


def test_an_empty_table_has_an_empty_file(path):
    vector_file = VectorFile(path, 3)
    vector_file.write(ONE, [])
    assert keys(vector_file, ONE) == []
    vector_file.delete_rows(ONE, TWO, np.array([1]))
    vector_file.append_rows(TWO, THREE, batch(1))
    assert keys(vector_file, THREE) == [1]


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:-1],
        lambda raw: raw[:40],
        lambda raw: b"",
        lambda raw: bytes([raw[0] ^ 1]) + raw[1:],
        lambda raw: raw[:16] + bytes([raw[16] ^ 1]) + raw[17:],
    ],
)
def test_a_damaged_file_is_never_mapped(vector_file, path, damage):
    path.write_bytes(damage(path.read_bytes()))
    assert vector_file.map_vectors(ONE) is None
    vector_file.append_rows(ONE, TWO, batch(9))
    assert vector_file.map_vectors(TWO) is None


@pytest.mark.parametrize("fault", [OSError(errno.ENOMEM, "no memory"), ValueError("too long")])
def test_a_file_that_cannot_be_mapped_is_none(vector_file, monkeypatch, fault):
    def refuse(*_):
        raise fault

    monkeypatch.setattr(np, "memmap", refuse)

    assert vector_file.map_vectors(ONE) is None


def test_a_file_of_another_dimension_is_never_mapped(vector_file, path):
    assert VectorFile(path, 4).map_vectors(ONE) is None


def test_an_interrupted_copy_leaves_the_old_file_and_no_draft(vector_file, path):
    def broken():
        yield batch(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vector_file.write(TWO, broken())
    assert keys(vector_file, ONE) == [4, 2, 7]
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupted_append_is_overwritten_by_the_next(vector_file, path):
    with path.open("ab") as file:
        file.write(b"half a row")
    vector_file.append_rows(ONE, TWO, batch(9))
    assert keys(vector_file, TWO) == [4, 2, 7, 9]


def test_a_removed_file_is_missing(vector_file, path):
    vector_file.delete_file()
    vector_file.delete_file()
    assert not path.exists()


STAMP = bytes(range(16))


def test_headers_survive_packing(tmp_path):
    header = Header(384, 2**40, STAMP)
    assert Header.unpack(header.pack()) == header
    with (tmp_path / "file").open("w+b") as file:
        file.write(bytes(2 * HEADER_BYTES))
        file.flush()
        header.write(file)
        file.seek(0)
        assert Header.unpack(file.read(HEADER_BYTES)) == header


@pytest.mark.parametrize("raw", [b"short", bytes(HEADER_BYTES)])
def test_bytes_that_are_not_a_header_are_none(raw):
    assert Header.unpack(raw) is None


def test_a_flipped_bit_is_noticed():
    raw = bytearray(Header(384, 5, STAMP).pack())
    raw[20] ^= 1
    assert Header.unpack(bytes(raw)) is None


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
