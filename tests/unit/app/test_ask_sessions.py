import pytest

from kebab.app.ask import list_sessions, remove_sessions
from kebab.errors.catalog import InvalidInput
from kebab.rag.sessions import parse_session_name
from kebab.wire.ask import SessionListRequest, SessionRemoved, SessionRmRequest
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
        refusal="score_gate",
        mode="extractive",
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


def test_sessions_are_deleted_by_name(talks):
    found = remove_sessions(
        talks.context(), SessionRmRequest(names=["garden", " backups", "garden"])
    )

    assert found == SessionRemoved(names=["garden", "backups"], turns=3, found=True)
    assert names(talks) == []


def test_cursors_stay_valid_over_a_turn(desk):
    for number in range(4):
        desk.write(f"{number}.md", f"the cat number {number}\n")
    desk.ingest()
    page = desk.search("cat", limit=2)
    desk.context().session_store.add_turn(turn())

    assert page.next_cursor is not None
    assert len(desk.search("cat", limit=2, cursor=page.next_cursor).hits) == 2
