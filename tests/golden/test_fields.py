"""What all kept results have in common: the envelope, the word of the catalogue, one error."""

import dataclasses
import json
import shlex
from typing import get_type_hints

import msgspec
import pytest

from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Exit
from tests.contract.conftest import load_validators
from tests.golden.cases import list_cases

CASES = list_cases()
ROWS = build_catalog()
FRAMED = ("--stream", "--bulk")


def find_errors(result):
    """Return the errors on stderr."""
    return [one for one in result["stderr"] if one["schema_version"] == "error.v1"]


def list_detail_names(row):
    """Return the names of a row's details."""
    return [one.name for one in dataclasses.fields(row)]


def find_nested_errors(value):
    """Yield every error that stands inside an object, also in a frame."""
    if isinstance(value, dict):
        if value.get("schema_version") == "error.v1":
            yield value
        for item in value.values():
            yield from find_nested_errors(item)
    elif isinstance(value, list):
        for item in value:
            yield from find_nested_errors(item)


@pytest.fixture(autouse=True)
def _nothing_is_being_written(update):
    if update:
        pytest.skip("the files are being written")


@pytest.fixture
def results():
    """What is kept of all cases."""
    return list(map(read_golden_result, CASES))


def read_golden_result(case):
    """Return what is kept of a case."""
    return json.loads(case.path.read_text(encoding="utf-8"))


def test_every_object_carries_the_envelope_and_keeps_to_its_schema(results):
    for result in results:
        for one in [*result["stdout"], *result["stderr"]]:
            load_validators()[one["schema_version"]].validate(one)
            assert one["command"] == result["command"]
            assert one["timestamp"].endswith("Z")
            assert one["output_format"] == "json"
            assert one["exit_code"] in (result["status"], None)


def test_the_last_word_knows_the_exit_status(results):
    for result in results:
        last = (result["stdout"] or find_errors(result))[-1]

        # Lines of `--bulk` are no stream with an end: none of them is the last word.
        bulk = "--bulk" in result["line"]
        assert last["exit_code"] == (None if bulk else result["status"])


def test_there_is_a_result_or_one_error(results):
    for result in results:
        found, framed = find_errors(result), {*FRAMED} & {*result["line"]}

        assert len(found) == (
            result["status"] not in (Exit.DONE, Exit.NO) and not is_report_on_unusable(result)
        )
        if not framed:
            assert len(result["stdout"]) + len(found) == 1


def is_report_on_unusable(result):
    """Return whether a report on what is not usable stands on stdout."""
    reports = [one["schema_version"] for one in result["stdout"]]
    return reports in (["doctor.v1"], ["repair_report.v1"])


def test_what_is_not_found_is_an_answer(results):
    for result in results:
        for one in result["stdout"]:
            if one["schema_version"] == "not_found.v1":
                assert (result["status"], result["stderr"]) == (Exit.NO, [])
                assert (one["found"], one["error"]["retryable"]) == (False, False)


def test_the_exit_status_is_that_of_the_code(results):
    for result in results:
        for error in find_errors(result):
            assert result["status"] == error["exit_code"] == ROWS[error["code"]].exit


def test_an_error_says_what_its_row_says(results):
    for result in results:
        for error in find_nested_errors([result["stdout"], result["stderr"]]):
            row = ROWS[error["code"]]
            said = {name: error[name] for name in ("kind", "retry", "severity", "retryable")}
            assert said == {
                "kind": row.kind.value,
                "retry": row.retry.value,
                "severity": row.severity.value,
                "retryable": row.retry.value == "transient",
            }


def test_details_are_those_of_the_row_in_its_types(results):
    for result in results:
        for error in find_nested_errors([result["stdout"], result["stderr"]]):
            types = get_type_hints(ROWS[error["code"]])
            told = {name: types[name] for name in error["details"]}
            assert set(told) | {"chain"} == {*list_detail_names(ROWS[error["code"]]), "chain"}
            assert ("chain" in told) == ("--verbose" in result["line"])
            for name, kind in told.items():
                msgspec.convert(error["details"][name], kind)


def test_a_path_is_absolute(results):
    for result in results:
        for error in find_nested_errors([result["stdout"], result["stderr"]]):
            path = error["details"].get("path") or "/"
            assert path.startswith(("/", "<", "$")), error["details"]


def test_a_field_is_a_flag_or_an_argument_on_command_lines_and_a_path_in_lines_of_json(results):
    for result in results:
        for error in find_errors(result):
            assert not error["details"].get("field", "").startswith("$")
        for line in result["stdout"] if "--bulk" in result["line"] else []:
            refused = (line.get("error") or {}).get("details", {})
            assert refused.get("field", "$").startswith("$")


def test_no_hint_is_the_line_that_failed(results):
    for result in results:
        line = shlex.join(["kebab", *(word for word in result["line"] if word != "--json")])
        for error in find_errors(result):
            assert error["hint"] != line


def test_messages_are_one_line_without_a_full_stop(results):
    for result in results:
        for error in find_nested_errors([result["stdout"], result["stderr"]]):
            assert "\n" not in error["message"]
            assert error["message"] == error["message"].strip()
            assert not error["message"].endswith(".")
            assert not (error["hint"] or "").endswith(".")


SERVER_ONLY = {"server_busy", "unauthorized"}
"""Codes that only the HTTP server raises; its tests reach them."""


def test_every_code_that_is_raised_is_reached_by_a_command():
    reached = {error["code"] for case in CASES for error in find_errors(read_golden_result(case))}
    live = {code for code, row in ROWS.items() if not row.retired}

    assert reached == live - SERVER_ONLY


def test_every_name_that_is_a_code_holds_that_code():
    for case in CASES:
        if case.name in ROWS:
            assert [error["code"] for error in find_errors(read_golden_result(case))] == [
                case.name
            ], str(case)
