import click
import pytest

from kebab.cli.command import COMMANDS, SECTIONS, root


@pytest.fixture
def context():
    return click.Context(root, info_name="kebab")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_is_the_first_sentence_of_the_help(name, context):
    command = root.get_command(context, name)

    assert command is not None
    assert command.name == name
    assert (command.help or "").partition(".")[0] == COMMANDS[name]


def test_every_command_is_listed_under_its_section(kebab):
    text = kebab("--help").out

    assert all(f"\n{section}:\n" in text for section in SECTIONS)
    assert all(f"  {name} " in text for name in COMMANDS)


def test_a_name_that_is_not_in_the_table_is_no_command(context):
    assert root.get_command(context, "os") is None
