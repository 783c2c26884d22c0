import errno
from pathlib import Path

import pytest

from kebab.errors.catalog import IoError
from kebab.store.lance import key_file


def manifest(table, name, text):
    (table / "_versions").mkdir(parents=True, exist_ok=True)
    (table / "_versions" / name).write_text(text)


@pytest.mark.parametrize("version", ["fastembed-minilml6-384-v1", "a.b_c-1"])
def test_a_plain_version_names_its_table(version):
    assert key_file.build_table_name(version) == version


def test_other_versions_get_distinct_valid_file_names():
    names = {key_file.build_table_name(version) for version in ("a:b", "a/b", "../b", "한글")}
    assert len(names) == 4
    assert not any(set(name) & set(":/ ") for name in names)


def test_a_table_that_does_not_exist_has_no_digest(tmp_path):
    assert key_file.read_table_digest(tmp_path / "x.lance") is None
    assert key_file.list_manifests(tmp_path) == []


def test_names_that_count_down_start_with_the_latest(tmp_path):
    for version in (1, 2, 10):
        manifest(tmp_path, f"{2**64 - 1 - version}.manifest", str(version))
    manifest(tmp_path, "latest_version_hint.json", "{}")
    assert [path.read_text() for path in key_file.list_manifests(tmp_path)] == ["10", "2", "1"]


def test_names_that_count_up_are_understood_too(tmp_path):
    for version in (1, 2, 10):
        manifest(tmp_path, f"{version}.manifest", str(version))
    assert [path.read_text() for path in key_file.list_manifests(tmp_path)] == ["10", "2", "1"]


def test_the_digest_changes_with_every_commit(tmp_path):
    manifest(tmp_path, f"{2**64 - 2}.manifest", "one")
    first = key_file.read_table_digest(tmp_path)
    manifest(tmp_path, f"{2**64 - 3}.manifest", "two")
    second = key_file.read_table_digest(tmp_path)
    assert first != second
    manifest(tmp_path, f"{2**64 - 2}.manifest", "changed")
    assert key_file.read_table_digest(tmp_path) == second


@pytest.mark.parametrize("call", ["iterdir", "read_bytes"])
def test_a_table_that_cannot_be_read_is_an_io_error(tmp_path, monkeypatch, call):
    def refuse(_):
        raise OSError(errno.EIO, "Input/output error")

    manifest(tmp_path, "1.manifest", "one")
    monkeypatch.setattr(Path, call, refuse)

    with pytest.raises(IoError) as caught:
        key_file.read_table_digest(tmp_path)

    assert caught.value.cause == "Input/output error"
    assert caught.value.path.startswith(str(tmp_path))


def test_relative_directories_become_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    assert key_file.get_table_path(Path("data"), "v").is_absolute()


def test_a_data_folder_that_links_to_itself_still_has_a_tables_folder(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)

    assert key_file.get_tables_folder(loop) == loop / "lance"
