"""A mistyped command line is answered with the one that was meant, and that one works."""

import shlex

import pytest

MISTAKES = [
    (["serach", "restore"], "kebab search restore"),
    (["search", "restore", "--limt", "3"], "kebab search restore --limit 3"),
    (["search", "restore", "--limt=3"], "kebab search restore --limit=3"),
    (["search", "restore", "--mode", "lexcial"], "kebab search restore --mode lexical"),
    (["search", "restore", "--mode=lexicall"], "kebab search restore --mode=lexical"),
    (["how do I restore?"], "kebab search 'how do I restore?'"),
    (["restore", "the", "backup"], "kebab search restore the backup"),
    (["복원하는 방법"], "kebab search '복원하는 방법'"),
    (["--data-dir", "DATA", "serach", "it's"], "kebab --data-dir DATA search 'it'\"'\"'s'"),
    (["model", "lst"], "kebab model list"),
]


@pytest.mark.parametrize(("arguments", "hint"), MISTAKES)
def test_the_hint_is_the_line_that_was_meant(arguments, hint, home, kebab):
    data = str(home / "data" / "kebab")
    arguments = [word.replace("DATA", data) for word in arguments]

    fault = kebab(*arguments, "--json").fault
    text = kebab(*arguments)

    assert (fault["code"], text.status) == ("usage_invalid", 2)
    assert fault["hint"] == hint.replace("DATA", data)
    assert f"hint: {hint.replace('DATA', data)}\n" in text.err
    assert kebab(*shlex.split(fault["hint"])[1:]).status in (0, 1)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["xyzzy"], "kebab --help"),
        (["rest"], "kebab --help"),
        (["search", "x", "--frobnicate"], "kebab search --help"),
        (["search", "x", "--mode", "psychic"], "kebab search --help"),
        (["search", "x", "--limit", "many"], "kebab search --help"),
        (["inspect", "nothing-like-it"], "kebab inspect --help"),
        (["serach", "token=abcdefgh12345678"], "kebab --help"),
    ],
)
def test_where_nothing_can_be_guessed_the_hint_is_help(arguments, hint, empty, kebab):
    fault = kebab(*arguments).err

    assert f"hint: {hint}\n" in fault
    assert kebab(*shlex.split(hint)[1:]).status == 0


def test_a_mistyped_flag_is_named_with_the_right_one(empty, kebab):
    message = kebab("search", "x", "--limt", "3", "--json").fault["message"]

    assert message == "no such option `--limt`, did you mean `--limit`?"
