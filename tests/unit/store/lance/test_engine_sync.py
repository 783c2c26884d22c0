import os
from pathlib import Path

import pytest

from kebab.store.lance.engine import sync_new_files


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


def test_new_files_and_their_folders_are_waited_for(tmp_path, synced):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "old").touch()
    with sync_new_files(tmp_path):
        (tmp_path / "data" / "new").touch()
        (tmp_path / "_versions").mkdir()
        (tmp_path / "_versions" / "1.manifest").touch()
    names = ["data/new", "_versions/1.manifest", "data", "_versions", ""]
    assert sorted(synced) == sorted(str(tmp_path / name) for name in names)


def test_nothing_is_waited_for_when_the_work_failed(tmp_path, synced):
    with pytest.raises(KeyError), sync_new_files(tmp_path):
        raise KeyError
    assert synced == []


def test_a_table_that_came_to_nothing_is_no_fault(tmp_path, synced):
    with sync_new_files(tmp_path / "absent"):
        pass
    assert synced == []
