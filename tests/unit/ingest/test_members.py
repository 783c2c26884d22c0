import io
import os
import zipfile
from dataclasses import replace
from email.message import EmailMessage

import pytest

from kebab.core.files import ScanRules
from kebab.parse.containers import ContainerFiles
from kebab.parse.registry import LazyParser

PAGE = "Page 0123456789abcdef0123456789abcdef.md"
"""The name of a page in an export of Notion."""


def build_mail(subject, *files):
    message = EmailMessage()
    message["Subject"], message["From"] = subject, "a@x"
    message.set_content(f"body of {subject}\n")
    for name, data in files:
        message.add_attachment(data, maintype="application", subtype="x", filename=name)
    return message.as_bytes()


def pack(*members):
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                archive.writestr(name, data)
        return file.getvalue()


def box(*messages):
    return b"".join(b"From a\n" + message + b"\n\n" for message in messages)


@pytest.fixture
def desk(desk):
    container = LazyParser("container-v2", "containers:ContainerParser")
    desk.parsers |= dict.fromkeys(("application/mbox", "application/zip"), container)
    desk.parsers["message/rfc822"] = LazyParser("email-v1", "mail.message:EmailParser")
    plain = desk.ports
    desk.ports = lambda: replace(plain(), containers=ContainerFiles())
    return desk


def put(desk, name, data, age=60):
    """Write a file that is old enough not to be compared by its content."""
    path = desk.root / name
    path.write_bytes(data)
    moment = desk.clock.now() - age
    os.utime(path, (moment, moment))
    return path


def vectors(desk):
    return {key for table in desk.tables.values() for key in table.list_keys()}


def count(report):
    return {
        kind: getattr(report, kind)
        for kind in ("new", "updated", "moved", "removed", "unchanged", "errors")
        if getattr(report, kind)
    }


def test_a_changed_container_updates_only_what_changed(desk):
    put(desk, "m.eml", build_mail("m", ("a.md", b"# A\n"), ("b.md", b"# B\n")), 90)
    desk.ingest()
    ids, keys = desk.ids(), vectors(desk)

    put(desk, "m.eml", build_mail("m", ("a.md", b"# A\n"), ("c.md", b"# C\n")))
    assert count(desk.again()) == {"new": 1, "updated": 1, "removed": 1, "unchanged": 1}
    assert desk.ids()["m.eml!/a.md"] == ids["m.eml!/a.md"]
    assert len(vectors(desk) & keys) >= 1

    (desk.root / "m.eml").rename(desk.root / "n.eml")
    assert count(desk.again()) == {"moved": 3}
    (desk.root / "n.eml").unlink()
    desk.write("other.md", "x")
    assert count(desk.again()) == {"new": 1, "removed": 3}


def test_an_unchanged_container_is_not_opened(desk, monkeypatch):
    (desk.root / "Yahoo!").mkdir()
    put(desk, "Yahoo!/b.mbox", box(build_mail("1"), build_mail("2")))
    desk.ingest()
    ids = desk.ids()

    monkeypatch.setattr(ContainerFiles, "list_members", None)
    assert count(desk.again()) == {"unchanged": 3}
    assert desk.ids() == ids


@pytest.mark.parametrize("archives", ["exports", "all"])
def test_a_damaged_container_keeps_its_documents(desk, archives):
    rules = ScanRules(archives=archives)
    data = pack((PAGE, b"# P\n"), ("x.md", b"# X\n"))
    put(desk, "e.zip", data, 90)
    desk.ingest(rules=rules)
    ids = desk.ids()

    put(desk, "e.zip", b"PK\3\4 cut off", 80)
    report = desk.again(rules=rules)
    assert (count(report), report.skipped_by_extension) == ({"errors": 1}, {})
    assert desk.ids() == ids

    put(desk, "e.zip", data)
    assert count(desk.again(rules=rules)) == {"unchanged": 3}
    desk.write(".kebabignore", "e.zip\n")
    put(desk, "e.zip", b"PK\3\4 cut off")
    assert count(desk.again(rules=rules)) == {"removed": 3}


def test_a_killed_run_is_completed(desk, monkeypatch):
    put(desk, "m.eml", build_mail("m", ("a.md", b"# A\n"), ("b.md", b"# B\n")), 90)
    desk.ingest()
    put(desk, "m.eml", build_mail("m", ("a.md", b"# A2\n"), ("c.md", b"# C\n")))

    store = type(desk.library).put_document
    monkeypatch.setattr(
        desk.library,
        "put_document",
        lambda row: store(desk.library, row) if row.path == "m.eml" else 1 / 0,
        raising=False,
    )
    with pytest.raises(ZeroDivisionError):
        desk.again()
    monkeypatch.undo()
    assert count(desk.again())["removed"] == 1
    assert set(desk.ids()) == {"m.eml", "m.eml!/a.md", "m.eml!/c.md"}


@pytest.mark.parametrize(
    ("name", "archives", "is_read"),
    [
        (PAGE, "exports", True),
        ("Takeout/Keep/a.md", "exports", True),
        ("a.md", "exports", False),
        ("a.md", "all", True),
        (PAGE, "none", False),
    ],
)
def test_exports_are_read_and_other_archives_with_a_setting(desk, name, archives, is_read):
    put(desk, "a.zip", pack((name, b"# P\n")))
    report = desk.ingest(rules=ScanRules(archives=archives))

    assert set(desk.ids()) == {"a.zip", *([f"a.zip!/{name}"] if is_read else [])}
    assert report.skipped_by_extension == ({} if is_read else {".zip": 1})
    if not is_read:
        put(desk, "a.zip", b"PK\3\4 cut off")
        assert desk.again(rules=ScanRules(archives=archives)).errors == 0


def test_the_rules_of_files_hold_for_members(desk):
    key = b"-----BEGIN OPENSSH " + b"PRIVATE KEY-----\nx\n"
    names = ("id_rsa", ".hidden.md", "draft/x.md", "deploy")
    data = pack(*((name, key) for name in names), ("large.md", b"x" * 99), (PAGE, b"# P\n"))
    put(desk, "e.zip", data)
    desk.write(".kebabignore", "draft/\n")

    report = desk.ingest(rules=ScanRules(max_file_bytes=50))
    assert set(desk.ids()) == {"e.zip", f"e.zip!/{PAGE}"}
    assert report.skipped_by_reason == {"hidden": 2, "ignored": 1, "over_limit": 1, "secret": 2}


def test_more_than_a_file_may_expand_to_is_left_out(desk, monkeypatch):
    monkeypatch.setattr("kebab.ingest.members.MAX_EXPANSION_BYTES", 25)
    put(desk, "e.zip", pack(*((f"{number}.md", b"x" * 10) for number in range(4)), (PAGE, b"")))

    report = desk.ingest()
    assert len(desk.ids()) == 4
    assert report.skipped_by_reason == {"expansion": 2}
