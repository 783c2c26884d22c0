from kebab.cli.render.canvas import Canvas
from kebab.cli.render.lines import list_notes, render_fetched, render_lines
from kebab.wire.fetch import FetchList
from kebab.wire.record import FetchedPlace, PageCitation, PageSpan
from tests.fakes import replies

PIPE, TERMINAL = Canvas(), Canvas(width=60)
RESULT = replies.fetch_result(ref="ops/backup.md:12", text="one\ntwo\n")


def build(*results):
    return FetchList(results=list(results), missing=0, truncated=False)


def test_several_references_in_a_pipe_have_a_heading_each():
    missing = replies.not_found("nowhere", "ops/backup.md")
    changed = replies.fetch_result(text="x", freshness="changed")
    lines = list(render_fetched(build(RESULT, missing, changed), PIPE))

    assert lines == [
        "==> ops/backup.md#L12 <== lines 11 to 14 of 40",
        "one\ntwo",
        "",
        "==> nowhere <==",
        "no document named nowhere",
        "which of these?",
        "  ops/backup.md",
        "",
        "==> ops/backup.md#L12 <== lines 11 to 14 of 40, changed since",
        "x",
    ]


def test_notes_tell_what_bare_lines_cannot():
    cut = replies.fetch_result(truncated=True, rest="ops/my note.md#L3")
    old = replies.fetch_result(is_indexed_text=True)

    assert list(list_notes([RESULT, replies.not_found(), cut, old], PIPE)) == [
        "note: cut off by --max-tokens: ops/backup.md",
        "hint: kebab fetch 'ops/my note.md#L3'",
        "note: this is the text that was indexed: ops/backup.md",
    ]


def test_a_note_states_which_lines_one_reference_shows():
    whole = replies.fetch_result(text="x", start_line=1, end_line=1, line_count=1)

    assert list(list_notes([RESULT], PIPE)) == ["note: lines 11 to 14 of 40: ops/backup.md"]
    assert list(list_notes([whole], PIPE)) == []
    assert list(list_notes([RESULT], TERMINAL)) == []


def test_lines_of_a_changed_file_come_with_a_note():
    changed = replies.fetch_result(text="x", freshness="changed")

    assert list(list_notes([changed, RESULT], PIPE)) == [
        "note: changed since it was indexed, these are its lines now: ops/backup.md"
    ]


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
