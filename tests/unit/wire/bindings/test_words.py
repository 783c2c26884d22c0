import pytest

from kebab.errors.catalog import NotIndexed
from kebab.errors.signal import Exit, Retry
from kebab.wire.bindings.words import constant, flag, pascal, quoted, summary, values


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
    assert (pascal(name), constant(name)) == (as_pascal, as_constant)


def test_literals_are_those_of_all_three_languages():
    assert quoted('a "b"\n') == r'"a \"b\"\n"'
    assert [flag(value=True), flag(value=False)] == ["true", "false"]


def test_the_members_of_an_enumeration_come_in_order():
    assert values(Retry) == ["none", "transient", "permanent"]
    assert values(Exit)[0] == "0"


def test_the_summary_is_the_first_sentence_on_one_line():
    assert summary(NotIndexed) == "There is no database here that this build can read."
