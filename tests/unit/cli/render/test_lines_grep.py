from kebab.cli.render import lines as grep
from kebab.cli.render.canvas import Canvas
from kebab.wire.fetch import SkippedFile
from kebab.wire.record import PageCitation, PageSpan
from tests.fakes import replies

PIPE, TERMINAL, COLOR = Canvas(), Canvas(width=40), Canvas(width=40, color=True)
HIT = replies.grep_hit()
PATH = str(HIT.file)


def around(line, before=(), after=(), **changes):
    return replies.grep_hit(line=line, before=list(before), after=list(after), **changes)


def test_a_terminal_gets_the_lines_below_their_file_with_bold_matches():
    lines = list(grep.render_matches(replies.grep_response(HIT), TERMINAL))
    bright = list(grep.render_matches(replies.grep_response(HIT), COLOR))

    assert lines == [PATH, "12:Stop the writer,"]
    assert "Stop \x1b[33m\x1b[1mthe\x1b[0m writer," in bright[1]


def test_lines_around_several_hits_are_printed_once():
    hits = [
        around(3, ["b"], ["d"], text="C"),
        around(5, ["d"], ["f"], text="E"),
        around(20, ["s"], text="T"),
    ]
    lines = list(grep.render_matches(replies.grep_response(*hits), PIPE))

    assert [line.removeprefix(PATH) for line in lines] == [
        "-2-b",
        ":3:C",
        "-4-d",
        ":5:E",
        "-6-f",
        "--",
        "-19-s",
        ":20:T",
    ]


def test_a_wide_line_is_cut_around_its_match():
    hit = replies.grep_hit(text="x" * 100 + "needle" + "y" * 100, highlights=[(100, 106)])
    (_, line) = grep.render_matches(replies.grep_response(hit), TERMINAL)

    assert len(line) <= 40
    assert "needle" in line
    assert line.startswith("12:…")
    assert line.endswith("…")


def test_a_line_that_was_cut_says_so_in_a_pipe():
    hit = replies.grep_hit(is_cut=True, column=70)

    assert grep.mark_cuts(hit) == "…Stop the writer,…"
    assert grep.mark_cuts(replies.grep_hit(is_cut=True)) == "Stop the writer,…"


def test_notes_say_what_limits_the_result():
    skipped = [SkippedFile(doc_path=f"{name}.md", file=None, reason="gone") for name in "abcd"]
    reply = replies.grep_response(HIT, skipped=skipped, has_more=True)

    assert list(grep.list_grep_notes(reply, PIPE)) == [
        "note: not searched: a.md (gone), b.md (gone), c.md (gone) and 1 more",
        "note: further lines match; raise `--limit` or `--max-count`",
    ]
    assert list(grep.list_grep_notes(replies.grep_response(pattern=r"a\|b"), PIPE)) == [
        r"note: `\|` is the sign itself; alternatives are written `a|b`",
        r"note: no line matches in 4 files: a\|b",
    ]


def test_a_file_without_lines_is_cited_by_page():
    page = PageCitation(path="a.pdf", uri="a.pdf#page=3", page=PageSpan(number=3, of=9))
    hit = replies.grep_hit(
        file="/n/a.pdf", citation=page, line=40, column=5, before=["b"], text="text"
    )
    reply = replies.grep_response(hit)

    assert list(grep.render_matches(reply, PIPE)) == ["/n/a.pdf-b", "/n/a.pdf#page=3:text"]
    assert list(grep.render_matches(reply, TERMINAL))[-2:] == ["       -b", "#page=3:text"]


def test_files_that_are_not_read_are_not_searched():
    found = replies.coverage(new=1, changed=2)

    none = list(grep.list_grep_notes(replies.grep_response(files=[], coverage=found), PIPE))
    some = list(grep.list_grep_notes(replies.grep_response(HIT, coverage=found), PIPE))

    assert none[-1].endswith("(1 new file is not read yet)")
    assert some == ["note: not searched: 1 new file is not read yet"]
