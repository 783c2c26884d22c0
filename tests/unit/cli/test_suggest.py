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


def test_other_errors_have_no_correction():
    assert suggest_correction(click.UsageError("no"), ["a"]) is None
    assert suggest_correction(click.ClickException("no"), ["a"]) is None
