"""The store of sessions."""

import pytest
from msgspec.structs import replace

from kebab.store.sqlite.connection import open_writer
from kebab.store.sqlite.sessions import SqliteSessionStore
from kebab.wire.ask import SessionSummary
from tests.fakes.session_store import turn

LIMIT = 3
HOSTILE = "a\0b\x1b[2J\u202e\u2028\r\n'; DROP TABLE turns; --" + "아주 긴 " * 20_000


@pytest.fixture
def session_store(tmp_path):
    open_writer(tmp_path).close()
    return SqliteSessionStore(tmp_path, LIMIT)


def ask_question(session_store, session, *questions, at=1.0):
    return [
        session_store.add_turn(turn(session, question, created=at + number))
        for number, question in enumerate(questions)
    ]


def list_questions(turns):
    return [one.question for one in turns]


@pytest.mark.parametrize(
    "said",
    [
        turn(),
        turn(refusal="score_gate", mode="extractive", model=None),
        turn(question="백업은 어떻게 해?", answer="", created=1_700_000_000.123),
        turn(session="e\u0301 'x'", question=HOSTILE, standalone=HOSTILE, answer=HOSTILE),
    ],
    ids=["answer", "refusal", "korean", "hostile"],
)
def test_a_turn_is_stored_unchanged_except_for_its_index(session_store, said):
    index = session_store.add_turn(replace(said, index=77))

    assert index == 0
    assert session_store.list_turns(said.session) == [replace(said, index=0)]


def test_turns_are_listed_in_the_order_of_addition(session_store):
    assert ask_question(session_store, "talk", "one", "two", "three") == [0, 1, 2]
    session_store.add_turn(turn("other"))

    assert list_questions(session_store.list_turns("talk")) == ["one", "two", "three"]
    assert [one.index for one in session_store.list_turns("talk")] == [0, 1, 2]


@pytest.mark.parametrize(
    ("last", "expected"),
    [(0, []), (1, ["three"]), (2, ["two", "three"]), (9, ["one", "two", "three"])],
)
def test_only_the_last_turns_can_be_listed(session_store, last, expected):
    ask_question(session_store, "talk", "one", "two", "three")

    assert list_questions(session_store.list_turns("talk", last)) == expected


def test_an_unknown_session_has_no_turns(session_store):
    session_store.add_turn(turn("talk"))

    assert session_store.list_turns("Talk") == []
    assert session_store.list_turns("tal") == []


def test_the_oldest_turns_beyond_the_limit_are_deleted_and_indexes_continue(session_store):
    session_store.add_turn(turn("other"))
    assert ask_question(session_store, "talk", *"abcde") == [0, 1, 2, 3, 4]

    assert [(one.index, one.question) for one in session_store.list_turns("talk")] == [
        (2, "c"),
        (3, "d"),
        (4, "e"),
    ]
    assert len(session_store.list_turns("other")) == 1


def test_the_most_recently_used_session_is_listed_first(session_store):
    ask_question(session_store, "old", "one", "two", at=10)
    ask_question(session_store, "new", "three", at=50)
    ask_question(session_store, "old", "four", at=90)

    assert session_store.list_sessions() == [
        SessionSummary(
            name="old",
            turns=3,
            answered=3,
            stopped=0,
            folder=None,
            first_question="one",
            created_at="1970-01-01T00:00:10.000Z",
            updated_at="1970-01-01T00:01:30.000Z",
        ),
        SessionSummary(
            name="new",
            turns=1,
            answered=1,
            stopped=0,
            folder=None,
            first_question="three",
            created_at="1970-01-01T00:00:50.000Z",
            updated_at="1970-01-01T00:00:50.000Z",
        ),
    ]


def test_a_deleted_session_is_gone_and_starts_anew(session_store):
    ask_question(session_store, "talk", "one", "two")
    session_store.add_turn(turn("other"))

    assert session_store.delete_session("talk") == 2
    assert session_store.list_turns("talk") == []
    assert [one.name for one in session_store.list_sessions()] == ["other"]
    assert session_store.add_turn(turn("talk")) == 0
