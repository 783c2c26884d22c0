"""The conformance suite of the port `Conversations`: the fake and the adapter run it."""

from dataclasses import replace

import pytest

from kebab.core.answers import AnswerMode, Refusal, StoredSession
from kebab.store.sqlite.connection import open_writer
from kebab.store.sqlite.sessions import SqliteConversations
from tests.fakes.conversations import MemoryConversations, turn

LIMIT = 3
HOSTILE = "a\0b\x1b[2J\u202e\u2028\r\n'; DROP TABLE turns; --" + "아주 긴 " * 20_000


@pytest.fixture(params=["memory", "sqlite"])
def conversations(request, tmp_path):
    if request.param == "memory":
        return MemoryConversations(LIMIT)
    open_writer(tmp_path).close()
    return SqliteConversations(tmp_path, LIMIT)


def asked(conversations, session, *questions, at=1.0):
    return [
        conversations.add(turn(session, question, created=at + number))
        for number, question in enumerate(questions)
    ]


def questions(turns):
    return [one.question for one in turns]


@pytest.mark.parametrize(
    "said",
    [
        turn(),
        turn(refusal=Refusal.SCORE_GATE, mode=AnswerMode.EXTRACTIVE, model=None),
        turn(question="백업은 어떻게 해?", answer="", created=1_700_000_000.123),
        turn(session="e\u0301 'x'", question=HOSTILE, standalone=HOSTILE, answer=HOSTILE),
    ],
    ids=["answer", "refusal", "korean", "hostile"],
)
def test_a_turn_comes_back_as_it_was_but_for_its_index(conversations, said):
    index = conversations.add(replace(said, index=77))

    assert index == 0
    assert conversations.turns(said.session) == [replace(said, index=0)]


@pytest.mark.parametrize("refusal", Refusal)
@pytest.mark.parametrize("mode", AnswerMode)
def test_every_outcome_can_be_remembered(conversations, refusal, mode):
    conversations.add(turn(refusal=refusal, mode=mode))

    (found,) = conversations.turns("talk")
    assert (found.refusal, found.mode) == (refusal, mode)
    assert isinstance(found.refusal, Refusal)


def test_turns_come_in_the_order_in_which_they_were_added(conversations):
    assert asked(conversations, "talk", "one", "two", "three") == [0, 1, 2]
    conversations.add(turn("other"))

    assert questions(conversations.turns("talk")) == ["one", "two", "three"]
    assert [one.index for one in conversations.turns("talk")] == [0, 1, 2]


@pytest.mark.parametrize(
    ("last", "expected"),
    [(0, []), (1, ["three"]), (2, ["two", "three"]), (9, ["one", "two", "three"])],
)
def test_only_the_last_turns_can_be_asked_for(conversations, last, expected):
    asked(conversations, "talk", "one", "two", "three")

    assert questions(conversations.turns("talk", last)) == expected


def test_an_unknown_session_has_no_turns(conversations):
    conversations.add(turn("talk"))

    assert conversations.turns("Talk") == []
    assert conversations.turns("tal") == []


def test_the_oldest_turns_beyond_the_limit_go_and_indexes_go_on(conversations):
    conversations.add(turn("other"))
    assert asked(conversations, "talk", *"abcde") == [0, 1, 2, 3, 4]

    assert [(one.index, one.question) for one in conversations.turns("talk")] == [
        (2, "c"),
        (3, "d"),
        (4, "e"),
    ]
    assert len(conversations.turns("other")) == 1


def test_sessions_are_listed_with_the_one_used_last_first(conversations):
    asked(conversations, "old", "one", "two", at=10)
    asked(conversations, "new", "three", at=50)
    asked(conversations, "old", "four", at=90)

    assert conversations.sessions() == [
        StoredSession(name="old", turns=3, first_question="one", created=10, updated=90),
        StoredSession(name="new", turns=1, first_question="three", created=50, updated=50),
    ]


def test_sessions_used_at_the_same_time_are_listed_by_name(conversations):
    for name in ("b", "가", "B", "a"):
        conversations.add(turn(name))

    assert [one.name for one in conversations.sessions()] == ["B", "a", "b", "가"]


def test_the_first_question_is_the_oldest_that_is_remembered(conversations):
    asked(conversations, "talk", *"abcde")

    (found,) = conversations.sessions()
    assert (found.turns, found.first_question, found.created, found.updated) == (3, "c", 3, 5)


def test_a_forgotten_session_is_gone_and_begins_anew(conversations):
    asked(conversations, "talk", "one", "two")
    conversations.add(turn("other"))

    assert conversations.forget("talk") == 2
    assert conversations.turns("talk") == []
    assert [one.name for one in conversations.sessions()] == ["other"]
    assert conversations.add(turn("talk")) == 0


def test_forgetting_what_is_not_there_forgets_nothing(conversations):
    conversations.add(turn("talk"))

    assert conversations.forget("Talk") == 0
    assert len(conversations.sessions()) == 1


def test_at_first_there_is_no_session(conversations):
    assert conversations.sessions() == []
