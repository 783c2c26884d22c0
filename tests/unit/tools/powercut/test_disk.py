import pytest

from tools.powercut.disk import DataChange, Disk, apply_changes


@pytest.fixture
def disk():
    """A folder with a file of four bytes, both synced."""
    made = Disk()
    made.create("notes", is_folder=True)
    made.create("notes/a")
    made.write("notes/a", 0, b"old.")
    made.sync_all()
    return made


def read(state):
    return {path: content.read() for path, content in state.files.items()}


def list_outcomes(disk):
    """Return what each kind of loss leaves; chance decides nothing."""
    return {state.loss: read(state) for state in disk.list_states(1, 0)}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([DataChange(1, 1, b"XY")], b"oXY."),
        ([DataChange(1, 6, b"XY")], b"old.\0\0XY"),
        ([DataChange(1, 2, None)], b"ol"),
        ([DataChange(1, 6, None)], b"old.\0\0"),
        ([DataChange(1, 2, None), DataChange(2, 3, b"X")], b"ol\0X"),
    ],
)
def test_changes_are_applied_in_order(changes, expected):
    assert apply_changes(b"old.", changes) == expected


def test_what_was_synced_is_there_after_every_loss(disk):
    disk.write("notes/a", 0, b"new.")
    disk.create("notes/b")
    disk.sync("notes/a")
    disk.sync("notes")

    outcomes = list_outcomes(disk)

    assert all(found == {"notes/a": b"new.", "notes/b": b""} for found in outcomes.values())


def test_a_file_that_was_renamed_before_it_was_synced_may_be_empty(disk):
    disk.create("notes/draft")
    disk.write("notes/draft", 0, b"new")
    disk.rename("notes/draft", "notes/a")

    outcomes = list_outcomes(disk)

    assert outcomes["nothing"] == {"notes/a": b"new"}
    assert outcomes["all"] == outcomes["names"] == {"notes/a": b"old."}
    assert outcomes["data"] == {"notes/a": b""}
    assert outcomes["bytes, not sizes"] == {"notes/a": b"\0\0\0"}


def test_bytes_that_were_synced_never_become_zeros(disk):
    disk.write("notes/a", 2, b"1234")

    assert list_outcomes(disk)["bytes, not sizes"] == {"notes/a": b"old.\0\0"}


def test_the_last_write_may_be_torn_at_a_sector(disk):
    disk.write("notes/a", 0, b"x" * 2048)

    assert list_outcomes(disk)["end of the last write"] == {"notes/a": b"x" * 1024}


def test_one_file_may_be_lost_or_kept_alone(disk):
    disk.write("notes/a", 0, b"new.")
    disk.create("notes/b")
    disk.write("notes/b", 0, b"more")

    lost = [read(state) for state in disk.list_states(1, 0) if state.loss == "data of one file"]

    assert lost == [
        {"notes/a": b"old.", "notes/b": b"more"},
        {"notes/a": b"new.", "notes/b": b""},
    ]


def test_a_folder_keeps_only_names_that_were_synced_with_what_they_depend_on(disk):
    disk.create("other", is_folder=True)
    disk.create("other/draft")
    disk.rename("other/draft", "notes/a")
    disk.sync("notes")

    outcomes = list_outcomes(disk)

    assert outcomes["all"] == {"notes/a": b""}


def test_removed_names_may_come_back(disk):
    disk.remove("notes/a")

    outcomes = list_outcomes(disk)

    assert (outcomes["nothing"], outcomes["all"]) == ({}, {"notes/a": b"old."})


def test_chance_is_the_same_in_every_run(disk):
    for number in range(20):
        disk.write("notes/a", number, b"x")

    first, again = ([read(state) for state in disk.list_states(1, 5)] for _ in range(2))

    assert first == again
    assert len({found["notes/a"] for found in first}) > 5


def test_equal_disks_have_one_identity(disk):
    disk.sync("notes/a")
    states = list(disk.list_states(1, 3))

    assert len({state.identity for state in states}) == 1
    disk.write("notes/a", 0, b"new.")
    assert len({state.identity for state in disk.list_states(2, 0)}) > 1
