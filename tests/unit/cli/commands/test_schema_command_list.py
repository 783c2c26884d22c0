from kebab.cli.command import EXIT_MEANINGS
from kebab.cli.commands.schema import iterate_commands, list_commands
from kebab.cli.options import create_global_options


def test_every_command_is_listed_once():
    listed = [command.usage for command in list_commands().commands]
    paths = [path for path, _ in iterate_commands()]

    assert len(listed) == len(paths)
    assert all(usage.startswith(path) for usage, path in zip(listed, paths, strict=True))


def test_an_argument_that_must_be_given_has_no_brackets():
    usages = {command.usage.split()[0]: command.usage for command in list_commands().commands}

    assert usages["rm"] == "rm NAME…"
    assert usages["explain"].startswith("explain [CODE] [--all]")


def test_what_commands_share_is_said_once():
    listed = list_commands()

    flags = {option.opts[0] for option in create_global_options()} - {"--output-format"}
    assert all(flag in listed.global_flags for flag in flags)
    assert not any("--data-dir" in command.usage for command in listed.commands)
    assert listed.exits.keys() == {str(status.value) for status in EXIT_MEANINGS}


def test_flags_share_a_pair_of_brackets_unless_they_can_be_repeated():
    usages = {command.usage.split()[0]: command.usage for command in list_commands().commands}

    assert usages["init"] == "init [--workspace DIR --force]"
    assert usages["search"].startswith(
        "search [QUERY…] [FILTERS] [-q QUERY]… [--mode MODE --rerank "
    )
