import os
import time

import pytest

from kebab.core.files import ScanRules, SeenFiles
from kebab.core.media import MARKDOWN
from kebab.source.walk import (
    CHANGED_NS,
    FolderScanner,
    detect_file_media,
    read_change_time,
)

RULES = ScanRules()
SCANNER = FolderScanner()


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def write(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text", encoding="utf-8")


def paths(found):
    return [entry.path for entry in found.entries]


@pytest.mark.parametrize(
    "name",
    [
        "--help.md",
        "\U0001f600 emoji.md",
        "rtl-\u202egpj.md",
        "dir.md/inner.md",
        "n" * 252 + ".md",
    ],
)
def test_a_name_is_kept_exactly_as_it_is_on_disk(root, name):
    write(root, name)

    assert paths(SCANNER.scan(str(root), RULES)) == [name]


def test_every_file_left_out_is_counted_with_its_reason(root):
    write(root, "a.md", "b.mp3", "c.mp3", "noext.zip", ".hidden.md", "venv/x.md", "ignored/x.md")
    (root / ".gitignore").write_text("ignored/\n", encoding="utf-8")

    skips = SCANNER.scan(str(root), RULES).skips

    assert skips.by_reason == {"unsupported": 3, "hidden": 2, "excluded": 1, "ignored": 1}
    assert skips.by_extension == {".mp3": 2, ".zip": 1}
    assert skips.examples["hidden"] == [".gitignore", ".hidden.md"]


def test_a_name_that_is_not_utf8_is_left_out_and_shown(root):
    write(root, "good.md")
    (root / "latin-\udce9.md").write_bytes(b"x")
    (root / "folder-\udcff").mkdir()

    found = SCANNER.scan(str(root), RULES)

    assert paths(found) == ["good.md"]
    assert found.skips.by_reason == {"undecodable_name": 2}
    assert found.skips.examples["undecodable_name"] == ["folder-\udcff", "latin-\udce9.md"]


def test_files_above_the_limit_are_read_in_part_or_left_out(root):
    write(root, "small.md")
    for name, size in (("a.docx", 100), ("huge.md", 991), ("large.md", 100), ("large.mbox", 990)):
        (root / name).write_text("x" * size, encoding="utf-8")

    found = SCANNER.scan(str(root), ScanRules(max_file_bytes=99))

    limits = {entry.path: entry.limit for entry in found.entries}
    assert limits == {"large.mbox": 0, "large.md": 99, "small.md": 0}
    assert found.skips.by_reason == {"over_limit": 2}
    assert found.largest == 991


def test_a_folder_that_cannot_be_listed_is_counted_and_the_scan_goes_on(root, monkeypatch):
    write(root, "a.md", "locked/b.md")
    listing = os.scandir

    def refuse(path):
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", refuse)

    found = SCANNER.scan(str(root), RULES)

    assert paths(found) == ["a.md"]
    assert found.unreadable == ["locked/"]
    assert found.skips.by_reason == {"unreadable": 1}


def test_what_belongs_to_others_is_left_to_them(root):
    write(root, "a.md", "other/b.md", "mine/c.md", "mine/d.md")
    claimed = {str(root / "other"): "other_source", str(root / "mine/c.md"): "other_source"}

    found = SCANNER.scan(str(root), RULES, claimed=claimed)

    assert paths(found) == ["a.md", "mine/d.md"]
    assert found.skips.by_reason == {"other_source": 2}


def test_links_are_not_followed(root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    write(outside, "secret.md")
    (root / "file.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    (root / "broken.md").symlink_to("nothing.md")
    (root / "up").symlink_to(".")

    found = SCANNER.scan(str(root), RULES)

    assert paths(found) == []
    assert found.skips.by_reason == {"symlink_outside": 2, "symlink_broken": 1, "symlink": 1}


def test_changed_folders_are_searched_for_unseen_files(root):
    write(root, "a.md", "new.md", "sub/b.md", "sub/new.md", "fresh/deep/c.md", "x.tmp", ".h.md")
    write(root, "node_modules/d.md")
    seen = SeenFiles(changed=["", "gone"], folders=["", "sub"], files=["a.md", "sub/b.md"])

    found = SCANNER.scan_again(str(root), RULES, seen, claimed={})

    assert [entry.path for entry in found.entries] == ["new.md", "fresh/deep/c.md"]


@pytest.mark.parametrize(("nanoseconds", "age"), [(1, 0.01), (0, 1.5)], ids=["fine", "coarse"])
def test_a_time_that_a_change_could_repeat_is_not_trusted(root, nanoseconds, age, monkeypatch):
    changed = 1_700_000_000_000_000_000 + nanoseconds
    os.utime(root, ns=(changed, changed))

    monkeypatch.setattr(time, "time_ns", lambda: changed + int(age * 1e9))
    assert read_change_time(str(root)) == CHANGED_NS
    monkeypatch.setattr(time, "time_ns", lambda: changed + int(age * 1e11))
    assert read_change_time(str(root)) == changed


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
        ("letter.doc", b"plain words", "text/plain"),
        ("letter.doc", b"{\\rtf1 words}", "application/rtf"),
        ("sheet.xls", b"<html><table>", "text/html"),
        ("letter.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword"),
        ("letter.md", b"\0\1\2", "text/markdown"),
        ("photo.rar", b"Words", None),
        ("id_rsa", b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n", None),
        ("deploy.foo", b"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n", None),
        ("production.env", b"API_KEY=abc\n", None),
    ],
)
def test_content_decides_where_the_name_does_not(tmp_path, name, data, media):
    assert find_media(tmp_path, name, data) == media


def test_files_without_text_are_entries_by_their_names_and_counted_as_skipped(root):
    write(root, "a.md", "film.mp4", "plan.png", "old.rar", "font.ttf", "data.db")

    found = SCANNER.scan(str(root), RULES)

    media = {entry.path: entry.media for entry in found.entries}
    assert media == {
        "a.md": MARKDOWN,
        "film.mp4": "video/x-named",
        "plan.png": "image/x-named",
        "old.rar": "application/x-named",
    }
    assert (found.named, found.skips.by_reason) == (3, {"unsupported": 4, "ocr_off": 1})
