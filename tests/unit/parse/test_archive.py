import io
import struct
import warnings
import zipfile
import zlib

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse import archive
from kebab.parse.archive import Archive


def build_zip(members, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in members:
            file.writestr(name, data)
    return buffer.getvalue()


def open_archive(data):
    return Archive(data)


def read_one(data, name):
    opened = open_archive(data)
    opened.read(name) if name else opened.check_sizes()


def get_cause(data, name=None):
    """Return why a member, or without a name the whole archive, is refused."""
    with pytest.raises(ParseFailed) as refusal:
        read_one(data, name)
    return refusal.value.cause


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "damaged: not a zip archive"),
        (build_zip([("a", b"b" * 100)])[:60], "damaged: the zip archive is cut off or broken"),
        (b"PK\x03\x04" + bytes(100), "damaged: the zip archive is cut off or broken"),
        (
            archive.OLE2_MAGIC + bytes(512),
            "an old Microsoft Office file; rename it to `.doc`, `.xls` or `.ppt`",
        ),
        (archive.OLE2_MAGIC + bytes(512) + archive._ENCRYPTED_PACKAGE, "the file is encrypted"),
    ],
    ids=["empty", "cut off", "broken", "old office", "encrypted"],
)
def test_a_file_that_is_no_archive_says_what_it_is(data, cause):
    assert get_cause(data) == cause


def test_a_damaged_member_is_named():
    data = bytearray(build_zip([("a", b"b" * 100)], zipfile.ZIP_STORED))
    data[50] ^= 0xFF

    assert get_cause(bytes(data), "a") == "damaged: `a` cannot be unpacked"
    assert get_cause(bytes(data)) == "damaged: `a` cannot be unpacked"


def test_an_encrypted_member_is_refused():
    data = bytearray(build_zip([("a", b"b")]))
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(magic) + offset
        data[at] |= 1

    assert get_cause(bytes(data), "a") == "the file is encrypted"
    assert get_cause(bytes(data)) == "the file is encrypted"


def test_a_bomb_of_one_member_is_refused_by_its_ratio():
    assert (
        get_cause(build_zip([("a", bytes(20_000_000))]))
        == "expands to more than 200 times its size"
    )


def test_the_total_is_limited(monkeypatch):
    monkeypatch.setattr(archive, "MAX_EXPANSION_BYTES", 3_000_000)

    assert get_cause(build_zip([("a", bytes(2_000_000)), ("b", bytes(2_000_000))])) == (
        "expands to more than 3 MB"
    )


def test_reading_a_member_again_counts_again(monkeypatch):
    monkeypatch.setattr(archive, "MAX_EXPANSION_BYTES", 3_000_000)
    opened = open_archive(build_zip([("a", bytes(2_000_000))]))
    opened.read("a")

    with pytest.raises(ParseFailed):
        opened.read("a")


def test_one_member_is_limited(monkeypatch):
    monkeypatch.setattr(archive, "MAX_MEMBER_BYTES", 1_000_000)

    assert get_cause(build_zip([("a", bytes(2_000_000))]), "a") == "`a` expands to more than 1 MB"


def test_a_directory_that_lies_about_sizes_is_found_out():
    data = bytearray(build_zip([("a", b"content" * 1000)]))
    directory = data.index(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = struct.pack("<L", 7)
    data[directory + 16 : directory + 20] = struct.pack("<L", zlib.crc32(b"contentc"))

    assert get_cause(bytes(data), "a") == "damaged: `a` cannot be unpacked"
    assert get_cause(bytes(data)) == "damaged: `a` cannot be unpacked"
