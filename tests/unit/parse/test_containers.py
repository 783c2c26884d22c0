import io
import zipfile
from pathlib import Path

import pytest

from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.parse import containers
from kebab.parse.containers import ContainerFiles, find_messages, read_message
from kebab.parse.registry import PARSERS
from tests.pdf_files import assemble

FILES = ContainerFiles()
MAIL = (
    b"Subject: s\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nbody\n--x\n"
    b'Content-Type: text/markdown; name="a.md"\nContent-Disposition: attachment\n\n# A\n--x--\n'
)
MAILBOX = b"From a\nS: 1\n\nx\nFrom y\n>From z\n\nFrom here on\n\nFrom b\r\n" + MAIL


def pack(*members, method=zipfile.ZIP_DEFLATED, overlaps=False):
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", method) as archive:
            for name, data in members:
                archive.writestr(name, data)
            if overlaps:
                archive.infolist()[1].header_offset = 5
        return file.getvalue()


def list_all(path):
    return {member.name: member for member in FILES.list_members(str(path))}


def test_a_mailbox_is_split_where_messages_begin():
    file = io.BytesIO(b"From here on\nit is a text\n")
    assert list(find_messages(file)) == []

    file = io.BytesIO(MAILBOX)
    spans = list(find_messages(file))
    assert [read_message(file, span) for span in spans] == [
        b"S: 1\n\nx\nFrom y\nFrom z\n\nFrom here on\n\n",
        MAIL,
    ]
    file = io.BytesIO(b"From - Tue Mar  5 10:00:00 2024\nS: 1\n\nx\n" * 2)
    assert len([*find_messages(file)]) == 2


@pytest.mark.parametrize("is_nested", [False, True])
def test_each_file_within_containers_has_a_path(tmp_path, is_nested):
    path, box = tmp_path / "box.mbox", str(tmp_path / "box.mbox")
    path.write_bytes(MAILBOX)
    if is_nested:
        path = tmp_path / "all.zip"
        path.write_bytes(pack(("mail/box.mbox", MAILBOX)))
        box = f"{path}!/mail/box.mbox"
        assert list_all(path)["mail/box.mbox"].media == "application/mbox"

    second = list_all(box)["2.eml"]
    assert (second.media, bool(second.span[1])) == ("message/rfc822", not is_nested)
    (member,) = FILES.list_members(f"{box}!/2.eml", second.span)
    assert (member.name, member.size, member.media) == ("a.md", 3, "text/markdown")
    for span in (second.span, (0, 0)):
        assert FILES.read(f"{box}!/2.eml!/a.md", span) == b"# A"
    with pytest.raises(FileNotFoundError):
        FILES.read(f"{box}!/3.eml")


def test_names_without_a_declared_encoding_are_decoded_together(tmp_path):
    names = ["보고서 계획 정리.md", "회의록 요약.md", "a.md"]
    data = pack(
        *((f"{number}" * len(name.encode("cp949")), b"x") for number, name in enumerate(names))
    )
    for number, name in enumerate(names):
        raw = name.encode("cp949")
        data = data.replace(f"{number}".encode() * len(raw), raw)
    (tmp_path / "a.zip").write_bytes(data)

    assert list(list_all(tmp_path / "a.zip")) == names


def damage(data, old, new):
    assert old in data
    return data.replace(old, new)


STORED = pack(("a.md", b"hello"), ("b.md", b"there"), method=zipfile.ZIP_STORED)
ENCRYPTED = bytearray(STORED)
ENCRYPTED[STORED.index(b"PK\x01\x02") + 8] |= 1


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (damage(STORED, b"hello", b"hollo"), "size or checksum"),
        (bytes(ENCRYPTED), "encrypted"),
        (
            damage(pack(("a.md", b"x" * 9), ("b.md", b"there")), b"\xab\xa8\x80", b"\xff" * 3),
            "block",
        ),
        (damage(pack(("a.md", b"x" * 9), ("b.md", b"there")), b"\x08\0", b"\x0c\0"), "method"),
        (pack(("a.md", bytes(17_000_000)), ("b.md", b"there")), "200 times"),
    ],
)
def test_a_member_that_cannot_be_read_costs_itself(tmp_path, data, cause):
    path = tmp_path / "a.zip"
    path.write_bytes(data)

    assert set(list_all(path)) == {"a.md", "b.md"}
    with pytest.raises(ParseFailed, match=cause):
        FILES.read(f"{path}!/a.md")
    if cause != "method":
        assert FILES.read(f"{path}!/b.md") == b"there"


def test_a_member_larger_than_it_says_is_not_unpacked(tmp_path):
    path = tmp_path / "a.zip"
    data, size = pack(("a.md", bytes(5_000_000))), (5_000_000).to_bytes(4, "little")
    path.write_bytes(damage(data, size, (10).to_bytes(4, "little")))

    with pytest.raises(ParseFailed, match="size or checksum"):
        FILES.read(f"{path}!/a.md")


@pytest.mark.parametrize(
    ("name", "data", "cause"),
    [
        ("a.mbox", b"Subject: x\n\ny", "not a mailbox"),
        ("a.zip", STORED[:-30], "damaged"),
        ("a.zip", pack(("a.md", b"hello"), ("b.md", b"there"), overlaps=True), "overlap"),
        ("a.md", b"text", "no files within"),
    ],
)
def test_what_is_no_container_is_refused(tmp_path, name, data, cause):
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(ParseFailed, match=cause):
        list(FILES.list_members(str(path)))


def test_a_changed_container_is_opened_again(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(STORED)
    assert len(list_all(path)) == 2

    path.write_bytes(pack(("c.md", b"new")))
    assert list(list_all(path)) == ["c.md"]
    assert containers.read_document(f"{path}!/c.md") == b"new"


def test_a_damaged_member_without_a_suffix_costs_only_itself(tmp_path):
    path = tmp_path / "a.zip"
    data = bytearray(pack(("README", b"some text " * 500), ("b.md", b"# B\n")))
    start = data.index(b"README") + len("README")
    data[start : start + 20] = b"\xff" * 20
    path.write_bytes(data)

    assert {*list_all(path)} == {"README", "b.md"}
    with pytest.raises(ParseFailed):
        FILES.read(f"{path}!/README")


def test_each_note_of_an_export_of_evernote_is_a_member():
    export = Path(__file__).parents[2] / "cases/files/multi.enex"
    files = ContainerFiles()
    members = list(files.list_members(str(export)))
    assert [one.name for one in members] == ["Alpha note.enex", "Beta note.enex"]
    data = files.read(f"{export}!/Beta note.enex")
    document = PARSERS[members[1].media].parse(data, "Beta note.enex")
    assert document.title == "Beta note"
    assert document.metadata.tags == ("blue",)
    assert document.metadata.date == "2021-07-04T10:10:10Z"
    assert "wells" in document.text
    assert "kilns" not in document.text


NOTE = (
    b"<note><title>%s</title><resource><data encoding='base64'>eWFtcw==</data>"
    b"<mime>text/plain</mime>"
    b"<resource-attributes><file-name>%s</file-name></resource-attributes></resource></note>"
)


def test_the_files_of_a_note_are_members_of_the_note(tmp_path):
    path = tmp_path / "a.enex"
    notes = NOTE % (b"One", b"list.txt") + NOTE % (b"Two", b"")
    path.write_bytes(b"<en-export>" + notes + b"</en-export>")

    assert [*list_all(path)] == ["One.enex", "Two.enex"]
    assert [*list_all(f"{path}!/One.enex")] == ["list.txt"]
    assert FILES.read(f"{path}!/One.enex!/list.txt") == b"yams"
    assert next(iter(list_all(f"{path}!/Two.enex"))).endswith(".txt")


NAMES = "/Names << /EmbeddedFiles << /Names [(a) 3 0 R] >> >>"
ON_PAGE = "/Annots [<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /FS 3 0 R >>]"


def attach(body, name="/UF <FEFFAC00002E007400780074>", kind="/Type /EmbeddedFile", note=""):
    """Return a PDF with a file that is attached to it, or to its page by a note."""
    file = f"<< {kind} /Length {len(body)} >>\nstream\n{body}\nendstream"
    objects = (
        f"<< /Type /Catalog /Pages 2 0 R {'' if note else NAMES} >>",
        "<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
        f"<< /Type /Filespec /F (a.txt) {name} /EF << /F 4 0 R >> >>",
        file,
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] {note} >>",
    )
    return assemble({number: one.encode() for number, one in enumerate(objects, 1)}, 1)


@pytest.mark.parametrize(
    ("data", "members"),
    [
        (attach("yams"), {"가.txt": b"yams"}),
        (attach("yams", name=""), {"a.txt": b"yams"}),
        (attach("yams", note=ON_PAGE), {"가.txt": b"yams"}),
        (attach("yams", kind=""), {"가.txt": b"yams"}),
        (b"%PDF-1.7 /EmbeddedFile", {}),
    ],
)
def test_the_attached_files_of_a_pdf_are_its_members(tmp_path, data, members):
    path = tmp_path / "a.pdf"
    path.write_bytes(data)

    assert {name: FILES.read(f"{path}!/{name}") for name in list_all(path)} == members


def test_files_of_a_pdf_that_take_too_long_are_named_as_one(tmp_path, monkeypatch):
    def fail(*_):
        raise TimedOut(operation="parse", elapsed_ms=2, deadline_ms=1, path="a.pdf")

    monkeypatch.setattr("kebab.parse.isolation.parse_guarded", fail)
    path = tmp_path / "late.pdf"
    path.write_bytes(attach("yams"))

    assert [*list_all(path)] == ["attachments"]
    with pytest.raises(TimedOut):
        FILES.read(f"{path}!/attachments")
