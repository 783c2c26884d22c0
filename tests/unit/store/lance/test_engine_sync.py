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


def test_new_files_and_their_folders_are_synced(tmp_path, synced):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "old").touch()
    with sync_new_files(tmp_path):
        (tmp_path / "data" / "new").touch()
        (tmp_path / "_versions").mkdir()
        (tmp_path / "_versions" / "1.manifest").touch()
    names = ["data/new", "_versions/1.manifest", "data", "_versions", ""]
    assert sorted(synced) == sorted(str(tmp_path / name) for name in names)


def test_nothing_is_synced_when_the_block_failed(tmp_path, synced):
    with pytest.raises(KeyError), sync_new_files(tmp_path):
        raise KeyError
    assert synced == []


def test_a_missing_table_is_not_an_error(tmp_path, synced):
    with sync_new_files(tmp_path / "absent"):
        pass
    assert synced == []
