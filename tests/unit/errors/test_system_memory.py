import os
from contextlib import nullcontext

import pytest

from kebab.errors import system
from kebab.errors.catalog import OutOfMemory
from kebab.errors.system import resolve_path


@pytest.mark.parametrize(
    ("limit", "size", "refused"),
    [(None, 1 << 50, False), (1 << 50, 1 << 20, False), (1 << 30, 1 << 40, True)],
)
def test_address_space_is_required_below_a_limit_only(monkeypatch, limit, size, refused):
    monkeypatch.setattr(system, "read_memory_limit", lambda: limit)

    with pytest.raises(OutOfMemory) if refused else nullcontext():
        system.require_address_space(size)


def test_the_address_space_in_use_counts(monkeypatch):
    monkeypatch.setattr(system, "read_memory_limit", lambda: 1 << 40)
    monkeypatch.setattr(system, "read_address_space", lambda: (1 << 40) - 10)

    system.require_address_space(10)
    with pytest.raises(OutOfMemory):
        system.require_address_space(11)


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
