import json

import msgspec
import pytest

from kebab.errors.catalog import InvalidInput
from kebab.wire.bench import BenchFigure, BenchReport
from kebab.wire.error import Warned
from kebab.wire.record import DECODE_ERRORS, add_envelope, decode_request, encode_json
from kebab.wire.search import SearchRequest
from tests.shape.libraries import list_own_exceptions


def test_a_reply_shows_its_envelope_only_at_the_top_level():
    reply = Warned(message="m")
    top = add_envelope(reply, command="search", timestamp="2026-01-01T00:00:00Z", exit_code=0)

    assert json.loads(encode_json(reply)) == {
        "schema_version": "warning.v1",
        "message": "m",
        "hint": None,
    }
    assert json.loads(encode_json(top))["exit_code"] == 0
    assert json.loads(encode_json(top))["output_format"] == "json"


def test_text_is_never_escaped_to_ascii_and_takes_one_line():
    raw = encode_json(Warned(message="각주\nline"))

    assert "각주".encode() in raw
    assert b"\n" not in raw


def test_floats_are_rounded_to_six_places_at_any_depth():
    figure = BenchFigure(
        name="n",
        unit="s",
        minimum=0.1234567891,
        median=0.1 + 0.2,
        maximum=1.0,
        runs=1,
        yardstick=None,
        ratio=None,
        budget=None,
        within=None,
    )
    written = json.loads(encode_json(BenchReport(chunks=1, seed=1, figures=[figure])))["figures"][0]

    assert (written["minimum"], written["median"]) == (0.123457, 0.3)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b'{"query": "a", "limit": "3"}', "$.limit"),
        (b'{"query": "a", "tag": ["x", 1]}', "$.tag[1]"),
        (b'{"query": "a", "limit": 0}', "$.limit"),
        (b'{"query": "a", "lines": 3}', "$"),
        (b"[]", "$"),
        (b"not json", "$"),
        (b'"\xff"', "$"),
    ],
)
def test_a_request_that_breaks_its_schema_names_the_field(raw, field):
    with pytest.raises(InvalidInput) as caught:
        decode_request(raw, SearchRequest)

    assert caught.value.field == field


def test_a_request_may_name_its_schema_but_no_other():
    raw = b'{"schema_version": "search_request.v1", "query": "a"}'

    assert decode_request(raw, SearchRequest).query == "a"
    with pytest.raises(InvalidInput):
        decode_request(raw.replace(b".v1", b".v9"), SearchRequest)


def test_records_are_frozen():
    with pytest.raises(AttributeError):
        Warned(message="m").message = "other"  # type: ignore[misc]
    assert msgspec.structs.replace(Warned(message="m"), hint="h").hint == "h"


def test_every_exception_of_the_library_is_one_of_decoding_or_a_misuse():
    misuse = {msgspec.MsgspecError, msgspec.EncodeError}

    caught = {kind for kind in list_own_exceptions("msgspec") if issubclass(kind, DECODE_ERRORS)}

    assert caught == list_own_exceptions("msgspec") - misuse
    assert msgspec.ValidationError in caught


@pytest.mark.parametrize("raw", [b"[" * 100_000, b'{"query": ' * 100_000])
def test_a_request_nested_beyond_reason_is_refused(raw):
    with pytest.raises(InvalidInput):
        decode_request(raw, SearchRequest)
