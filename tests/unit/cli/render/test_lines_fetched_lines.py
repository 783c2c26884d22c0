from kebab.cli.render.canvas import Canvas
from kebab.cli.render.lines import render_lines
from kebab.wire.record import FetchedPlace, PageCitation, PageSpan
from tests.fakes import replies

TERMINAL = Canvas(width=60)


def test_a_terminal_gets_numbers_and_no_control_characters():
    lines = list(render_lines(replies.fetch_result(text="a\nb\x1b[2J\nc\nd"), TERMINAL))

    assert lines == [
        "ops/backup.md  lines 11 to 14 of 40",
        "11 a",
        "12 b\ufffd[2J",
        "13 c",
        "14 d",
    ]


def test_cut_or_stale_text_is_reported():
    lines = list(
        render_lines(
            replies.fetch_result(truncated=True, freshness="gone", is_indexed_text=True), TERMINAL
        )
    )

    assert lines[0].endswith("file is gone, indexed text")
    assert lines[-1] == "cut off by --max-tokens"


PAGES = {
    "text": "one\n\ntwo\nthree",
    "doc_path": "a.pdf",
    "title": "A paper",
    "start_line": 5,
    "end_line": 8,
    "citation": PageCitation(path="a.pdf", uri="a.pdf#page=3", page=PageSpan(number=3, of=9)),
    "places": [
        FetchedPlace(line=5, uri="a.pdf#page=3"),
        FetchedPlace(line=7, uri="a.pdf#page=4"),
    ],
}


def test_several_pages_have_a_mark_each():
    reply = replies.fetch_result(**PAGES)

    marked = ["[page 3]", "one", "", "[page 4]", "two", "three"]

    assert list(render_lines(reply, Canvas())) == marked
    assert list(render_lines(reply, TERMINAL)) == ["a.pdf#page=3  A paper", *marked]
