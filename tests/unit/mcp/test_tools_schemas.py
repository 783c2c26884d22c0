"""Schemas of tools are short, and say the same as the records."""

import jsonschema
import pytest
from msgspec import Struct

from kebab.mcp.tools import build_input_schema, build_output_schema


class Part(Struct, kw_only=True):
    """A part."""

    name: str


class Whole(Struct, kw_only=True, forbid_unknown_fields=True):
    """A whole."""

    parts: list[Part]
    either: str | list[str]
    limit: int = 3
    path: str | None = None
    is_deep: bool = False


def test_an_input_schema_is_closed_and_without_null_alternatives():
    assert build_input_schema(Whole) == {
        "type": "object",
        "properties": {
            "parts": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
            "either": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
            },
            "limit": {"type": "integer", "default": 3},
            "path": {"type": "string"},
            "is_deep": {"type": "boolean"},
        },
        "required": ["parts", "either"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("value", "fits"),
    [({"parts": [], "either": "x"}, True), ({"code": "locked"}, True), ({"parts": []}, False)],
)
def test_an_output_schema_takes_a_result_or_an_error(value, fits):
    validator = jsonschema.Draft202012Validator(build_output_schema(Whole))

    assert validator.is_valid(value) is fits
