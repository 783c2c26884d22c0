import pytest

from kebab.source import walk
from kebab.source.walk import MAX_UNKNOWN_BYTES, detect_file_media


def find_media(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return detect_file_media(str(path), path.stat().st_size)


@pytest.mark.parametrize(
    ("name", "data", "media"),
    [
        ("README", b"Words", "text/plain"),
        ("run", b"#!/usr/bin/env python3\n", "text/x-python"),
        ("page", b"<!doctype html><p>x", "text/html"),
        ("paper", b"%PDF-1.4", "application/pdf"),
        ("notes.foo", b"Words\n", "text/plain"),
        ("notes.foo", b"\0\1\2", None),
        ("core", b"\x7fELF\2\1\1\0", None),
        ("empty", b"", None),
        ("letter.doc", b"<html><p>x", "text/html"),
        ("letter.doc", b"plain words", None),
        ("letter.md", b"\0\1\2", "text/markdown"),
        ("photo.zip", b"Words", None),
        ("id_rsa", b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n", None),
        ("deploy.foo", b"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n", None),
        ("production.env", b"API_KEY=abc\n", None),
    ],
)
def test_content_decides_where_the_name_does_not(tmp_path, name, data, media):
    assert find_media(tmp_path, name, data) == media


def test_an_unknown_suffix_is_read_when_the_text_is_small(tmp_path):
    line = b"Words of a note.\n"
    small = line * (MAX_UNKNOWN_BYTES // len(line))

    assert find_media(tmp_path, "a.foo", small) == "text/plain"
    assert find_media(tmp_path, "a.foo", small + line) is None
    assert find_media(tmp_path, "a", small + line) == "text/plain"


def test_a_text_of_unknown_suffix_with_very_long_lines_is_data(tmp_path):
    assert find_media(tmp_path, "a.foo", b"x" * 4000) is None


def test_a_known_suffix_is_not_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(walk, "open", lambda *_: pytest.fail("opened"), raising=False)

    assert detect_file_media(str(tmp_path / "none.md"), 1) == "text/markdown"
    assert detect_file_media(str(tmp_path / "none.png"), 1) == "image/any"
    assert detect_file_media(str(tmp_path / "none.so"), 1) is None
