import msgspec
import pytest

from kebab.app.bulk import search_lines
from kebab.app.classify import DEFAULT_VIEW
from kebab.app.search import search


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
    assert [item.query for item in items] == ["notes", "backup"] + [None] * 4 + [""] + [None] * 3
    assert [len(item.response.hits) for item in items if item.response] == [10, 2]
    assert [item.error.details["field"] for item in items if item.error][1] == "$.limit"
    assert all((item.error is msgspec.UNSET) != (item.response is msgspec.UNSET) for item in items)


def test_bulk_answers_before_the_next_line_is_read(library):
    def lines():
        yield b'"notes"'
        raise AssertionError("read too early")

    assert next(answers(library, lines())).query == "notes"
