import json
from importlib import import_module
from pkgutil import iter_modules

import msgspec
import pytest
from msgspec import Struct

import kebab.wire
from kebab.errors.catalog import InvalidInput
from kebab.wire.error import ErrorRow, Warned
from kebab.wire.health import DoctorCheck
from kebab.wire.json_schema import list_records
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import (
    _STATUSES,
    DECODE_ERRORS,
    Hinted,
    Request,
    add_envelope,
    decode_request,
    encode_json,
    read_field_docstrings,
)
from kebab.wire.search import SearchRequest
from tests.fakes import replies
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


def test_floats_are_rounded_to_six_places_at_any_depth():
    hit = replies.hit(score=0.1234567891)
    written = json.loads(encode_json(replies.response(hit)))["hits"][0]

    assert written["score"] == 0.123457


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b'{"query": "a", "limit": "3"}', "$.limit"),
        (b'"\xff"', "$"),
    ],
)
def test_a_request_that_breaks_its_schema_names_the_field(raw, field):
    with pytest.raises(InvalidInput) as caught:
        decode_request(raw, SearchRequest)

    assert caught.value.field == field


def test_every_exception_of_the_library_is_one_of_decoding_or_a_misuse():
    misuse = {msgspec.MsgspecError, msgspec.EncodeError}

    caught = {kind for kind in list_own_exceptions("msgspec") if issubclass(kind, DECODE_ERRORS)}

    assert caught == list_own_exceptions("msgspec") - misuse
    assert msgspec.ValidationError in caught


def list_hinting_records():
    """Return the records with a hint or a fix; the rows of the catalogue hold templates."""
    for module in iter_modules(kebab.wire.__path__):
        found = vars(import_module(f"kebab.wire.{module.name}")).values()
        for one in (one for one in found if isinstance(one, type) and issubclass(one, Struct)):
            types = [one.__annotations__.get(name) for name in ("hint", "fix")]
            if str | None in types and one is not ErrorRow:
                yield one


def test_every_record_with_a_hint_limits_it():
    records = {*list_hinting_records()}

    assert len(records) > 8
    assert [one for one in records if not issubclass(one, Hinted)] == []


@pytest.mark.parametrize("hint", ["x" * 201, "ls\nls", ""], ids=["long", "lines", "empty"])
def test_a_hint_that_is_no_short_line_is_null(hint):
    assert Warned(message="m", hint=hint).hint is None
    assert msgspec.structs.replace(Warned(message="m", hint="kebab list"), hint=hint).hint is None
    assert DoctorCheck(name="n", status="ok", summary="s", fix=hint, duration_ms=0).fix is None


def test_every_field_of_every_request_is_documented():
    bare = [
        f"{form.__name__}.{name}"
        for form in list_records()
        for name in form.__struct_fields__
        if issubclass(form, Request)
        if not read_field_docstrings(form).get(name)
    ]

    assert bare == []


def test_every_name_is_that_of_a_reply():
    names = {
        reply.__struct_config__.tag
        for operation in OPERATIONS.values()
        for reply in operation.replies
    }

    assert set(_STATUSES) <= names
