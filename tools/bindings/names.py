"""Formats names and values for the bindings."""

import json
from enum import Enum

from kebab.errors.signal import Signal
from kebab.wire.error import read_explanation

ORIGIN = "Generated from kebab/errors/catalog.py by `python -m tools.publish`; do not edit."
"""The head of a generated file."""


def to_pascal_case(name: str) -> str:
    """Return `model_busy` as `ModelBusy`."""
    return "".join(part.capitalize() for part in name.lower().split("_"))


def to_constant_case(name: str) -> str:
    """Return `model_busy` as `MODEL_BUSY`."""
    return name.upper()


def list_values(names: type[Enum]) -> list[str]:
    """Return the values of an enumeration in order of declaration."""
    return [str(one.value) for one in names]


def quote(text: str) -> str:
    """Return a string literal that TypeScript, Go and Java read alike."""
    return json.dumps(text)


def format_boolean(*, value: bool) -> str:
    """Return a boolean literal."""
    return "true" if value else "false"


def summarize(signal: type[Signal]) -> str:
    """Return the first sentence of a row's explanation."""
    return read_explanation(signal.code).partition("\n\n")[0].replace("\n", " ")
