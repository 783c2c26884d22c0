import click
import pytest

from kebab.cli.command import root
from kebab.cli.suggest import UnknownCommand, find_near_flag, suggest_correction

CONTEXT = click.Context(root, info_name="kebab")
NAMES = ["search", "schema", "fetch", "reset", "rm"]


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["serach", "x"], "search"),
        (["sch"], "search"),
        (["fetsh"], "fetch"),
        (["zzz"], None),
        (["restore"], "reset"),
        (["restore", "the", "backup"], None),
    ],
)
def test_the_command_that_was_meant_is_found(words, near):
    assert UnknownCommand(words, NAMES, CONTEXT).near == near


@pytest.mark.parametrize(
    ("name", "near"), [("--limt", "--limit"), ("--nope", None), ("--mdoe", "--mode")]
)
def test_the_flag_that_was_meant_is_found(name, near):
    params = [click.Option([flag]) for flag in ("--limit", "--mode", "--cursor")]

    assert find_near_flag(name, [*params, click.Argument(["nope"])]) == near


def test_a_command_that_is_not_among_the_words_cannot_be_corrected():
    assert suggest_correction(UnknownCommand(["serach"], NAMES, CONTEXT), ["other"]) is None


def test_an_unknown_command_below_another_is_no_question():
    below = click.Context(root, info_name="model", parent=CONTEXT)

    error = UnknownCommand(["what is it"], NAMES, below)

    assert suggest_correction(error, ["what is it"]) is None


def test_other_errors_have_no_correction():
    assert suggest_correction(click.UsageError("no"), ["a"]) is None
    assert suggest_correction(click.ClickException("no"), ["a"]) is None
