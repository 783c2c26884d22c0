import msgspec
import pytest

from kebab.app.search import search_all as search
from kebab.config.settings import Settings
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.errors.signal import Exit
from kebab.server.events import search_lines
from tests.fakes import replies


@pytest.fixture
def library(desk):
    """A desk with a dozen notes."""
    for number in range(12):
        desk.write(
            f"{number}.md", f"# Notes {number}\n\nThese notes hold a backup of day {number}.\n"
        )
    desk.ingest()
    return desk


def answers(library, lines):
    context = library.context()
    defaults = {"limit": 4}
    found = search_lines(lambda asked: search(context, asked), lines, context.settings, defaults)
    return (item for item, _ in found)


def test_bulk_answers_every_line_in_order(library):
    lines = [
        b'"notes"\n',
        b"\n",
        b'  {"query": "backup", "limit": 2, "since": ""}\n',
        b"   \n",
        b"{broken\n",
        b'{"query": "notes", "limit": 0}\n',
        b'{"query": "notes", "colour": "red"}\n',
        b"[1]\n",
        b'""\n',
        b'"\xff"\n',
        b'"notes", "limit": 1\n',
        b"[" * 100_000 + b"\n",
    ]
    items = list(answers(library, lines))
    errors = [None if item.error is msgspec.UNSET else item.error.code for item in items]

    assert [item.index for item in items] == list(range(10))
    assert errors == [None, None] + ["invalid_input"] * 8
    assert [item.query for item in items] == [
        *("notes", "backup", None, "notes", "notes", None, "", None, None, None)
    ]
    assert [len(item.response.hits) for item in items if item.response] == [4, 2]
    assert [item.error.details["field"] for item in items if item.error][1] == "$.limit"
    assert all((item.error is msgspec.UNSET) != (item.response is msgspec.UNSET) for item in items)


def test_bulk_answers_before_the_next_line_is_read(library):
    def lines():
        yield b'"notes"'
        raise AssertionError("read too early")

    assert next(answers(library, lines())).query == "notes"


def test_a_line_may_hold_several_queries(library):
    [item] = answers(library, [b'{"queries": ["backup", "cat on a mat"], "limit": 3}'])

    assert item.query == item.response.query == "backup | cat on a mat"
    assert 0 in item.response.hits[0].queries


def test_an_invalid_line_keeps_its_queries(library):
    [item] = answers(library, [b'{"query": "a", "queries": ["b", 1], "limit": 0}'])

    assert (item.query, item.error.code) == ("a | b", "invalid_input")


FOUND, NOTHING = replies.response(replies.hit()), replies.response()
DOUBTFUL = replies.response(replies.hit(confidence="weak"), convincing=False)
REFUSED = InvalidInput(field="$", cause="x")
UNINDEXED = NotIndexed(data_dir="/x", expected="1", found=None)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (FOUND, Exit.DONE),
        (NOTHING, Exit.NO),
        (DOUBTFUL, Exit.NO),
        (REFUSED, Exit.ERROR),
        (UNINDEXED, Exit.UNUSABLE),
    ],
)
def test_the_exit_status_of_a_line_says_what_was_found(outcome, status):
    def search_one(_):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    ((_, found),) = search_lines(search_one, [b'"x"'], Settings(), {})
    assert found is status
