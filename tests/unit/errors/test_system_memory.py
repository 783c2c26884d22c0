import os

import pytest

from kebab.errors import system
from kebab.errors.catalog import OutOfMemory
from kebab.errors.system import resolve_path


def test_a_library_that_finds_no_memory_is_not_missing():
    text = "libx.so: failed to map segment from shared object"
    with pytest.raises(OutOfMemory), system.translate_import_errors("embedding", "numpy"):
        raise ImportError(text)


def test_a_deleted_working_folder_leaves_the_path_unchanged(monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert resolve_path("a.md") == "a.md"
    os.chdir(tmp_path)
