import pytest

from kebab.errors.catalog import NotIndexed
from kebab.errors.signal import Exit, Retry
from tools.bindings.names import (
    format_boolean,
    list_values,
    quote,
    summarize,
    to_constant_case,
    to_pascal_case,
)


@pytest.mark.parametrize(
    ("name", "as_pascal", "as_constant"),
    [
        ("model_busy", "ModelBusy", "MODEL_BUSY"),
        ("timeout", "Timeout", "TIMEOUT"),
        ("a2a_error", "A2aError", "A2A_ERROR"),
        ("E_CORE_INVALID_INPUT", "ECoreInvalidInput", "E_CORE_INVALID_INPUT"),
    ],
)
def test_a_name_is_written_as_each_language_does(name, as_pascal, as_constant):
    assert (to_pascal_case(name), to_constant_case(name)) == (as_pascal, as_constant)


def test_literals_are_those_of_all_three_languages():
    assert quote('a "b"\n') == r'"a \"b\"\n"'
    assert [format_boolean(value=True), format_boolean(value=False)] == ["true", "false"]


def test_the_members_of_an_enumeration_come_in_order():
    assert list_values(Retry) == ["none", "transient", "permanent"]
    assert list_values(Exit)[0] == "0"


def test_the_summary_is_the_first_sentence_on_one_line():
    assert summarize(NotIndexed) == "There is no database that this build can read."
