from contextlib import nullcontext

import pytest

from kebab.errors import system
from kebab.errors.catalog import OutOfMemory


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
    monkeypatch.setattr(system, "_read_used_address_space", lambda: (1 << 40) - 10)

    system.require_address_space(10)
    with pytest.raises(OutOfMemory):
        system.require_address_space(11)


def test_a_library_that_finds_no_memory_is_not_missing():
    text = "libx.so: failed to map segment from shared object"
    with pytest.raises(OutOfMemory), system.translate_import_errors("embedding", "numpy"):
        raise ImportError(text)
