"""A name that nothing has is an answer, everywhere in one form; what deletes asks first."""

import pytest

DESTRUCTIVE = [
    ["reset"],
    ["reset", "--models"],
    ["session", "rm", "--all"],
    ["source", "rm", "notes"],
]


@pytest.mark.parametrize("arguments", [["search", "restore"], ["list"]])
def test_a_filter_that_names_nothing_finds_nothing(arguments, home, kebab):
    ran = kebab(*arguments, "--doc-id", "nowhere", "--json")

    assert ran.status == 1
    assert ran.reply.get("hits", ran.reply.get("documents")) == []


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("arguments", DESTRUCTIVE)
def test_nothing_is_deleted_where_nobody_can_be_asked(arguments, home, kebab):
    before = sorted(path for path in (home / "data").rglob("*") if path.is_file())
    text, machine = kebab(*arguments), kebab(*arguments, "--json")

    assert (text.status, machine.status, machine.out) == (2, 2, "")
    assert machine.fault["code"] == "confirmation_required"
    assert machine.fault["hint"].endswith("--yes")
    assert kebab(*arguments, "--read-only", "--json").fault["code"] == "read_only"
    assert sorted(path for path in (home / "data").rglob("*") if path.is_file()) == before
    assert kebab("session", "list", "--json").reply["sessions"]
