import json

import pytest

from kebab.cli.bare import bereft
from tests.contract.conftest import validators


class Channel:
    """A channel that keeps what is written."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


MISSING = ModuleNotFoundError("No module named 'click'", name="click")


@pytest.mark.parametrize(
    "form", [["--json"], ["--stream"], ["--output-format=json"], ["--output-format", "json"]]
)
def test_a_program_is_told_in_the_form_of_every_error(form):
    err = Channel()

    assert bereft(MISSING, err, ["list", *form]) == 2
    told = json.loads(err.text)
    validators()["error.v1"].validate(told)
    assert told["details"] == {"feature": "click", "install": "pip install click"}


def test_a_person_is_told_in_three_lines():
    err = Channel()

    assert bereft(MISSING, err, ["list"]) == 2
    assert [line.partition(":")[0] for line in err.text.splitlines()] == ["error", "hint", "code"]


def test_a_fault_of_our_own_is_not_called_a_missing_library():
    err = Channel()

    assert bereft(ImportError("no such name", name="kebab.cli"), err, []) == 2
    assert err.text == ""
