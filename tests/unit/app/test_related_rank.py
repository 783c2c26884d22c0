"""Ordering lines with and without a model; nothing is indexed or written."""

import pytest

from kebab.app import related
from kebab.app.related import rank_lines
from kebab.errors.catalog import InvalidInput
from kebab.wire.related import RankRequest

LINES = ["the dog runs", "", "the cat sleeps", "a cat and a dog"]


def ranked(desk, query, lines=LINES, **options):
    return rank_lines(
        desk.context(read_only=True), RankRequest(query=query, lines=lines, **options)
    )


def test_the_best_line_comes_first_and_nothing_is_written(desk):
    before = desk.tree()

    reply = ranked(desk, "cat sleeps")

    assert reply.items[0].index == 2
    assert (reply.total, reply.has_more, [one.rank for one in reply.items]) == (3, False, [1, 2, 3])
    assert desk.tree() == before


def test_without_a_model_words_decide_and_the_reply_says_so(desk):
    reply = ranked(desk, "cat")

    assert reply.embedding_version is None
    assert [one.channel for one in reply.degraded] == ["vector"]
    assert ranked(desk, "cat", mode="lexical").degraded == []


def test_with_a_model_meanings_are_compared(lab):
    reply = ranked(lab, "cat")

    assert reply.embedding_version is not None
    assert reply.degraded == []
    assert reply.total == 3


def test_more_lines_than_the_limit_are_compared_by_words_only(lab, monkeypatch):
    monkeypatch.setattr(related, "EMBED_LIMIT", 2)

    (told,) = ranked(lab, "cat").degraded

    assert told.reason == "meanings compared only for the 2 of 3 lines with the best words"


def test_a_limit_leaves_out_the_worst(desk):
    reply = ranked(desk, "cat", limit=1)

    assert (len(reply.items), reply.total, reply.has_more) == (1, 3, True)


def test_equal_lines_keep_their_order(desk):
    assert [one.index for one in ranked(desk, "zebra").items] == [0, 2, 3]


def test_no_lines_are_no_error(desk):
    assert (ranked(desk, "cat", []).items, ranked(desk, "cat", []).total) == ([], 0)


@pytest.mark.parametrize("query", ["", "  ", "caf\udce9"])
def test_an_empty_or_broken_query_is_refused(desk, query):
    with pytest.raises(InvalidInput):
        ranked(desk, query)


def test_too_many_lines_are_refused(desk, monkeypatch):
    monkeypatch.setattr(related, "MAX_LINES", 2)

    with pytest.raises(InvalidInput, match="more than 2 lines"):
        ranked(desk, "cat")
