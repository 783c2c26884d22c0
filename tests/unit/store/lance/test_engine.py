import os
import shutil
from pathlib import Path

import pytest

from kebab.core.ids import Key
from kebab.errors.catalog import IoError, StoreCorrupt
from kebab.store.lance import key_file
from kebab.store.lance.engine import LanceTable, sync_new_files


@pytest.fixture
def table(tmp_path, make_rows):
    made = LanceTable(tmp_path, "v", 3)
    made.append(make_rows(1, 2, 3))
    return made


def keys(table):
    return sorted(key for batch, _ in table.iterate_batches() for key in batch.tolist())


def test_a_new_table_opens_nothing(tmp_path):
    table = LanceTable(tmp_path, "v", 3)
    assert (table.exists(), table.is_open) == (False, False)
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_of_noise_is_a_damaged_table(table, tmp_path):
    for manifest in key_file.list_manifests(table.path):
        manifest.write_bytes(b"\xff" * manifest.stat().st_size)

    with pytest.raises(StoreCorrupt):
        list(LanceTable(tmp_path, "v", 3).iterate_batches())


def test_an_append_reports_whether_it_created_the_table(tmp_path, make_rows):
    made = LanceTable(tmp_path, "new", 3)

    assert made.append(make_rows(1))
    assert not made.append(make_rows(2))
    assert not LanceTable(tmp_path, "new", 3).append(make_rows(3))


def test_each_append_is_one_commit(table, make_rows):
    table.append(make_rows(*range(10, 500)))
    assert len(key_file.list_manifests(table.path)) == 2
    assert len(keys(table)) == 493


def test_another_handle_sees_what_was_written(table, tmp_path):
    assert keys(LanceTable(tmp_path, "v", 3)) == [1, 2, 3]


def test_rows_are_deleted_by_key(table):
    table.delete([Key(1), Key(3), Key(77)])
    assert keys(table) == [2]


def test_long_lists_are_deleted_in_slices(table, make_rows, monkeypatch):
    monkeypatch.setattr("kebab.store.lance.engine._KEYS_PER_DELETE", 2)
    table.append(make_rows(*range(10, 20)))
    table.delete([Key(key) for key in range(2, 15)])
    assert keys(table) == [1, 15, 16, 17, 18, 19]


def test_many_fragments_are_compacted_into_few(table, make_rows):
    assert not table.maintain()
    for key in range(10, 20):
        table.append(make_rows(key))
    assert table.maintain()
    assert not table.maintain()
    assert keys(table) == [1, 2, 3, *range(10, 20)]


def list_files(table):
    return [path for path in table.path.rglob("*") if path.is_file()]


def test_many_small_edits_leave_few_files(table, make_rows):
    counts, versions = [], []
    for key in range(10, 60):
        table.append(make_rows(key))
        table.delete([Key(key - 1)])
        table.maintain()
        counts.append(len(list_files(table)))
        versions.append(len(key_file.list_manifests(table.path)))
    assert keys(table) == [1, 2, 3, 59]
    assert max(counts) <= 60
    assert max(versions) <= 16


def test_maintenance_deletes_what_a_killed_call_has_left(table, make_rows):
    left = table.path / "data" / "10110011010011000100110161e0bc4a05b7f0a8a4b7a7e1d7.lance"
    left.write_bytes(b"half a file")
    table.delete([Key(1)])
    assert table.maintain()
    assert not left.exists()
    assert len(list_files(table)) <= 5


def test_old_files_are_deleted_only_after_the_new_ones_are_on_the_disk(table, monkeypatch):
    (old,) = (table.path / "data").iterdir()
    table.delete([Key(1)])
    kept = []
    monkeypatch.setattr(os, "fsync", lambda _: kept.append(old.exists()))
    assert table.maintain()
    assert kept
    assert all(kept)
    assert not old.exists()


@pytest.mark.parametrize("read", [LanceTable.list_keys, keys])
def test_a_reader_whose_version_is_deleted_reads_the_latest_one(table, tmp_path, read):
    reader = LanceTable(tmp_path, "v", 3)
    assert len(reader.list_keys()) == 3
    table.delete([Key(1)])
    assert table.maintain()
    assert sorted(reader.read_latest(lambda: read(reader))) == [2, 3]


def test_two_writers_in_turn_see_what_the_other_wrote(table, tmp_path, make_rows):
    """A process that stays open keeps its table while another one writes and deletes versions."""
    other = LanceTable(tmp_path, "v", 3)
    for key in range(10, 50, 2):
        table.append(make_rows(key))
        table.maintain()
        other.append(make_rows(key + 1))
        other.delete([Key(key)])
        other.maintain()
        table.delete([Key(key - 1)])
    assert keys(table) == keys(other) == [1, 2, 3, 49]


def test_a_table_that_another_process_has_dropped_is_created_again(table, tmp_path, make_rows):
    LanceTable(tmp_path, "v", 3).drop()
    assert table.append(make_rows(5))
    assert keys(table) == [5]


def test_a_damaged_table_is_not_read_for_ever(table, tmp_path):
    reader = LanceTable(tmp_path, "v", 3)
    reader.list_keys()
    table.delete([Key(1)])
    assert table.maintain()
    damage_data(table.path)
    with pytest.raises(StoreCorrupt):
        reader.list_keys()


def test_a_large_share_of_deleted_rows_is_compacted(table):
    table.delete([Key(1)])
    assert table.maintain()
    assert keys(table) == [2, 3]


def test_a_dropped_table_can_be_created_again(table, make_rows):
    table.drop()
    assert not table.exists()
    assert list(table.path.parent.iterdir()) == []
    table.append(make_rows(5))
    assert keys(table) == [5]


def test_what_a_killed_drop_has_left_is_deleted(table, make_rows):
    left = table.path.with_suffix(".gone")
    (left / "data").mkdir(parents=True)

    table.drop()
    assert list(table.path.parent.iterdir()) == []

    table.append(make_rows(5))
    (left / "data").mkdir(parents=True)
    table.drop()
    assert list(table.path.parent.iterdir()) == []


def test_a_table_that_cannot_be_dropped_is_an_io_error(tmp_path):
    table = LanceTable(tmp_path, "v", 3)
    table.path.parent.write_text("a file, where the folder of the tables should be")

    with pytest.raises(IoError):
        table.drop()


def damage_data(path):
    for file in (path / "data").iterdir():
        file.write_bytes(file.read_bytes()[:20])


def damage_manifest(path):
    for file in key_file.list_manifests(path):
        file.write_bytes(b"junk")


@pytest.mark.parametrize(
    "damage",
    [damage_data, damage_manifest, lambda path: shutil.rmtree(path / "data")],
    ids=["data", "manifest", "lost"],
)
def test_a_damaged_table_is_corrupt(table, tmp_path, damage):
    damage(table.path)
    with pytest.raises(StoreCorrupt) as caught:
        keys(LanceTable(tmp_path, "v", 3))
    assert caught.value.path == str(table.path)


def test_nothing_reaches_the_channels(tmp_path, make_rows, capfd):
    table = LanceTable(tmp_path, "v", 3)
    for key in range(12):
        table.append(make_rows(key))
    table.delete([Key(1)])
    table.maintain()
    assert len(keys(table)) == 11
    assert capfd.readouterr() == ("", "")


def test_a_large_table_may_have_more_fragments(table, make_rows, monkeypatch):
    monkeypatch.setattr("kebab.store.lance.engine._FRAGMENTS_PER_ROOT", 2)
    for key in range(10, 20):
        table.append(make_rows(key))
    assert not table.maintain()


@pytest.mark.timeout(60)
def test_a_table_that_cannot_be_opened_is_damaged_and_not_tried_for_ever(tmp_path, make_rows):
    LanceTable(tmp_path, "v", 3).append(make_rows(1))
    table = LanceTable(tmp_path, "v", 3)
    for manifest in key_file.list_manifests(table.path):
        manifest.write_bytes(b"no manifest")

    with pytest.raises(StoreCorrupt):
        table.list_keys()


@pytest.fixture
def synced(monkeypatch):
    """Return the list of paths whose content was waited for."""
    paths = []
    real = os.fsync

    def noted(file):
        paths.append(str(Path(f"/proc/self/fd/{file}").readlink()))
        real(file)

    monkeypatch.setattr(os, "fsync", noted)
    return paths


def test_new_files_and_their_folders_are_synced(tmp_path, synced):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "old").touch()
    with sync_new_files(tmp_path):
        (tmp_path / "data" / "new").touch()
        (tmp_path / "_versions").mkdir()
        (tmp_path / "_versions" / "1.manifest").touch()
    names = ["data/new", "_versions/1.manifest", "data", "_versions", ""]
    assert sorted(synced) == sorted(str(tmp_path / name) for name in names)


def test_the_folder_of_a_new_table_is_synced_too(tmp_path, synced):
    table = tmp_path / "lance" / "v.lance"
    with sync_new_files(table):
        (table / "data").mkdir(parents=True)
        (table / "data" / "new").touch()
    assert {str(table.parent), str(tmp_path)} <= set(synced)


def empty_manifest(table):
    key_file.list_manifests(table.path)[0].write_bytes(b"")


def empty_rows(table):
    max((table.path / "data").iterdir(), key=os.path.getmtime).write_bytes(b"")


def remove_rows(table):
    max((table.path / "data").iterdir(), key=os.path.getmtime).unlink()


@pytest.mark.parametrize("lose", [empty_manifest, empty_rows, remove_rows])
def test_a_commit_that_was_lost_costs_no_earlier_one(table, tmp_path, make_rows, lose):
    table.append(make_rows(4))
    lose(table)
    again = LanceTable(tmp_path, "v", 3)
    with pytest.raises(StoreCorrupt):
        keys(again)

    assert again.restore()
    assert keys(again) == [1, 2, 3]
    again.append(make_rows(5, 6))
    assert keys(again) == keys(LanceTable(tmp_path, "v", 3)) == [1, 2, 3, 5, 6]


def test_a_table_without_a_readable_version_cannot_be_restored(table):
    empty_rows(table)
    assert not table.restore()
    assert not table.exists()


def test_nothing_is_synced_when_the_block_failed(tmp_path, synced):
    with pytest.raises(KeyError), sync_new_files(tmp_path):
        raise KeyError
    assert synced == []


def test_a_missing_table_is_not_an_error(tmp_path, synced):
    with sync_new_files(tmp_path / "absent"):
        pass
    assert synced == []
