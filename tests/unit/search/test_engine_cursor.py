from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace

import pytest

from kebab.core.queries import Detail, Filters, Mode, Query
from kebab.errors.catalog import InvalidCursor, StaleCursor
from kebab.search.engine import decode_cursor, encode_cursor

QUERY = Query(text="oil")


def test_a_cursor_gives_its_offset_back():
    assert decode_cursor(encode_cursor(QUERY, 20, 7, "salt"), QUERY, 7, "salt") == 20


@pytest.mark.parametrize(
    "free",
    [
        {"limit": 50},
        {"offset": 3},
        {"trace": True},
        {"detail": Detail.IDS},
        {"snippet_chars": 80},
        {"max_tokens": 900},
    ],
)
def test_fields_that_do_not_affect_the_order_may_change(free):
    assert decode_cursor(encode_cursor(QUERY, 20, 7, "s"), replace(QUERY, **free), 7, "s") == 20


@pytest.mark.parametrize(
    "bound",
    [
        {"text": "gas"},
        {"mode": Mode.LEXICAL},
        {"per_doc": 1},
        {"filters": Filters(tag=("a",))},
        {"filters": Filters(since=1.0)},
    ],
)
def test_a_cursor_for_another_query_is_refused(bound):
    with pytest.raises(InvalidCursor, match="another query"):
        decode_cursor(encode_cursor(QUERY, 20, 7, "s"), replace(QUERY, **bound), 7, "s")


def test_a_cursor_of_another_knowledge_base_is_refused():
    with pytest.raises(InvalidCursor):
        decode_cursor(encode_cursor(QUERY, 20, 7, "salt"), QUERY, 7, "other")


def test_a_cursor_of_another_revision_is_stale():
    with pytest.raises(StaleCursor) as stale:
        decode_cursor(encode_cursor(QUERY, 20, 7, "s"), QUERY, 8, "s")

    assert (stale.value.issued_revision, stale.value.current_revision) == (7, 8)


def test_a_changed_cursor_is_refused():
    raw = urlsafe_b64decode(encode_cursor(QUERY, 20, 7, "s") + "==")

    for place in range(len(raw)):
        changed = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]
        with pytest.raises(InvalidCursor):
            decode_cursor(urlsafe_b64encode(changed).decode().rstrip("="), QUERY, 7, "s")


@pytest.mark.parametrize(
    "junk", ["", "x", "é", "====", "a b", encode_cursor(QUERY, 1, 1, "s") + "A", "A" * 500]
)
def test_text_that_is_no_cursor_is_refused(junk):
    with pytest.raises(InvalidCursor):
        decode_cursor(junk, QUERY, 1, "s")
