from kebab.cli.render.canvas import Canvas
from kebab.cli.render.hits import render_hits
from kebab.wire.search import DegradedChannel, Lift, Retrieval, TraceStage
from tests.fakes import replies

TERMINAL = Canvas(width=40, color=True, links=True)


def drawn(reply, canvas=None, next_page=""):
    return list(render_hits(reply, canvas or Canvas(), next_page))


def test_a_pipe_gets_a_plain_layout_with_the_lines_of_the_snippet():
    assert drawn(replies.response(replies.hit())) == [
        " 1  0.83 strong  ops/backup.md:12",
        "    Backups > Restoring",
        "    Stop the writer,",
        "    then restore the snapshot.",
        "",
    ]


def test_a_terminal_gets_wrapped_highlighted_lines_and_a_link():
    first, _, *snippet, blank = drawn(replies.response(replies.hit()), TERMINAL)

    assert "\x1b]8;;file:///home/ada/notes/ops/backup.md\x1b\\" in first
    assert len(snippet) == 2
    assert "\x1b[33m\x1b[1mrestore\x1b[0m" in "".join(snippet)
    assert blank == ""


def test_text_of_a_file_cannot_control_the_terminal():
    hit = replies.hit(snippet="\x1b[2Jgone", title="\u202etitle", heading_path=[], highlights=[])

    text = "\n".join(drawn(replies.response(hit)))

    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_title_appears_once():
    hit = replies.hit(title="T", heading_path=["A", "B"])

    assert drawn(replies.response(hit))[1] == "    T > A > B"


def test_a_stale_hit_is_noted():
    for freshness, words in (("changed", "(changed since)"), ("gone", "(file is gone)")):
        assert drawn(replies.response(replies.hit(freshness=freshness)))[0].endswith(words)


def test_a_page_of_weak_hits_has_a_note():
    weak, strong = replies.hit(confidence="weak"), replies.hit(confidence="strong")
    said = "note: nothing convincing for: ghosts"

    assert drawn(replies.response(weak, weak, query="ghosts"))[0] == said
    assert said not in drawn(replies.response(strong, weak, query="ghosts"))


def test_of_weak_hits_only_the_nearest_are_shown():
    hits = [replies.hit(confidence="weak", rank=rank) for rank in range(1, 9)]

    lines = drawn(replies.response(*hits))

    assert sum(" weak " in line for line in lines) == 3


def test_a_later_page_of_weak_hits_has_no_note():
    lines = drawn(replies.response(replies.hit(confidence="weak", rank=11)))

    assert not any("nothing convincing" in line for line in lines)


def test_no_hits_are_reported_with_suggestions():
    lines = drawn(replies.response(query="x\x07", mode="lexical"))

    assert lines[0] == "no results for: x\ufffd"
    assert any("--mode hybrid" in line for line in lines)
    assert any("kebab list" in line for line in lines)


def test_the_footer_reports_more_hits_limits_and_degraded_channels():
    missing = DegradedChannel(channel="vector", reason="no model", hint="kebab model pull auto")
    reply = replies.response(
        replies.hit(), has_more=True, next_cursor="C", truncated=True, degraded=[missing]
    )

    assert drawn(reply, next_page="kebab search x --cursor C")[-4:] == [
        "note: no vector search: no model",
        "hint: kebab model pull auto",
        "shortened to fit --max-tokens",
        "more: kebab search x --cursor C",
    ]


def test_a_trace_is_a_table():
    stage = TraceStage(stage="lexical", duration_ms=1.5, candidates=12, note="bm25")

    (line,) = drawn(replies.response(replies.hit(), trace=[stage]))[5:]

    assert line.split() == ["lexical", "1.50", "ms", "12", "bm25"]


def test_a_trace_shows_the_scores_of_each_hit():
    lifts = [Lift(reason="context", value=0.125), Lift(reason="spread", value=-0.05)]
    found = Retrieval(
        method="hybrid",
        lexical_rank=2,
        lexical_score=7.5,
        vector_rank=None,
        vector_score=0.25,
        fusion_score=0.5,
        lifts=lifts,
    )

    lines = drawn(replies.response(replies.hit(retrieval=found)))

    assert lines[4] == (
        "    evidence words 2 (7.500), meaning beyond the candidates (0.250),"
        " context +0.125, spread -0.050, in all 0.500"
    )
