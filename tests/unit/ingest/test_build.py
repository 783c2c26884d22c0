import io
from dataclasses import replace

import pytest

from kebab.chunk import split
from kebab.chunk.budget import Budget, estimate_tokens
from kebab.core.chunks import DocId, Place
from kebab.core.documents import (
    FileStamp,
    Source,
    find_emptiness,
    is_partial,
)
from kebab.core.files import FileEntry
from kebab.errors.catalog import ParseFailed
from kebab.ingest import build
from kebab.ingest.build import BuildTask, DocumentBuilder, compute_recipes
from kebab.ingest.members import FileContent, read_entry
from kebab.parse import registry
from kebab.parse.blocks import TextBuilder
from kebab.parse.registry import LazyParser, guard_parser
from kebab.parse.text.markdown import MarkdownParser

SOURCE = Source(name="notes", root="/notes", kind="folder")
PARSERS = {"text/markdown": MarkdownParser()}


class Endless:
    version = "endless-v1"

    def parse(self, data, path):
        while True:
            pass


def builder(parsers, deadline_s=0.0):
    return DocumentBuilder(
        guard=guard_parser,
        parsers=parsers,
        budget=Budget(),
        chunker="heading-254-v1",
        recipes=compute_recipes(parsers, "heading-254-v1"),
        deadline_s=deadline_s,
    )


@pytest.fixture
def entry(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("---\ntitle: T\ntags: [x, y]\nlang: de\n---\n# H\n\ntext\n", encoding="utf-8")
    return FileEntry("a.md", str(path), 1, 1, 1, "text/markdown")


def test_what_was_read_carries_the_stamp_of_the_file(entry, tmp_path):
    stat = (tmp_path / "a.md").stat()

    stamp = read_entry(entry, None).stamp

    assert (stamp.size, stamp.mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    assert stamp.inode == stat.st_ino


def test_a_file_that_was_cut_off_while_it_was_read_does_not_look_whole(entry, monkeypatch):
    whole = read_entry(entry, None).stamp
    monkeypatch.setattr("builtins.open", lambda *_: _Cut(entry.absolute))

    assert read_entry(entry, None).stamp.size == whole.size // 2


class _Cut(io.FileIO):
    def read(self, size=-1):
        data = super().read(size)
        return data[: len(data) // 2]


@pytest.mark.parametrize(
    ("name", "text", "date"),
    [
        ("2024-03-01 walk.md", "text", "2024-03-01"),
        ("2024-03-01 walk.md", "---\ndate: 2020-01-02\n---\ntext", "2020-01-02"),
        ("walk.md", "text", None),
    ],
)
def test_the_date_of_a_note_comes_from_its_text_and_then_from_its_name(tmp_path, name, text, date):
    path = tmp_path / name
    path.write_text(text)
    entry = FileEntry(name, str(path), 1, 1, 1, "text/markdown")

    row = builder(PARSERS).build_row(BuildTask(SOURCE, entry, DocId("d")), read_entry(entry, None))

    assert row.date == date


class Isolated(MarkdownParser):
    isolated = True


def build_content(tmp_path, parsers, media, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    entry = FileEntry("file", str(path), len(data), 0, 0, media)
    return builder(parsers).build_row(
        BuildTask(SOURCE, entry, DocId("d1")), read_entry(entry, None)
    )


def test_a_file_with_a_wrong_suffix_is_read_as_what_it_is(tmp_path):
    parsers = {"application/pdf": Isolated(), "text/html": MarkdownParser()}
    row = build_content(tmp_path, parsers, "application/pdf", b"<!doctype html>\nSign in\n")

    assert row.media == "text/html"
    assert row.recipe == builder(parsers).recipes["application/pdf"]


@pytest.mark.parametrize("parsers", [PARSERS, {**PARSERS, "application/pdf": Isolated()}])
def test_a_file_with_a_wrong_suffix_is_refused_where_it_cannot_be_read(tmp_path, parsers):
    with pytest.raises(ParseFailed) as refusal:
        build_content(tmp_path, parsers, "text/markdown", b"%PDF-1.4\n")

    assert refusal.value.cause == "the file is PDF, not Markdown: rename it to .pdf"


class Slow(Endless):
    deadline_s = 100.0


@pytest.mark.parametrize(
    ("usual", "own", "limit"),
    [(30.0, 100.0, 100.0), (200.0, 100.0, 200.0), (0.0, 100.0, 0.0), (30.0, 0.0, 0.0)],
)
def test_a_parser_may_need_longer_than_others(usual, own, limit):
    slow = Slow()
    slow.deadline_s = own
    build = builder({"image/any": slow, **PARSERS}, deadline_s=usual)

    assert build.get_deadline("image/any") == limit
    assert build.get_deadline("text/markdown") == usual


class Stopping:
    """A parser that writes a page and does not get to the end of the next."""

    version = "stopping-v1"

    def __init__(self, stop, *, writes=True):
        self._stop = stop
        self._writes = writes

    def parse(self, data, path):
        builder = TextBuilder()
        if self._writes:
            builder.begin_place(Place(0, 1, of=9))
            builder.add_paragraph("the first page")
        self._stop()
        return builder.build(path)


def exhaust():
    raise MemoryError


def spin():
    Endless().parse(b"", "")


PDF_ENTRY = FileEntry("a.pdf", "a.pdf", 1, 1, 1, "application/pdf")


def build_stopping(monkeypatch, parser):
    monkeypatch.setattr(registry, "_load_parser", lambda _target: parser)
    parsers = {"application/pdf": LazyParser("stopping-v1", "-")}
    content = FileContent(data=b"%PDF-1.7", stamp=FileStamp(size=8, mtime_ns=1, inode=1))
    return builder(parsers, 0.2).build_row(BuildTask(SOURCE, PDF_ENTRY, DocId("d")), content)


@pytest.mark.parametrize(
    ("stop", "cause"),
    [
        (spin, "reading takes longer than `ingest.deadline_s`"),
        (exhaust, "there is not enough memory, see `ingest.max_memory_mb`"),
    ],
)
def test_what_was_read_before_a_limit_is_a_document_that_says_so(monkeypatch, stop, cause):
    row = build_stopping(monkeypatch, Stopping(stop))
    assert [chunk.chunk.text for chunk in row.chunks] == ["the first page"]
    assert row.warnings == (f"only the first 14 characters (1 of 9 pages) are searched: {cause}",)
    assert is_partial(row.warnings)


def test_passages_that_were_cut_before_the_deadline_are_kept(entry, monkeypatch):
    monkeypatch.setattr(build, "_CHUNKS_AT_ONCE", 1)
    monkeypatch.setattr(split, "_PART_CHARS", 100)

    def count(texts):
        if any("late" in text for text in texts):
            spin()
        return estimate_tokens(texts)

    text = (
        "".join(f"# Part {n}\n\n{'words of a part. ' * 30}\n\n" for n in range(5)) + "# late\n\nx"
    )
    slow = replace(builder(PARSERS, 0.5), budget=Budget(count=count))
    content = FileContent(data=text.encode(), stamp=FileStamp(size=1, mtime_ns=1, inode=1))
    row = slow.build_row(BuildTask(SOURCE, entry, DocId("d")), content)
    assert row.chunks[-1].chunk.heading_path == ("Part 4",)
    assert row.warnings[0].startswith("only the first 2,6")
    assert is_partial(row.warnings)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("\n \n", "no text"),
        ("---\ntags: []\n---\n", "only front matter"),
        ("<!-- a note -->\n", "only comments or marks"),
        ("a" * 20_000, "left out as encoded, minified or repeated data: 20,000 characters"),
    ],
)
def test_a_document_without_text_has_a_passage_for_its_name_and_says_why(entry, text, cause):
    content = FileContent(data=text.encode(), stamp=FileStamp(size=1, mtime_ns=1, inode=1))
    row = builder(PARSERS).build_row(BuildTask(SOURCE, entry, DocId("d")), content)
    assert [(one.chunk.text, one.chunk.start_line) for one in row.chunks] == [("", 1)]
    assert find_emptiness(row.warnings) == cause
