"""A mistyped command line is answered with the name that was meant, and with help."""

import json
import shlex

import pytest

from kebab.cli.command import COMMANDS
from kebab.cli.wrong_names import VERBS


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["xyzzy"], "kebab --help"),
        (["search", "x", "--frobnicate"], "kebab search --help"),
        (["search", "x", "--mode", "psychic"], "kebab search --help"),
        (["search", "x", "--limit", "many"], "kebab search --help"),
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


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("serach restore --limit 2 --json", "kebab search restore --limit 2"),
        ("serach search", "kebab search search"),
        ("model lst", "kebab model list"),
        ("modle list", "kebab model list"),
        ("find snapshot", "kebab search snapshot"),
        ("index", "kebab ingest"),
        ("update .", "kebab ingest ."),
        ("show notes/backup.md", "kebab fetch notes/backup.md"),
        ("cat notes/backup.md", "kebab fetch notes/backup.md"),
        ("delete notes/backup.md", "kebab rm notes/backup.md"),
        ("remove", "kebab rm --help"),
        ("status", "kebab doctor"),
        ("version", "kebab --version"),
        ("similar notes/backup.md", "kebab related notes/backup.md"),
        ("backlinks notes/backup.md", "kebab list --links-to notes/backup.md"),
        ("backlinks", "kebab list --help"),
        ("lint notes", "kebab review notes"),
        ("uninstall", "kebab help uninstall"),
        ("uninstall codex", "kebab install --uninstall codex"),
        ("config list", "kebab help settings"),
        ("'how is the cache cleared?'", "kebab search 'how is the cache cleared?'"),
        ("what is the budget", "kebab search what is the budget"),
        ("restore a backup", "kebab search restore a backup"),
        ("reste --yes", "kebab reset --help"),
        ("serach x --frobnicate", "kebab search --help"),
        ("update --help", "kebab ingest --help"),
        ("help serach", "kebab help search"),
        ("help model pul", "kebab help model pull"),
    ],
)
def test_the_hint_is_the_call_that_was_meant(call, hint, empty, kebab):
    refused = kebab(*shlex.split(call))

    assert refused.status == 2
    given = json.loads(refused.err)["hint"] if "--json" in call else refused.err
    assert hint in given.splitlines() or f"hint: {hint}" in given.splitlines()


def test_the_words_of_other_programs_name_commands_of_this_one():
    assert not set(VERBS) & set(COMMANDS)
    assert {words[0] for words in VERBS.values()} <= {*COMMANDS, "--version"}
