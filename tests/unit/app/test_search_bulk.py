import msgspec
import pytest

from kebab.app.classify import DEFAULT_VIEW, classify_error
from kebab.app.search import search_all as search
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.errors.signal import Exit
from kebab.server.events import BulkOutcome, search_lines
from kebab.wire.stream import BulkSearchItem
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
    return search_lines(lambda request: search(context, request), lines, DEFAULT_VIEW)


def test_bulk_answers_every_line_in_order(library):
    lines = [
        b'"notes"\n',
        b"\n",
        b'  {"query": "backup", "limit": 2}\n',
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
    assert [len(item.response.hits) for item in items if item.response] == [10, 2]
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
    ("outcomes", "status"),
    [
        ([], Exit.NO),
        ([FOUND, REFUSED], Exit.DONE),
        ([NOTHING, REFUSED], Exit.NO),
        ([DOUBTFUL, REFUSED], Exit.NO),
        ([REFUSED, UNINDEXED], Exit.ERROR),
        ([UNINDEXED, UNINDEXED], Exit.UNUSABLE),
    ],
)
def test_the_exit_status_says_whether_anything_was_found_or_everything_failed(outcomes, status):
    outcome = BulkOutcome()
    for one in outcomes:
        outcome.add(build_item(one))

    assert outcome.status == status


def build_item(outcome):
    if not isinstance(outcome, Exception):
        return BulkSearchItem(index=0, query=None, response=outcome)
    error = classify_error(outcome, operation="search", view=DEFAULT_VIEW).reply
    return BulkSearchItem(index=0, query=None, error=error)
