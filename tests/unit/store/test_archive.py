import json
import zipfile
from contextlib import closing

import pytest

from kebab.errors.catalog import IoError, NotIndexed, StoreCorrupt
from kebab.store.archive import (
    FORMAT_VERSION,
    open_archive,
    read_manifest,
    translate_damage,
    unpack,
)
from kebab.wire.record import encode_json
from tests.fakes import replies

MANIFEST = encode_json(replies.archive_manifest())


def write(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", members.pop("manifest", MANIFEST))
        archive.writestr("kebab.sqlite", "index")
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def read(path):
    with closing(open_archive(path)) as archive, translate_damage(path):
        manifest = read_manifest(archive, lambda name: name.endswith(".md"))
        unpack(archive, path.with_suffix(""), lambda _: None)
        return manifest


def test_known_members_are_unpacked(tmp_path):
    members = {"stdin/x.md": "text", "lance/e5-1.keys.npy": "keys", "reviews.sqlite": "reviews"}

    manifest = read(write(tmp_path / "a.zip", **members))

    assert manifest == replies.archive_manifest()
    files = {path for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert {path.relative_to(tmp_path / "a").as_posix() for path in files} == {
        "kebab.sqlite",
        *members,
    }


@pytest.mark.parametrize(
    "name",
    ["../x", "/x", "stdin/../x.md", "lance/../../x.npy", "lance/x.lance", "x.txt"],
)
def test_a_member_of_another_name_is_refused_before_anything_is_unpacked(tmp_path, name):
    with pytest.raises(StoreCorrupt) as refused:
        read(write(tmp_path / "a.zip", **{name: "x"}))

    assert refused.value.archive == str(tmp_path / "a.zip")
    assert not (tmp_path / "a").exists()


def test_a_newer_format_is_not_read_as_this_one(tmp_path):
    newer = json.dumps({"format_version": FORMAT_VERSION + 1, "other": []})

    with pytest.raises(NotIndexed) as refused:
        read(write(tmp_path / "a.zip", manifest=newer))

    assert refused.value.format_hint() == "pip install --upgrade kebab"


def test_only_a_regular_file_is_read(tmp_path):
    with pytest.raises(IoError):
        open_archive(tmp_path)
