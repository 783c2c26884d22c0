"""A mistyped command line is answered with the call that was meant, and that call works."""

import shlex

import pytest

from kebab.cli.command import COMMANDS
from kebab.cli.hints import read_synonyms

DOC = "notes/work/backups.md"
VERB_CALLS = [
    ("find restore", "kebab search restore"),
    ("index notes", "kebab ingest notes"),
    (f"show {DOC}", f"kebab fetch {DOC}"),
    (f"cat {DOC}", f"kebab fetch {DOC}"),
    (f"delete {DOC}", f"kebab rm {DOC}"),
    ("update .", "kebab ingest ."),
    ("stats", "kebab schema"),
    ("version", "kebab --version"),
    (f"similar {DOC}", f"kebab related {DOC}"),
    ("lint notes", "kebab review notes"),
    (f"preview {DOC}", f"kebab fetch {DOC}"),
    ("tree", "kebab outline"),
]
"""Verbs of other programs, each with the call that does the same here."""

WRONG_CALLS = [
    ("xyzzy", "kebab --help"),
    ("serach restore --limit 2 --json", "kebab search restore --limit 2"),
    ("search x --frobnicate", "kebab search --help"),
    ("search x --mode psychic", "kebab search --help"),
    ("serach x --frobnicate", "kebab search --help"),
    ("model lst", "kebab model list"),
    ("modle list", "kebab model list"),
    ("remove", "kebab rm --help"),
    ("lint", "kebab review --help"),
    ("session delete x", "kebab session rm x"),
    ("tags", "kebab help query"),
    (f"backlinks {DOC}", f"kebab inspect {DOC}"),
    ("backlinks", "kebab inspect --help"),
    ("uninstall", "kebab help uninstall"),
    ("uninstall codex", "kebab install --uninstall codex"),
    ("config list", "kebab help settings"),
    ("'how is the cache cleared?'", "kebab search 'how is the cache cleared?'"),
    ("restore a backup", "kebab search restore a backup"),
    ("reste --yes", "kebab reset --help"),
    ("update --help", "kebab ingest --help"),
    ("help serach", "kebab help search"),
    ("help model pul", "kebab help model pull"),
    ("fetch --section", "kebab fetch --help"),
    ("inspect", "kebab inspect --help"),
    ("answer", "kebab ask --help"),
    ("mv notes/a.md notes/b.md", "kebab --help"),
    ("serach restore --format json", "kebab search restore --format json"),
    ("help settings nope", "kebab help settings"),
    ("source add notes", "kebab ingest notes"),
    ("search x --tag", "kebab search --help"),
    ("search restore --top=5", "kebab search restore --limit=5"),
    ("search restore --limt 3 --json", "kebab search restore --limit 3"),
    ("--verbos list", "kebab --verbose list"),
    ("search backup -draft -n 3", "kebab search 'backup -draft' -n 3"),
    ("search backup --tag x -draft", "kebab search --help"),
    ("search '-Wall flag' -n 3", "kebab search -n 3 -- '-Wall flag'"),
    ("grep -g '*.md' restore", "kebab grep --path '*.md' restore"),
    ("doctor --repair", "kebab doctor --fix"),
    ("reset --ye", "kebab reset --help"),
    ("doctor --yess", "kebab doctor --help"),
    (f"review {DOC} --fix", "kebab review --help"),
    ("purge", "kebab reset --help"),
    ("ask --top 3", "kebab ask --help"),
    ("-draft backup", "kebab --help"),
]
"""Wrong calls, each with the hint that answers it."""


@pytest.mark.parametrize(("call", "hint"), VERB_CALLS + WRONG_CALLS)
def test_the_hint_is_the_call_that_was_meant_and_works(call, hint, home, kebab):
    refused = kebab(*shlex.split(call))
    assert refused.status == 2
    given = refused.fault["hint"] if "--json" in call else refused.err.splitlines()[1]
    assert given.removeprefix("hint: ") == hint
    assert hint != f"kebab {call}"

    ran = kebab(*shlex.split(hint)[1:])

    assert ran.status in (0, 1), ran.err  # a review has findings, and a search no hit
    assert ran.out or ran.err


@pytest.mark.parametrize(
    ("call", "again"),
    [
        ("search restore --path x/y -n 2 --format compact", "search restore -n 2 --format compact"),
        ("search -q a -q restore --tag x --type md", "search -q a -q restore --type md"),
        ("grep -i Restore -C 1 --path=x/y", "grep -i Restore -C 1"),
        ("list --limit 2 --path x/y", "list --limit 2"),
    ],
)
def test_a_filter_that_matches_nothing_is_answered_with_the_call_without_it(
    call, again, home, kebab
):
    ran = kebab(*call.split())

    assert ran.status == 1
    assert f"hint: kebab {again}" in (ran.out + ran.err).splitlines()
    assert kebab(*again.split()).status == 0


def test_a_mistyped_name_is_answered_with_the_right_one(empty, kebab):
    calls = {"search x --limt 3": "--limit", "serach x": "search", "model lst": "list"}
    for call, near in calls.items():
        message = kebab(*call.split(), "--json").fault["message"]
        assert message.endswith(f", did you mean `{near}`?")


def test_the_words_of_other_programs_name_commands_of_this_one():
    verbs = read_synonyms("commands")
    assert not set(verbs) & set(COMMANDS)
    assert {words[0] for words in verbs.values()} <= {*COMMANDS, "--version"}
