"""The error of a failed start has the fields of the catalogue."""

import json

import pytest

from kebab.app.classify import build_error_reply
from kebab.errors.catalog import Generic, OutOfMemory
from kebab.errors.start import describe_start_failure
from tests.contract.conftest import load_validators


@pytest.mark.parametrize(
    ("fault", "signal"),
    [
        (MemoryError(), OutOfMemory(operation="kebab")),
        (ImportError("x.so: failed to map segment"), OutOfMemory(operation="kebab")),
        (ValueError("secret"), Generic()),
    ],
    ids=["memory", "segment", "other"],
)
def test_the_fields_of_a_start_failure_are_those_of_the_catalogue(fault, signal):
    told = json.loads(describe_start_failure(fault, ["list", "--output-format", "json"]))

    load_validators()["error.v1"].validate(told)
    expected = build_error_reply(signal, operation="kebab")
    for name in ("code", "message", "hint", "kind", "retry", "severity"):
        assert told[name] == getattr(expected, name)
