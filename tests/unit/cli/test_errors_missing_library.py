import json

import pytest

from kebab.cli.errors import report_missing_library
from tests.contract.conftest import load_validators

MISSING = ModuleNotFoundError("No module named 'click'", name="click")


@pytest.mark.parametrize(
    "form", [["--json"], ["--stream"], ["--output-format=json"], ["--output-format", "json"]]
)
def test_json_output_gets_error_v1(form):
    said: list[str] = []

    assert report_missing_library(MISSING, said.append, ["list", *form]) == 2
    told = json.loads(said[0])
    load_validators()["error.v1"].validate(told)
    details = {"feature": "click", "install": "pip install click", "program": None, "cause": None}
    assert told["details"] == details


def test_text_output_gets_three_lines():
    said: list[str] = []

    assert report_missing_library(MISSING, said.append, ["list"]) == 2
    assert [line.partition(":")[0] for line in said[0].splitlines()] == ["error", "hint", "code"]


def test_a_missing_own_module_is_not_a_missing_library():
    said: list[str] = []
    fault = ImportError("no such name", name="kebab.cli")

    assert report_missing_library(fault, said.append, []) == 2
    assert "code: generic" in said[0]


def test_a_library_without_address_space_is_a_lack_of_memory():
    said: list[str] = []
    fault = ImportError("_core.so: failed to map segment from shared object", name="_core")

    assert report_missing_library(fault, said.append, ["--json"]) == 2
    assert json.loads(said[0])["code"] == "out_of_memory"
