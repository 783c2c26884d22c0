from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_chunk, render_document
from tests.fakes import replies


def test_a_document_is_shown_with_its_passages():
    reply = replies.doc_inspection(
        warnings=["bad front matter"], chunks=[replies.brief(vector="pending")]
    )

    lines = list(render_document(reply, Canvas()))

    assert lines[0] == "Backups"
    assert "note: bad front matter" in lines
    assert lines[-2] == "1 passage"
    assert lines[-1].endswith("ops/backup.md:12  Backups > Restoring  41 characters  (pending)")


def test_text_from_standard_input_shows_no_file():
    assert not [
        line
        for line in render_document(replies.doc_inspection(file=None), Canvas())
        if line.startswith("file")
    ]


def test_a_passage_is_shown_with_its_neighbours_and_its_text():
    lines = list(render_chunk(replies.chunk_inspection(), Canvas()))

    assert "vector    committed (fastembed-minilml6-384-v1)" in lines
    assert f"next      {'e' * 32}" in lines
    assert not [line for line in lines if line.startswith("previous")]
    assert lines[-2:] == ["Stop the writer,", "then restore."]


def test_a_passage_names_the_one_before_it():
    reply = replies.chunk_inspection(previous_chunk_id="d" * 32, next_chunk_id=None)

    lines = list(render_chunk(reply, Canvas()))

    assert f"previous  {'d' * 32}" in lines
    assert not [line for line in lines if line.startswith("next")]


def test_a_terminal_gets_the_passages_as_columns():
    lines = list(render_document(replies.doc_inspection(), Canvas(width=60)))

    heads = next(number for number, line in enumerate(lines) if "characters" in line)
    assert lines[heads].split() == ["id", "place", "headings", "characters"]
    assert lines[heads + 1].split()[1] == "12-13"
    assert all(len(line) <= 60 for line in lines)
