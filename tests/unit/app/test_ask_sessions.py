import pytest

from kebab.app.ask import list_sessions, parse_session_name, remove_sessions, show_session
from kebab.core.answers import AnswerMode, Refusal
from kebab.errors.catalog import InvalidInput
from kebab.wire.ask import (
    SessionListRequest,
    SessionRemoved,
    SessionRmRequest,
    SessionShowRequest,
    SessionSummary,
    SessionTranscript,
)
from kebab.wire.record import NotFound
from tests.fakes.session_store import turn


@pytest.fixture
def talks(desk):
    """A desk with two sessions."""
    desk.ingest()
    kept = desk.context().session_store
    kept.add_turn(turn("garden", "when to prune?", created=0.0))
    kept.add_turn(turn("backups", "how to restore?", created=60.0))
    refused = turn(
        "backups",
        "and on Fridays?",
        standalone="how to restore on Fridays?",
        answer="The notes do not say.",
        refusal=Refusal.SCORE_GATE,
        mode=AnswerMode.EXTRACTIVE,
        model=None,
        created=3600.0,
    )
    kept.add_turn(refused)
    return desk


def names(desk):
    return [one.name for one in list_sessions(desk.context(), SessionListRequest()).sessions]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("talk", "talk"),
        ("  my talk\n", "my talk"),
        ("Talk", "Talk"),
        ("e\u0301te\u0301", "\u00e9t\u00e9"),
        ("\u1100\u1161", "가"),
        ("x" * 100, "x" * 100),
        (" " + "e\u0301" * 100, "\u00e9" * 100),
    ],
)
def test_a_name_is_normalised(text, name):
    assert parse_session_name(text) == name


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "empty"),
        (" \n\u3000", "empty"),
        ("x" * 101, "longer than 100 characters: 101"),
        ("a\nb", "control character"),
        ("a\u2028b", "line break"),
        ("a\x1b[2J", "control character"),
        ("a\0", "control character"),
        ("a\x85b", "control character"),
        ("caf\udce9", "not valid UTF-8"),
        ("\ud800", "not valid UTF-8"),
    ],
)
def test_an_invalid_name_is_refused(text, cause):
    with pytest.raises(InvalidInput) as caught:
        parse_session_name(text)

    assert caught.value.field == "$.session"
    assert cause in caught.value.cause


def test_sessions_are_listed_most_recent_first(talks):
    found = list_sessions(talks.context(), SessionListRequest())

    assert found.sessions == [
        SessionSummary(
            name="backups",
            turns=2,
            first_question="how to restore?",
            created_at="1970-01-01T00:01:00.000Z",
            updated_at="1970-01-01T01:00:00.000Z",
        ),
        SessionSummary(
            name="garden",
            turns=1,
            first_question="when to prune?",
            created_at="1970-01-01T00:00:00.000Z",
            updated_at="1970-01-01T00:00:00.000Z",
        ),
    ]
    assert found.history


def test_stored_sessions_are_listed_when_history_is_off(talks):
    found = list_sessions(talks.context(ask__history=False), SessionListRequest())

    assert (len(found.sessions), found.history) == (2, False)


def test_a_session_is_shown_with_its_turns(talks):
    found = show_session(talks.context(), SessionShowRequest(name=" backups "))

    assert isinstance(found, SessionTranscript)
    assert found.session == list_sessions(talks.context(), SessionListRequest()).sessions[0]
    first, second = found.turns
    assert (first.turn_index, first.question, first.query) == (
        0,
        "how to restore?",
        "how to restore? (alone)",
    )
    assert (first.answer, first.refusal_reason) == ("Like this [1].", None)
    assert (first.mode, first.model) == ("generative", "gemma4:e4b")
    assert (second.turn_index, second.created_at) == (1, "1970-01-01T01:00:00.000Z")
    assert (second.refusal_reason, second.mode, second.model) == ("score_gate", "extractive", None)


@pytest.mark.parametrize("name", ["Backups", "nowhere", "back"])
def test_an_unknown_session_is_a_reply(talks, name):
    shown, gone = (
        show_session(talks.context(), SessionShowRequest(name=name)),
        remove_sessions(talks.context(), SessionRmRequest(names=[name])),
    )

    assert isinstance(shown, NotFound)
    assert shown == gone
    assert (shown.name, shown.error.message) == (name, f"no such session: {name}")


def test_sessions_are_deleted_by_name(talks):
    found = remove_sessions(
        talks.context(), SessionRmRequest(names=["garden", " backups", "garden"])
    )

    assert found == SessionRemoved(names=["garden", "backups"], turns=3, found=True)
    assert names(talks) == []


def test_an_unknown_name_deletes_nothing(talks):
    found = remove_sessions(talks.context(), SessionRmRequest(names=["garden", "nowhere"]))

    assert isinstance(found, NotFound)
    assert found.name == "nowhere"
    assert names(talks) == ["backups", "garden"]


def test_an_invalid_name_deletes_nothing(talks):
    with pytest.raises(InvalidInput):
        remove_sessions(talks.context(), SessionRmRequest(names=["garden", "a\nb"]))

    assert names(talks) == ["backups", "garden"]


def test_deleting_no_session_is_allowed(talks):
    assert remove_sessions(talks.context(), SessionRmRequest(names=[])) == SessionRemoved(
        names=[], turns=0, found=True
    )


def test_cursors_stay_valid_over_a_turn(desk):
    for number in range(4):
        desk.write(f"{number}.md", f"the cat number {number}\n")
    desk.ingest()
    page = desk.search("cat", limit=2)
    desk.context().session_store.add_turn(turn())

    assert page.next_cursor is not None
    assert len(desk.search("cat", limit=2, cursor=page.next_cursor).hits) == 2
