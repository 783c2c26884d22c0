import errno
import os
import tomllib
from pathlib import Path

import pytest

from kebab.app.own_files import init
from kebab.config.load import load_settings
from kebab.errors.catalog import IoError, ReadOnly
from kebab.wire.health import InitRequest


def test_the_settings_file_and_the_folder_are_created(desk):
    report = init(desk.context(), InitRequest(workspace=None, force=False))

    assert (report.config_path, report.written) == (str(desk.config), True)
    assert (report.data_dir, report.workspace) == (str(desk.data), None)
    assert load_settings(desk.config, environ={}) == load_settings(environ={})


def test_only_the_owner_can_read_the_folder(desk):
    before = os.umask(0o022)
    try:
        init(desk.context(), InitRequest(workspace=None, force=False))
    finally:
        os.umask(before)

    assert desk.data.stat().st_mode & 0o777 == 0o700


def test_the_workspace_is_set_and_absolute(desk, monkeypatch):
    monkeypatch.chdir(desk.folder)
    report = init(desk.context(), InitRequest(workspace="notes", force=False))

    assert report.workspace == str(desk.notes)
    assert tomllib.loads(desk.config.read_text())["workspace"] == str(desk.notes)


@pytest.mark.parametrize("name", ['with "quotes"', "한글 폴더", "back\\slash", "tab\there"])
def test_any_workspace_name_round_trips_through_the_file(desk, name):
    folder = desk.folder / name
    folder.mkdir()
    init(desk.context(), InitRequest(workspace=str(folder), force=False))

    assert load_settings(desk.config, environ={}).workspace == str(folder)


def test_an_existing_file_stays(desk):
    desk.config.write_text("offline = true\n")
    report = init(
        desk.context(workspace="/mine"), InitRequest(workspace=str(desk.notes), force=False)
    )

    assert (report.written, report.workspace) == (False, "/mine")
    assert desk.config.read_text() == "offline = true\n"


def test_force_replaces_the_file(desk):
    desk.config.write_text("not toml at all")
    report = init(desk.context(), InitRequest(workspace=None, force=True))

    assert report.written
    assert load_settings(desk.config, environ={}) == load_settings(environ={})


def test_force_replaces_an_empty_folder_of_that_name(desk):
    desk.config.mkdir()
    init(desk.context(), InitRequest(workspace=None, force=True))

    assert load_settings(desk.config, environ={}) == load_settings(environ={})


def test_a_folder_with_contents_stays_and_is_reported(desk):
    desk.config.mkdir()
    (desk.config / "kept").write_text("")
    with pytest.raises(IoError) as caught:
        init(desk.context(), InitRequest(workspace=None, force=True))

    assert caught.value.path == str(desk.config)
    assert [path.name for path in desk.config.iterdir()] == ["kept"]


def test_a_full_disk_leaves_the_settings_unchanged(desk, monkeypatch):
    def refuse(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    desk.config.write_text("offline = true\n")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(IoError, match="No space left"):
        init(desk.context(), InitRequest(workspace=None, force=True))

    assert desk.config.read_text() == "offline = true\n"
    assert [path for path in desk.config.parent.iterdir() if path.name.startswith(".")] == []


def test_a_link_to_the_settings_and_its_permissions_stay(desk):
    kept = desk.folder / "kept.toml"
    kept.write_text("")
    kept.chmod(0o600)
    desk.config.symlink_to(kept)

    init(desk.context(), InitRequest(workspace=None, force=True))

    assert desk.config.is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert load_settings(kept, environ={}) == load_settings(environ={})


def test_missing_parent_folders_are_created(desk):
    desk.config = desk.folder / "some" / "where" / "config.toml"

    assert init(desk.context(), InitRequest(workspace=None, force=False)).written


@pytest.mark.parametrize("name", ["missing", "file.md", "caf\udce9", "a\0b"])
def test_an_unusable_workspace_is_refused(desk, name):
    (desk.folder / "file.md").write_text("")
    (desk.folder / "caf\udce9").mkdir()

    with pytest.raises(IoError):
        init(desk.context(), InitRequest(workspace=str(desk.folder / name), force=False))
    assert not desk.config.exists()
    assert not desk.data.exists()


def test_the_home_of_an_unknown_user_is_no_folder(desk):
    with pytest.raises(IoError):
        init(desk.context(), InitRequest(workspace="~no-such-user/notes", force=False))


def test_a_file_instead_of_a_parent_folder_is_an_io_error(desk):
    (desk.folder / "blocked").write_text("")
    desk.config = desk.folder / "blocked" / "config.toml"

    with pytest.raises(IoError) as caught:
        init(desk.context(), InitRequest(workspace=None, force=False))

    assert caught.value.op == "create"


def test_read_only_refuses_and_creates_nothing(desk):
    before = desk.tree()
    with pytest.raises(ReadOnly, match="init"):
        init(desk.context(read_only=True), InitRequest(workspace=None, force=True))

    assert desk.tree() == before


def test_a_replaced_file_is_kept_beside_the_new_one(desk):
    copies = []
    for text in ("offline = true\n", 'data_dir = "/mine"\n', "not toml at all"):
        desk.config.write_text(text)
        desk.config.chmod(0o600)
        report = init(desk.context(), InitRequest(force=True))
        assert report.backup_path is not None
        copies.append((report.backup_path, text))

    assert [name for name, _ in copies] == [
        f"{desk.config}{end}" for end in (".bak", ".bak.1", ".bak.2")
    ]
    for name, text in copies:
        assert (Path(name).read_text(), Path(name).stat().st_mode & 0o777) == (text, 0o600)


def test_a_file_that_would_not_change_is_not_copied(desk):
    init(desk.context(), InitRequest())

    assert init(desk.context(), InitRequest(force=True)).backup_path is None
    assert not list(desk.config.parent.glob("*.bak*"))


def test_something_other_than_a_file_is_not_replaced(desk):
    os.mkfifo(desk.config)

    with pytest.raises(IoError, match="not a regular file"):
        init(desk.context(), InitRequest(force=True))
    assert desk.config.is_fifo()
