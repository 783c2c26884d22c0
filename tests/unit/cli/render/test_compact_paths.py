import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.compact import (
    find_best_line,
    format_openable_path,
    render_notes,
    render_paths,
    render_vimgrep,
)
from kebab.wire.citation import PageCitation, PageSpan
from kebab.wire.search import DegradedChannel, IndexRefresh, LeftOut
from tests.fakes import replies

TEXT = "# Restore\n\n여행 first\nthe snapshot, then Restore\n"


def hit(**changes):
    return replies.hit(
        **{
            "text": TEXT,
            "text_highlights": [(2, 9), (14, 19), (24, 32), (39, 46)],
            "snippet": "",
            "highlights": [],
            **changes,
        }
    )


def test_each_path_appears_once_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hits = [hit(file=f"{tmp_path}/{name}.md") for name in ("b", "a", "b")]

    assert list(render_paths(replies.response(*hits), Canvas())) == ["b.md", "a.md"]


def test_a_path_opens_from_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")

    assert format_openable_path(f"{tmp_path}/in/a/b.md", "b.md") == "a/b.md"
    assert format_openable_path(f"{tmp_path}/inner/b.md", "b.md") == f"{tmp_path}/inner/b.md"
    assert format_openable_path(None, "talk") == "talk"


def test_a_path_is_absolute_when_the_working_directory_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert format_openable_path(f"{gone}/a.md", "a.md") == f"{gone}/a.md"


def test_a_terminal_gets_paths_without_control_characters():
    odd = replies.response(hit(file="/x/\x1b[2J.md"))

    assert list(render_paths(odd, Canvas(width=80))) == ["/x/\ufffd[2J.md"]
    assert list(render_paths(odd, Canvas())) == ["/x/\x1b[2J.md"]


def test_the_line_with_the_most_different_matches_is_shown():
    assert find_best_line(hit()) == (15, 5, "the snapshot, then Restore")


def test_the_column_counts_bytes():
    assert find_best_line(hit(text_highlights=[(14, 19)])) == (14, 8, "여행 first")


def test_a_passage_without_matches_shows_its_first_line_with_text():
    assert find_best_line(hit(text_highlights=[])) == (12, 1, "# Restore")


def test_a_hit_is_a_line_for_an_editor(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    reply = replies.response(hit(file=f"{tmp_path}/a b.md"))

    assert list(render_vimgrep(reply, Canvas())) == ["a b.md:15:5:the snapshot, then Restore"]


@pytest.mark.parametrize("canvas", [Canvas(), Canvas(width=80, color=True)])
def test_a_citation_without_lines_begins_at_line_1(canvas):
    page = PageCitation(path="a.pdf", uri="a.pdf#page=3", page=PageSpan(number=3, of=9))

    [line] = render_vimgrep(
        replies.response(hit(citation=page, text="x", text_highlights=[], file="/a.pdf")), canvas
    )

    assert line == "/a.pdf:1:1:x"


def test_notes_on_lines_say_what_is_missing():
    missing = DegradedChannel(channel="vector", reason="no model", hint="kebab doctor")
    reply = replies.response(
        hit(), degraded=[missing], convincing=False, left_out=LeftOut(hits=1, tokens=9)
    )

    assert list(render_notes(reply, Canvas(), "kebab search x --page 2")) == [
        "note: no vector search: no model",
        "hint: kebab doctor",
        "note: nothing convincing",
        "left out by --max-tokens: 1 hit, about 9 tokens",
        "more: kebab search x --page 2",
    ]


def test_notes_name_absent_words_and_an_index_that_is_not_up_to_date():
    refresh = IndexRefresh(folder="/n", refreshed=False, reason="`--read-only`")
    reply = replies.response(absent_terms=["zeppelin"], refresh=refresh)

    assert list(render_notes(reply, Canvas(), "")) == [
        "note: the index was not brought up to date: `--read-only`",
        "note: not in your notes: zeppelin",
    ]


def test_the_notes_state_no_absence_that_is_not_covered():
    found = replies.coverage(failed=1, checked=5002)

    empty = list(render_notes(replies.response(coverage=found), Canvas(), ""))
    good = list(render_notes(replies.response(hit(), coverage=found), Canvas(), ""))

    assert empty == ["note: no results so far (1 file could not be read)"]
    assert good == ["note: 1 file could not be read"]
