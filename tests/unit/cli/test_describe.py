"""A command is described by records, from which help under `--json` is made."""

import click
import pytest

from kebab.cli.command import Command, Group, root
from kebab.cli.describe import describe_command, summarize_help
from kebab.errors.signal import Exit


@click.command("try", cls=Command, examples=("kebab try a",), exits=(Exit.NO,))
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@click.option("-n", "--limit", type=click.IntRange(1, 9), default=3, help="At most N.")
@click.option("--tag", multiple=True, metavar="TAG", help="Only this tag.")
@click.option("--by", type=click.Choice(["name", "size"]), help="The order.")
@click.option("--old/--new", default=None, help="Which ones.")
@click.option("--secret", hidden=True, help="Not shown.")
@click.option("-v", is_flag=True, help="More.")
def sample() -> None:
    """Try something. Then stop.

    A second paragraph.
    """


@click.group("outer", cls=Group)
def outer() -> None:
    """Hold commands."""


outer.add_command(sample)


def find_option(name):
    (found,) = [one for one in describe_command(sample, "kebab try").options if one.name == name]
    return found


def test_a_command_is_described_with_its_usage_text_examples_and_exits():
    help_ = describe_command(sample, "kebab try")

    assert (help_.name, help_.usage) == ("kebab try", "kebab try [OPTIONS] NAME…")
    assert help_.summary == "Try something"
    assert help_.description.endswith("A second paragraph.")
    assert help_.examples == ["kebab try a"]
    assert [one.status for one in help_.exits] == [0, 1, 2, 130, 141]


def test_hidden_flags_are_left_out_and_shared_flags_come_last():
    options = describe_command(sample, "kebab try").options

    assert "--secret" not in [one.name for one in options]
    assert [one.shared for one in options] == sorted(one.shared for one in options)
    assert find_option("--json").shared


def test_the_root_lists_every_command_with_the_summary_of_its_table():
    commands = {one.name: one.summary for one in describe_command(root, "kebab").commands}

    assert commands["fetch"] == "Print original lines of a file"


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("One sentence.", "One sentence"),
        ("", ""),
    ],
)
def test_the_summary_is_the_first_sentence(text, summary):
    assert summarize_help(click.Command("x", help=text)) == summary


def test_a_default_command_lists_the_subcommands_of_its_group(kebab):
    reply = kebab("fetch", "--help", "--json").reply

    assert [one["name"] for one in reply["commands"]] == ["chunk", "doc", "span"]
