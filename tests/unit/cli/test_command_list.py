from kebab.cli.command import EXIT_MEANINGS
from kebab.cli.command_list import iterate_commands, list_commands
from kebab.cli.options import create_global_options


def test_every_command_is_listed_once():
    listed = [command.usage for command in list_commands().commands]
    paths = [path for path, _ in iterate_commands()]

    assert len(listed) == len(paths)
    assert all(usage.startswith(path) for usage, path in zip(listed, paths, strict=True))


def test_an_argument_that_must_be_given_has_no_brackets():
    usages = {command.usage.split()[0]: command.usage for command in list_commands().commands}

    assert usages["rm"] == "rm NAME\u2026"
    assert usages["explain"].startswith("explain [CODE] [--all]")


def test_what_commands_share_is_said_once():
    listed = list_commands()

    assert all(option.opts[0] in listed.global_flags for option in create_global_options())
    assert not any("--data-dir" in command.usage for command in listed.commands)
    assert listed.exits.keys() == {str(status.value) for status in EXIT_MEANINGS}
