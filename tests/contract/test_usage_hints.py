"""A mistyped command line is answered with the name that was meant, and with help."""

import shlex

import pytest


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["xyzzy"], "kebab --help"),
        (["serach", "restore"], "kebab --help"),
        (["search", "x", "--frobnicate"], "kebab search --help"),
        (["search", "x", "--mode", "psychic"], "kebab search --help"),
        (["search", "x", "--limit", "many"], "kebab search --help"),
        (["inspect", "nothing-like-it"], "kebab inspect --help"),
    ],
)
def test_the_hint_is_the_help_of_the_command(arguments, hint, empty, kebab):
    fault = kebab(*arguments).err

    assert f"hint: {hint}\n" in fault
    assert kebab(*shlex.split(hint)[1:]).status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "x", "--limt", "3"], "no such option `--limt`, did you mean `--limit`?"),
        (["serach", "x"], "no such command `serach`, did you mean `search`?"),
        (["model", "lst"], "no such command `lst`, did you mean `list`?"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_right_one(arguments, message, empty, kebab):
    assert kebab(*arguments, "--json").fault["message"] == message
