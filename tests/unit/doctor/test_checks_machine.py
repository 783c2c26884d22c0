import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from kebab.doctor import checks
from kebab.doctor.checks import SettingsFile, succeed
from kebab.errors.catalog import NO_FILE, NO_FOLDER, ConfigInvalid

MIB = 1 << 20


def test_a_settings_file_that_is_read_is_named(tmp_path):
    file = tmp_path / "config.toml"
    file.touch()

    finding = checks.check_settings(lambda: SettingsFile(path=file))

    assert (finding.status, finding.summary) == ("ok", str(file))


def test_settings_without_a_file_are_well(tmp_path):
    finding = checks.check_settings(lambda: SettingsFile(path=tmp_path / "config.toml"))

    assert finding.status == "ok"
    assert finding.summary.startswith("defaults, no settings file")


def test_odd_settings_are_a_worry(tmp_path):
    odd = SettingsFile(path=tmp_path / "a b.toml", warnings=("port not understood: x", "second"))

    finding = checks.check_settings(lambda: odd)

    assert finding.status == "warn"
    assert "port not understood: x; second" in finding.summary
    assert f"'{tmp_path / 'a b.toml'}'" in (finding.fix or "")


@pytest.mark.parametrize(
    ("origin", "cause", "fix"),
    [
        ("/etc/my kebab.toml", "unknown key `x`", "kebab init --force"),
        ("/etc/my kebab.toml", NO_FILE, "kebab init"),
        ("/etc/my kebab.toml", NO_FOLDER, "mkdir -p /etc"),
        ("$KEBAB_SEARCH_LIMIT", "Expected `int`", "unset KEBAB_SEARCH_LIMIT"),
        ("models.embedding.model", "no such model", "kebab init --force"),
        ("search.mode", "no such mode", "unset KEBAB_SEARCH_MODE"),
    ],
)
def test_refused_settings_fail_with_the_fix_for_their_origin(origin, cause, fix, monkeypatch):
    monkeypatch.setenv("KEBAB_SEARCH_MODE", "psychic")
    faults = (ConfigInvalid(path=origin, cause=cause), ConfigInvalid(path="/x", cause="second"))

    finding = checks.check_settings(lambda: SettingsFile(path=Path("/x"), faults=faults))

    assert (finding.status, finding.fix) == ("fail", fix)
    assert cause in finding.summary
    assert "second" in finding.summary


def test_variables_without_effect_are_a_worry(tmp_path):
    file = SettingsFile(path=tmp_path, unknown_variables=("KEBAB_A", "KEBAB_B"))

    finding = checks.check_settings(lambda: file)

    assert (finding.status, finding.fix) == ("warn", "unset KEBAB_A KEBAB_B")


def test_folders_that_exist_or_can_be_made_are_well_and_stay_unmade(tmp_path):
    missing = tmp_path / "a" / "b"

    finding = checks.check_folders({"data": tmp_path, "models": missing})

    assert finding.status == "ok"
    assert str(missing) in finding.summary
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_of_a_folder_fails(tmp_path):
    (tmp_path / "data").write_text("mine")

    finding = checks.check_folders({"data": tmp_path / "data" / "kebab"})

    assert finding.status == "fail"
    assert finding.fix == f"mv {tmp_path / 'data'} {tmp_path / 'data.old'}"


def test_a_folder_that_cannot_be_written_fails(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path != closed)

    finding = checks.check_folders({"state": tmp_path, "data": closed / "kebab"})

    assert (finding.status, finding.fix) == ("fail", f"chmod u+rwx {closed}")
    assert "data folder" in finding.summary


@pytest.mark.parametrize(
    ("free", "status"),
    [
        (0, "fail"),
        (1, "warn"),
        (1024 * MIB - 1, "warn"),
        (1024 * MIB, "ok"),
    ],
)
def test_free_space_has_two_limits(tmp_path, free, status):
    finding = checks.check_disk_space(tmp_path / "not" / "yet", lambda ground: free)

    assert finding.status == status
    assert (finding.fix is None) == (status == "ok")
    assert str(tmp_path) in finding.summary


def test_free_space_is_read_from_the_system(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2048 * MIB))

    assert checks.check_disk_space(tmp_path).summary == f"2,048 MiB free: {tmp_path}"


@pytest.mark.parametrize(("limit", "status"), [(16, "warn"), (255, "warn"), (256, "ok")])
def test_few_descriptors_are_a_worry(limit, status):
    assert checks.check_open_files(lambda: limit).status == status


def test_the_limit_of_descriptors_is_read_from_the_system():
    assert checks.check_open_files().summary.startswith("a process may open ")


def test_a_writer_at_work_is_named_and_no_fault():
    assert checks.check_writer(lambda: None).summary == "no process is writing"
    assert checks.check_writer(lambda: 42) == succeed("a process is writing: pid 42")


def test_the_log_is_named_before_and_after_it_exists(tmp_path):
    path = tmp_path / "kebab.log"

    before = checks.check_log(path)
    path.write_text("12345")
    after = checks.check_log(path)

    assert before.summary == f"no error was logged yet: {path}"
    assert after.summary == f"5 bytes: {path}"


def test_a_read_only_file_system_is_no_missing_permission(tmp_path, monkeypatch):
    read_only = SimpleNamespace(f_flag=os.ST_RDONLY)
    monkeypatch.setattr(os, "statvfs", lambda _: read_only)

    finding = checks.check_folders({"data": tmp_path})

    assert finding.summary == f"the data folder is on a read-only file system: {tmp_path}"
    assert finding.fix == f"df -h {tmp_path}"
