"""Every command has help, a summary, and examples that work as they stand."""

import shlex

import click
import pytest

from kebab import __version__
from kebab.cli.command import root
from kebab.cli.commands.schema import iterate_commands
from tests.contract.conftest import check_channel

COMMANDS = dict(iterate_commands())


def parse_calls(example):
    """Return the arguments of each call of kebab in a shell line."""
    found: list[list[str]] = [[]]
    for word in shlex.split(example):
        if word == "|":
            found.append([])
        else:
            found[-1].append(word)
    return [words[1:] for words in found if words[:1] == ["kebab"]]


def test_help_is_complete_and_needs_no_settings(kebab, empty):
    for path in COMMANDS:
        ran = kebab("--config", str(empty / "none.toml"), *path.split(), "--help")

        assert (ran.status, ran.err) == (0, "")
        assert ran.out.startswith(f"Usage: kebab {path}")
        for heading in ("Options:", "Global options:", "Examples:", "Exit status:"):
            assert f"\n{heading}\n" in ran.out


def test_help_under_json_is_one_object(kebab):
    for path in ["", "model", *COMMANDS]:
        for flags in (["--help", "--json"], ["--output-format", "json", "-h"]):
            ran = kebab(*path.split(), *flags)

            (reply,) = check_channel(ran.out, status=0, command=path or "kebab")
            assert (ran.status, ran.err) == (0, "")
            assert reply["schema_version"] == "help.v1"
            assert reply["name"] == f"kebab {path}".strip()
            assert {"--json", "--config"} <= {one["name"] for one in reply["options"]}


def test_the_version_under_json_is_one_object(kebab):
    for flags in (["--version", "--json"], ["--json", "--version"]):
        ran = kebab(*flags)
        (reply,) = check_channel(ran.out, status=0, command="kebab")
        assert (reply["schema_version"], reply["kebab_version"]) == ("version.v1", __version__)


def test_every_flag_says_what_it_does():
    options = [
        (path, option)
        for path, command in COMMANDS.items()
        for option in command.params
        if isinstance(option, click.Option)
    ]

    assert options
    assert [(path, option.name) for path, option in options if not option.help] == []


@pytest.mark.parametrize("path", COMMANDS)
def test_examples_can_be_typed_as_they_stand(path):
    calls = [parse_calls(example) for example in COMMANDS[path].examples]

    assert all(calls)
    for words in (one for made in calls for one in made):
        context = root.make_context("kebab", list(words), resilient_parsing=False)
        name, command, rest = root.resolve_command(context, context._protected_args + context.args)
        while isinstance(command, click.Group):
            context = command.make_context(name, rest, parent=context)
            arguments = context._protected_args + context.args
            name, command, rest = command.resolve_command(context, arguments)
        assert command is not None
        command.make_context(name, rest, parent=context)
