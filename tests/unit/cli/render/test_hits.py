import pytest
from msgspec.structs import replace

from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.hits import Paging, format_location, render_hits, render_notes
from kebab.wire.coverage import Indexing
from kebab.wire.record import (
    CodeCitation,
    CodeSpan,
    PageCitation,
    PageSpan,
    SectionCitation,
    SectionSpan,
    SlideCitation,
    SlideSpan,
)
from kebab.wire.search import DegradedChannel, LeftOut, UnmatchedFilter
from tests.fakes import replies

CODE = CodeSpan(start=3, end=9, symbol="f", language="python")


@pytest.mark.parametrize(
    ("citation", "text"),
    [
        (replies.line_citation(), "ops/backup.md:12-13"),
        (
            PageCitation(path="a.pdf", uri="a.pdf#page=3", page=PageSpan(number=3, of=9)),
            "a.pdf#page=3",
        ),
        (
            SlideCitation(path="a.pptx", uri="a.pptx#slide=2", slide=SlideSpan(number=2)),
            "a.pptx#slide=2",
        ),
        (
            SectionCitation(
                path="a b.docx", uri="a%20b.docx#T/%ED%95%9C", section=SectionSpan(title="한")
            ),
            "a b.docx#T/한",
        ),
        (CodeCitation(path="a.py", uri="", code=CODE), "a.py:3-9"),
    ],
)
def test_each_kind_of_citation_is_formatted(citation, text):
    assert format_location(citation) == text


def entry(name, value, documents=0, nearest=()):
    return UnmatchedFilter(filter=name, value=value, documents=documents, nearest=list(nearest))


def test_words_are_not_called_absent_where_no_document_was_searched():
    reply = replies.response(
        query="bread", absent_terms=["bread"], unmatched_filters=[entry("tag", "ops")]
    )

    assert not [line for line in render_hits(reply, Canvas(), Paging()) if "not in" in line]


TERMINAL = Canvas(width=40, color=True, links=True)


SCREEN = Canvas(width=40, height=24)


def drawn(reply, canvas=None, paging=None):
    return list(render_hits(reply, canvas or Canvas(), paging or Paging()))


def hits(*confidences, **changes):
    return [
        replies.hit(rank, confidence=confidence, **changes)
        for rank, confidence in enumerate(confidences, start=1)
    ]


def repeat(*more, without=()):
    return " ".join(["kebab search x", *more])


def test_a_pipe_gets_a_plain_layout_with_the_lines_of_the_snippet():
    assert drawn(replies.response(replies.hit())) == [
        " 1  0.83 strong  ops/backup.md:12-13",
        "    Backups > Restoring",
        "    Stop the writer,",
        "    then restore the snapshot.",
        "",
    ]


def test_a_terminal_gets_wrapped_highlighted_lines_and_a_link():
    first, _, *snippet, blank = drawn(replies.response(replies.hit()), TERMINAL)

    assert "\x1b]8;;file:///home/ada/notes/ops/backup.md\x1b\\" in first
    assert len(snippet) == 2
    assert "\x1b[1;33mrestore\x1b[0m" in "".join(snippet)
    assert blank == ""


def test_a_page_of_weak_hits_ends_with_the_verdict():
    weak, strong = replies.hit(confidence="weak"), replies.hit(confidence="strong")
    said = "note: nothing convincing for: ghosts"

    assert drawn(replies.response(weak, weak, query="ghosts"))[-1] == said
    assert said not in drawn(replies.response(strong, weak, query="ghosts"))


def test_the_verdict_names_the_absent_words_in_the_same_sentence():
    reply = replies.response(*hits("weak"), query="old ghosts", absent_terms=["ghosts"])

    said = "note: nothing convincing for: old ghosts; not in your notes: ghosts"
    assert drawn(reply)[-1] == said
    assert sum("ghosts" in line for line in drawn(reply)) == 1


def test_of_weak_hits_only_the_nearest_is_shown():
    reply = replies.response(*hits(*["weak"] * 8))

    lines = drawn(reply, paging=Paging(repeat=repeat))
    whole = drawn(reply, paging=Paging(shows_weak=True))

    assert sum(" weak " in line for line in lines) == 1
    assert lines[-2] == "7 weaker hits: kebab search x --all"
    assert sum(" weak " in line for line in whole) == 8


def test_the_first_page_fits_the_screen():
    reply = replies.response(*hits(*["fair"] * 10))

    lines = drawn(reply, SCREEN, Paging(fits_screen=True, repeat=repeat))

    assert len(lines) <= 22
    assert lines[-1] == "more: kebab search x -n 10"


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(width):
    path = "프로젝트/2024년 상반기 인프라 이전 계획과 그 결과 정리/" * 3 + "스토리지 볼륨 기록.md"
    hit = replies.hit(
        citation=replies.line_citation(path=path),
        heading_path=["Backups", "하나 둘 셋 " * 9, "last"],
        snippet="✅ 🚀 스냅샷이 끝났는지 확인한다. " * 6
        + "\n\n| a | b |\n|---|---|\n| c | "
        + "d " * 99,
        highlights=[],
    )

    lines = drawn(replies.response(hit), Canvas(width=width))

    assert all(measure_width(line) <= width for line in lines)
    assert " ".join("".join(lines[:5]).split()).count("스토리지 볼륨 기록.md:12") == 1
    assert "> last" in "".join(lines)


def test_no_hits_are_reported_with_suggestions():
    lines = drawn(replies.response(query="x\x07", mode="lexical"), paging=Paging(repeat=repeat))

    assert lines == [
        "try both channels: kebab search x --mode hybrid",
        "no results for: x\ufffd",
    ]
    assert drawn(replies.response(query="x"))[0] == "see what is indexed: kebab list"


def test_the_footer_reports_more_hits_limits_and_degraded_channels():
    missing = DegradedChannel(channel="vector", reason="no model", hint="kebab model pull auto")
    reply = replies.response(
        replies.hit(),
        has_more=True,
        next_cursor="C",
        left_out=LeftOut(hits=2, tokens=300),
        degraded=[missing],
    )

    assert drawn(reply, paging=Paging(repeat=repeat))[-4:] == [
        "note: no search by meaning: no model",
        "hint: kebab model pull auto",
        "left out by --max-tokens: 2 hits, about 300 tokens",
        "more: kebab search x --cursor C",
    ]


UNREAD = replies.coverage(unread=2798, checked=2205)
MISSING = "2,798 of 5,003 files are not read yet"


def test_no_results_are_no_absence_while_files_are_unread():
    reply = replies.response(query="fjord", absent_terms=["fjord"], convincing=False)
    reply = replace(reply, coverage=UNREAD)

    text = drawn(reply, paging=Paging(repeat=repeat))

    assert text == [
        "read what is missing first: kebab ingest",
        f"no results so far for: fjord; not in the files that are read: fjord ({MISSING})",
    ]
    assert not any("your notes" in line for line in text)


def test_nothing_is_suggested_while_an_ingest_runs():
    indexing = Indexing(pid=7, started_at="", done=None, total=None, unit=None)
    found = replies.coverage(indexing=indexing, files=0, checked=0)
    reply = replace(replies.response(query="fjord"), coverage=found)

    assert drawn(reply) == [
        "no results so far for: fjord (an ingest is running: scanning folders, pid 7)"
    ]


@pytest.mark.parametrize(
    ("canvas", "form"), [(TERMINAL, "\x1b[2m{}\x1b[0m"), (Canvas(), "{}")], ids=["tty", "pipe"]
)
def test_weak_hits_behind_better_ones_are_one_line(canvas, form):
    reply = replies.response(*hits("strong", "weak", "weak"), has_more=True, next_cursor="C")

    lines = drawn(reply, canvas, Paging(repeat=repeat))

    assert not any(" weak " in line for line in lines)
    assert lines[-1] == form.format("2 weaker hits: kebab search x --all")


def test_the_notes_of_a_page_state_no_absence_that_is_not_covered():
    found = replies.coverage(failed=3, failed_examples=["a.pdf"], checked=5000)

    *_, empty = render_notes(replies.response(coverage=found), Canvas(), Paging())
    good = list(render_notes(replies.response(replies.hit(), coverage=found), Canvas(), Paging()))

    words = "`a.pdf` and 2 more could not be read"
    assert empty.startswith("no results so far for: ")
    assert empty.endswith(f" ({words})")
    assert good == []
    named = replies.response(replies.hit(doc_path="a.pdf"), coverage=found)
    assert words in " ".join(render_notes(named, Canvas(), Paging()))
