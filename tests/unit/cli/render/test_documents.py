from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.documents import render_document_list
from tests.fakes import replies

TERMINAL = Canvas(width=60)


def test_columns_fit_the_terminal():
    documents = [
        replies.summary(doc_path="notes/" * 20 + "백업.md", title="아주 긴 제목 " * 10),
        replies.summary(freshness="changed", chunk_count=1234),
    ]

    lines = list(render_document_list(replies.doc_list(*documents), TERMINAL))

    assert all(measure_width(line) <= 60 for line in lines)
    assert lines[0].split() == ["document", "title", "passages", "changed"]
    assert "notes/…/백업.md" in lines[1]
    assert lines[2].endswith("changed")
    assert "1,234" in lines[2]


def test_the_footer_has_counts_and_the_command_for_more():
    reply = replies.doc_list(replies.summary(), total=9, offset=4, has_more=True)

    lines = list(render_document_list(reply, TERMINAL, "kebab list --offset 5"))

    assert lines[-2:] == ["5 to 5 of 9 documents", "more: kebab list --offset 5"]


def test_an_empty_library_shows_the_next_command():
    assert next(iter(render_document_list(replies.doc_list(), TERMINAL))) == "no documents"


def test_a_pipe_gets_nothing_when_there_is_nothing():
    assert list(render_document_list(replies.doc_list(), Canvas())) == []


def test_a_tab_in_a_name_does_not_make_a_field():
    (line,) = render_document_list(replies.doc_list(replies.summary(title="a\tb")), Canvas())

    assert line.split("\t")[3] == "a b"
