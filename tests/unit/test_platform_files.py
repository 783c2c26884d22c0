import os
from pathlib import Path

import pytest

from kebab import platform
from kebab.config.load import keep_copy, replace_settings_file
from kebab.platform import hold_lock
from kebab.review.items import FixedFile, write_file
from kebab.server.guard import TOKEN_NAME, load_token
from kebab.wire.review import AppliedFile


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Return the list of syncs and renames below the folder, as (what, name) in their order."""
    found = []

    def name(path):
        return Path(os.fsdecode(path)).relative_to(tmp_path).as_posix()

    def watch(module, attribute, describe):
        real = getattr(module, attribute)

        def noted(*arguments):
            result = real(*arguments)
            found.append(describe(*arguments))
            return result

        monkeypatch.setattr(module, attribute, noted)

    watch(os, "fsync", lambda file: ("sync", name(Path(f"/proc/self/fd/{file}").readlink())))
    watch(os, "replace", lambda _, target: ("rename", name(target)))
    return found


def replace_settings(folder):
    replace_settings_file(folder / "file", b"new")


def copy_settings(folder):
    keep_copy(folder / "file", "new")


def write_token(folder):
    load_token(folder)


def apply_fixes(folder):
    write_file(
        FixedFile(
            path=folder / "file",
            before=b"old",
            after=b"new",
            reply=AppliedFile(file="file", backup=None, applied=1, overlapping=0, diff=""),
            refused=0,
        )
    )


@pytest.mark.parametrize(
    ("write", "names"),
    [
        (replace_settings, ["file"]),
        (copy_settings, []),
        (write_token, [TOKEN_NAME]),
        (apply_fixes, ["file"]),
    ],
)
def test_a_file_is_synced_before_its_name_and_its_folder_after(tmp_path, calls, write, names):
    (tmp_path / "file").write_bytes(b"old")

    write(tmp_path)

    assert [name for what, name in calls if what == "rename"] == names
    first, last = calls[0], calls[-1]
    assert first[0] == "sync"
    assert first[1] != "."
    assert last == ("sync", ".")


def test_the_copy_of_an_original_has_its_name_before_the_original_is_replaced(tmp_path, calls):
    (tmp_path / "file").write_bytes(b"old")

    apply_fixes(tmp_path)

    renamed = calls.index(("rename", "file"))
    assert calls[:renamed].index(("sync", "file.orig")) < calls[:renamed].index(("sync", "."))


def test_a_file_stays_as_it_was_when_its_draft_fails(tmp_path):
    target = tmp_path / "a.txt"
    target.write_bytes(b"old")

    def fail_in_the_middle():
        with platform.replace_file(target) as draft:
            draft.write(b"new")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - its own
        fail_in_the_middle()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_a_lock_is_held_by_one_at_a_time_and_freed_at_its_end(tmp_path):
    path = tmp_path / "x.lock"
    with hold_lock(path) as first, hold_lock(path, wait=False) as second:
        assert (first, second) == (True, False)
    with hold_lock(path, wait=False) as third:
        assert third
