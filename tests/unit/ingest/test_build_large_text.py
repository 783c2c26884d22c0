import pytest

from kebab.chunk.budget import Budget
from kebab.core.documents import Source
from kebab.core.files import FileEntry
from kebab.core.ids import DocId
from kebab.ingest import build
from kebab.ingest.build import (
    BuildTask,
    DocumentBuilder,
    build_large_row,
    compute_recipes,
    is_large_text,
)
from kebab.parse.registry import PARSERS, guard_parser

PORTION = 2_000
BUILDER = DocumentBuilder(
    parsers=PARSERS,
    guard=guard_parser,
    budget=Budget(),
    chunker="c",
    recipes=compute_recipes(PARSERS, "c"),
    deadline_s=30,
)
TEXT = "---\ntitle: Diary\n---\n\n" + "".join(
    f"# Day {day}\n\nOn day {day} 강아지 the dog ran to the sea and café {day % 7}.\n\n"
    for day in range(300)
)


@pytest.fixture(autouse=True)
def _small_portions(monkeypatch):
    monkeypatch.setattr(build, "_PORTION_BYTES", PORTION)
    monkeypatch.setattr(build, "LARGE_BYTES", 3 * PORTION)


@pytest.fixture
def make_task(tmp_path):
    def make(data, name="a.md", media="text/markdown"):
        path = tmp_path / name
        path.write_bytes(data)
        source = Source(name=str(tmp_path), root=str(tmp_path), kind="folder")
        entry = FileEntry(name, str(path), len(data), 1, 1, media)
        return BuildTask(source, entry, DocId("d"))

    return make


def list_chunks(row):
    return [*row.chunks, *(chunk for chunks in row.more_chunks for chunk in chunks)]


def test_every_chunk_is_where_it_says(make_task):
    row = build_large_row(BUILDER, make_task(TEXT.encode()))
    lines = TEXT.split("\n")
    found = list_chunks(row)

    assert len(found) > len(row.chunks)
    assert [one.chunk.ordinal for one in found] == list(range(len(found)))
    for one in found:
        chunk = one.chunk
        assert TEXT[chunk.start : chunk.end] == chunk.text
        assert chunk.text in "\n".join(lines[chunk.start_line - 1 : chunk.end_line])


def test_no_text_is_lost_between_portions(make_task):
    found = list_chunks(build_large_row(BUILDER, make_task(TEXT.encode())))

    words = " ".join(one.chunk.text for one in found).split()
    assert words == TEXT.partition("---\n\n")[2].split()


@pytest.mark.parametrize("unit", ["강", "é", "x", "😀"])
def test_a_text_without_line_ends_is_cut_between_characters(make_task, unit):
    text = unit * 4_000
    task = make_task(text.encode(), "a.txt", "text/plain")

    found = list_chunks(build_large_row(BUILDER, task))

    assert "".join(one.chunk.text for one in found) == text
    assert {(one.chunk.start_line, one.chunk.end_line) for one in found} == {(1, 1)}


def test_at_a_later_portion_that_is_no_text_the_document_ends_and_says_so(make_task):
    row = build_large_row(BUILDER, make_task(TEXT.encode() + bytes(range(32)) * 200))
    assert len(list_chunks(row)) > 1
    assert [one.partition(" lines")[2] for one in row.late_warnings] == [
        " are searched: binary data, not text"
    ]


def test_portions_that_are_cut_in_part_say_so(make_task, monkeypatch):
    whole = DocumentBuilder.cut_chunks
    monkeypatch.setattr(
        DocumentBuilder,
        "cut_chunks",
        lambda *given: whole(*given)._replace(warnings=("only a half is searched",)),
    )
    row = build_large_row(BUILDER, make_task(b"# A\n\ntext\n\n" * 300))
    list_chunks(row)
    assert [*row.late_warnings][:1] == ["of the part after line 0, only a half is searched"]
    assert len({*row.late_warnings}) == 2


@pytest.mark.parametrize(
    ("data", "media", "is_large"),
    [
        (TEXT.encode(), "text/markdown", True),
        (TEXT.encode(), "application/pdf", False),
        (b"short", "text/markdown", False),
        (TEXT.encode("utf-16"), "text/plain", False),
    ],
)
def test_only_large_texts_are_read_in_portions(make_task, data, media, is_large):
    assert is_large_text(make_task(data, "a", media).entry) is is_large


def test_a_file_that_is_gone_is_left_to_the_usual_way(make_task):
    task = make_task(TEXT.encode())
    entry = replace_path(task.entry)

    assert not is_large_text(entry)


def replace_path(entry):
    return entry._replace(absolute=f"{entry.absolute}.gone")
