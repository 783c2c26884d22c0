import errno
import os

import numpy as np
import pytest

from kebab.store.lance.vector_file import DEAD, Sidecar

ONE, TWO, THREE = (bytes([number]) * 16 for number in (1, 2, 3))


def batch(*keys):
    matrix = np.array([[key, key + 0.5, 0] for key in keys], np.float32).reshape(-1, 3)
    return np.array(keys, np.int64), matrix


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lance" / "v.f32"


@pytest.fixture
def sidecar(path):
    made = Sidecar(path, 3)
    made.create(ONE, [batch(4, 2), batch(7)])
    return made


def keys(sidecar, stamp):
    mapped = sidecar.map(stamp)
    return None if mapped is None else mapped[0].tolist()


def test_rows_are_mapped_in_the_order_written(sidecar):
    found, matrix = sidecar.map(ONE)
    assert found.tolist() == [4, 2, 7]
    assert np.array_equal(matrix, batch(4, 2, 7)[1])
    assert matrix.base is not None


def test_keys_are_read_without_mapping_and_in_parts(sidecar, monkeypatch):
    monkeypatch.setattr("kebab.store.lance.vector_file._PART", 2)

    assert sidecar.keys(ONE).tolist() == [4, 2, 7]
    assert sidecar.keys(TWO) is None


def test_keys_of_a_file_that_is_gone_are_not_there(path, sidecar):
    path.unlink()

    assert sidecar.keys(ONE) is None


def test_rows_are_taken_by_their_keys(sidecar):
    found, matrix = sidecar.take(ONE, np.array([7, 4, 99]))

    assert found.tolist() == [4, 7]
    assert np.array_equal(matrix, batch(4, 7)[1])
    assert sidecar.take(TWO, np.array([7])) is None


def test_rows_that_cannot_be_read_are_not_taken(path, sidecar):
    assert sidecar.keys(ONE) is not None
    size = path.stat().st_size
    os.truncate(path, size - 1)

    assert sidecar.take(ONE, np.array([7])) is None


def test_keys_once_read_follow_what_is_done(path, sidecar):
    assert sidecar.keys(ONE).tolist() == [4, 2, 7]
    sidecar.extend(ONE, TWO, batch(9))
    sidecar.bury(TWO, THREE, np.array([2]))
    sidecar.restamp(THREE, ONE)

    assert sidecar.keys(ONE).tolist() == [4, DEAD, 7, 9]
    assert keys(Sidecar(path, 3), ONE) == [4, DEAD, 7, 9]
    assert sidecar.take(ONE, np.array([9, 2]))[0].tolist() == [9]


def test_keys_of_a_file_that_another_wrote_are_read_again(path, sidecar):
    assert sidecar.keys(ONE).tolist() == [4, 2, 7]
    Sidecar(path, 3).extend(ONE, TWO, batch(9))

    assert sidecar.keys(ONE) is None
    assert sidecar.keys(TWO).tolist() == [4, 2, 7, 9]


def test_keys_are_read_again_when_another_put_a_new_file_of_the_same_state_there(path):
    ours, theirs = Sidecar(path, 3), Sidecar(path, 3)
    ours.create(ONE, [batch(1, 2, 3, 4, 5)])
    ours.bury(ONE, TWO, np.array([1, 2]))
    theirs.create(TWO, [batch(3, 4, 5)])

    taken = ours.take(TWO, np.array([5]))
    assert taken is not None
    assert [part.tolist() for part in taken] == [part.tolist() for part in batch(5)]
    ours.bury(TWO, THREE, np.array([4]))
    assert keys(theirs, THREE) == [3, DEAD, 5]
    ours.extend(THREE, ONE, batch(9))
    assert keys(theirs, ONE) == [3, DEAD, 5, 9]


def test_another_state_of_the_table_is_refused(sidecar):
    assert sidecar.map(TWO) is None


def test_rows_are_added_only_to_the_expected_state(sidecar):
    sidecar.extend(ONE, TWO, batch(9))
    assert (keys(sidecar, ONE), keys(sidecar, TWO)) == (None, [4, 2, 7, 9])
    sidecar.extend(ONE, THREE, batch(5))
    assert keys(sidecar, TWO) == [4, 2, 7, 9]


def test_rows_are_buried_in_place(sidecar):
    sidecar.bury(ONE, TWO, np.array([2, 99]))
    assert keys(sidecar, TWO) == [4, DEAD, 7]


def test_what_a_reader_has_mapped_stays_as_it_was(sidecar):
    found, matrix = sidecar.map(ONE)
    sidecar.bury(ONE, TWO, np.array([2]))
    sidecar.extend(TWO, THREE, batch(9))
    assert (found.tolist(), len(matrix)) == ([4, 2, 7], 3)


def test_the_header_moves_along_with_commits_that_change_no_row(sidecar):
    sidecar.restamp(ONE, TWO)
    assert keys(sidecar, TWO) == [4, 2, 7]
    sidecar.restamp(ONE, THREE)
    assert keys(sidecar, THREE) is None


def test_an_empty_table_has_an_empty_file(path):
    sidecar = Sidecar(path, 3)
    sidecar.create(ONE, [])
    assert keys(sidecar, ONE) == []
    sidecar.bury(ONE, TWO, np.array([1]))
    sidecar.extend(TWO, THREE, batch(1))
    assert keys(sidecar, THREE) == [1]


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
def test_a_damaged_file_is_never_mapped(sidecar, path, damage):
    path.write_bytes(damage(path.read_bytes()))
    assert sidecar.map(ONE) is None
    sidecar.extend(ONE, TWO, batch(9))
    assert sidecar.map(TWO) is None


@pytest.mark.parametrize("fault", [OSError(errno.ENOMEM, "no memory"), ValueError("too long")])
def test_a_file_that_the_system_does_not_map_is_as_good_as_none(sidecar, monkeypatch, fault):
    def refuse(*_):
        raise fault

    monkeypatch.setattr(np, "memmap", refuse)

    assert sidecar.map(ONE) is None


def test_a_file_of_another_dimension_is_never_mapped(sidecar, path):
    assert Sidecar(path, 4).map(ONE) is None


def test_an_interrupted_copy_leaves_the_old_file_and_no_draft(sidecar, path):
    def broken():
        yield batch(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sidecar.create(TWO, broken())
    assert keys(sidecar, ONE) == [4, 2, 7]
    assert list(path.parent.iterdir()) == [path]


def test_an_addition_that_was_cut_short_is_overwritten_by_the_next(sidecar, path):
    with path.open("ab") as file:
        file.write(b"half a row")
    sidecar.extend(ONE, TWO, batch(9))
    assert keys(sidecar, TWO) == [4, 2, 7, 9]


def test_a_removed_file_is_missing(sidecar):
    sidecar.remove()
    sidecar.remove()
    assert sidecar.header() is None
