import zipfile

import msgspec
import pytest

from kebab.errors.catalog import NotIndexed, StoreCorrupt, TooLarge
from kebab.store import archive_file
from kebab.store.archive_file import ArchiveFile


def write(path, **manifest):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", msgspec.json.encode(manifest))
    return path


@pytest.mark.parametrize(
    "data",
    [b"", b"PK\x05\x06" + bytes(18), b"PK\x05\x06" + b"\xff" * 18, b"text" * 100],
    ids=["empty", "no_members", "wrong_places", "text"],
)
def test_what_is_no_archive_is_damaged(tmp_path, data):
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    with pytest.raises(StoreCorrupt) as caught:
        ArchiveFile(path, lambda _: True)
    assert caught.value.path == str(path)


def test_a_manifest_has_a_limit_and_a_version(tmp_path, monkeypatch):
    path = write(tmp_path / "x.zip", format_version=2)
    with pytest.raises(NotIndexed) as caught:
        ArchiveFile(path, lambda _: True)
    assert (caught.value.expected, caught.value.found) == (1, 2)
    monkeypatch.setattr(archive_file, "_MAX_MANIFEST_BYTES", 5)
    with pytest.raises(TooLarge):
        ArchiveFile(path, lambda _: True)
