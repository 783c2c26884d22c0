import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.why import render_why
from kebab.wire.related import Barrier, FilterReading, PhraseReading, TermReading
from kebab.wire.search import DegradedChannel
from tests.fakes import replies

PHRASE = PhraseReading(text="oil embargo", column=None)
HEADED = PhraseReading(text="oil", column="title")


def drawn(canvas=None, **changes):
    return list(render_why(replies.explanation(**changes), canvas or Canvas()))


def test_a_pipe_gets_a_plain_layout():
    assert drawn() == [
        "found at rank 1",
        "",
        "document  ops/backup.md",
        "query     restore",
        "terms     restor 1.5",
        "intent    names a topic",
        "",
        " 1  ops/backup.md:12-13",
        "    Backups > Restoring",
        "                   rank     score",
        "    words             1     7.500",
        "    meaning           3     0.412",
        "    together          2     0.500",
        "      context              +0.125",
        "      spread               -0.050",
        "    final             1     0.575",
        "    hit               1      0.87",
        "    holds       restor (headings, body)",
    ]


def test_a_lost_document_has_a_hint():
    lost = drawn(found=False, verdict="too_far", message="lost: far", hint="kebab search x")

    assert lost[:2] == ["lost: far", "hint: kebab search x"]


def test_the_whole_query_reading_is_shown():
    left_out = [
        TermReading(text=use, prefix=False, use=use, weight=None, passages=0)
        for use in ("absent", "common", "surplus", "filler")
    ]
    read = replies.reading(
        terms=left_out,
        required=[PHRASE],
        excluded=[HEADED],
        relaxed=True,
        filters=[
            FilterReading(name="tag", values=["a", "b"], origin="request"),
            FilterReading(name="lang", values=["en"], origin="query"),
        ],
        topic=0.25,
        question=0.75,
    )

    unasked = "absent (occurs nowhere), common (in most passages)"
    more = "surplus (beyond the most terms), filler (question word)"

    assert drawn(reading=read, passages=[])[2:] == [
        "document  ops/backup.md",
        "query     restore",
        f"left out  {unasked}, {more}",
        "phrases   “oil embargo”",
        "given up  quoted words that no passage contains exactly",
        "without   title:“oil”",
        "filters   tag a or b, lang en (in the query)",
        "intent    asks for one passage (75%), names a topic (25%)",
    ]


@pytest.mark.parametrize(
    ("barrier", "text"),
    [
        (Barrier(kind="filter", filter="tag", phrase=None), "filter tag"),
        (
            Barrier(kind="phrase", filter=None, phrase=PHRASE),
            "does not hold “oil embargo”",
        ),
        (
            Barrier(kind="exclusion", filter=None, phrase=HEADED),
            "holds the excluded title:“oil”",
        ),
    ],
)
def test_conditions_that_exclude_a_passage_are_shown_below_it(barrier, text):
    lines = drawn(passages=[replies.account(barriers=[barrier])])

    assert f"    kept out: {text}" in lines


@pytest.mark.parametrize(
    ("vector", "mode", "note"),
    [
        ("pending", "hybrid", "it waits for its vector"),
        ("unsupported", "hybrid", "the model does not know its script"),
        ("committed", "hybrid", "not compared"),
        ("committed", "lexical", "not asked"),
    ],
)
def test_a_passage_missing_in_a_channel_has_a_reason(vector, mode, note):
    nowhere = replies.standing()
    one = replies.account(
        vector=vector,
        lexical=nowhere,
        semantic=nowhere,
        final=nowhere,
        score=None,
        hit_rank=None,
        held=replies.account(lifts=[]).held,
    )

    lines = drawn(mode=mode, passages=[one])

    assert "    words             –            none of the terms" in lines
    assert f"    meaning           –            {note}" in lines
    assert not any(line.strip().startswith("final") for line in lines)


def test_ignored_words_are_marked():
    one = replies.account(lexical=replies.standing())

    assert any(line.endswith("not asked") for line in drawn(mode="vector", passages=[one]))


def test_a_rank_beyond_the_candidates_is_marked():
    far = replies.account(lexical=replies.standing(1412, 0.5, candidate=False))

    assert "    words         1,412     0.500  ranked too low to be considered" in drawn(
        passages=[far]
    )


@pytest.mark.parametrize(
    ("withheld", "note"),
    [("per_doc", "--per-doc leaves it out"), ("copies", "another hit has the same text")],
)
def test_a_withheld_passage_has_a_reason(withheld, note):
    one = replies.account(hit_rank=None, withheld=withheld)

    assert f"    hit               –            not shown: {note}" in drawn(passages=[one])


def test_a_later_page_and_missing_terms_are_reported():
    term = TermReading(text="zebra", prefix=False, use="asked", weight=2.0, passages=1)
    lines = drawn(
        limit=10, passages=[replies.account(hit_rank=14)], reading=replies.reading(terms=[term])
    )

    assert "    hit              14      0.87  the page holds 10" in lines
    assert lines[-1] == "    lacks       zebra"


def test_a_degraded_channel_is_reported():
    lost = DegradedChannel(channel="vector", reason="no vector yet", hint="kebab ingest")

    assert drawn(degraded=[lost])[-2:] == [
        "note: no search by meaning: no vector yet",
        "hint: kebab ingest",
    ]


def test_foreign_text_cannot_control_the_terminal():
    lines = drawn(
        message="lost: \x1b[2J", query="\x1b[2J", reading=replies.reading(plain="\x1b[2J")
    )

    assert "\x1b" not in "\n".join(lines)


def test_no_line_is_wider_than_the_terminal():
    read = replies.reading(plain="many words of a long question " * 5)
    lines = drawn(Canvas(width=40), reading=read, message="lost: " + "because of this " * 8)

    assert all(len(line) <= 40 for line in lines)
