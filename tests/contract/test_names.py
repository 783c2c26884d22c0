"""A name that nothing has is an answer, everywhere in one form; what deletes asks first."""

import pytest

from tests.contract.conftest import check_channel

LOOKUPS = [
    ["inspect", "doc", "nowhere"],
    ["inspect", "chunk", "nowhere"],
    ["fetch", "chunk", "nowhere"],
    ["fetch", "doc", "nowhere"],
    ["fetch", "span", "nowhere", "1"],
    ["related", "nowhere"],
    ["why", "restore", "nowhere"],
    ["rm", "nowhere"],
    ["rm", "work/backups.md", "nowhere"],
    ["source", "rm", "nowhere"],
    ["session", "show", "nowhere"],
    ["session", "rm", "nowhere"],
    ["explain", "nowhere"],
    ["errors", "--id", "nowhere"],
]
DESTRUCTIVE = [
    ["reset"],
    ["reset", "--models"],
    ["session", "rm", "--all"],
    ["source", "rm", "notes"],
]


@pytest.mark.parametrize("arguments", LOOKUPS)
def test_an_unknown_name_is_not_found_and_no_error(arguments, home, kebab):
    ran = kebab(*arguments, "--json")

    path = (
        " ".join(arguments[:2])
        if arguments[0] in ("inspect", "fetch", "session", "source")
        else None
    )
    (reply,) = check_channel(ran.out, status=1, command=path or arguments[0])
    assert (ran.status, ran.err) == (1, "")
    assert (reply["schema_version"], reply["found"]) == ("not_found.v1", False)
    assert (reply["name"], reply["error"]["kind"]) == ("nowhere", "not_found")


@pytest.mark.parametrize("arguments", [["model", "pull", "nowhere"], ["model", "use", "nowhere"]])
def test_a_model_that_the_registry_lacks_is_invalid_input(arguments, home, kebab):
    ran = kebab(*arguments, "--json")

    assert (ran.status, ran.out, ran.fault["code"]) == (2, "", "invalid_input")


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
    assert sorted(path for path in (home / "data").rglob("*") if path.is_file()) == before
    assert kebab("session", "list", "--json").reply["sessions"]


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("arguments", DESTRUCTIVE)
def test_with_a_yes_nobody_is_asked(arguments, home, kebab):
    assert kebab(*arguments, "--yes", "--json").status == 0
