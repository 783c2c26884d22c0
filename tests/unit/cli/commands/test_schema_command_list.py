from kebab.cli.commands.schema import list_commands


def test_flags_share_a_pair_of_brackets_unless_they_can_be_repeated():
    usages = {command.usage.split()[0]: command.usage for command in list_commands().commands}

    assert usages["init"] == "init [--workspace DIR --force]"
    assert usages["search"].startswith(
        "search [QUERY…] [FILTERS] [-q QUERY]… [--mode MODE --rerank "
    )
