"""`--config` is honoured by every command, and the default knowledge base stays untouched."""

import shlex

import pytest

from tests.contract.test_outputs import STATED, find_command

LINES = {find_command(line): line for _, _, line in reversed(STATED)}.values()
"""The first line of each command, because the flag is the same for all lines of a command."""


@pytest.fixture
def elsewhere(empty, monkeypatch):
    """A settings file that puts everything in another place."""
    file = empty / "elsewhere.toml"
    places = {name: empty / "elsewhere" / name for name in ("data_dir", "models_dir")}
    file.write_text("".join(f'{name} = "{place}"\n' for name, place in places.items()))
    (empty / "notes").mkdir()
    (empty / "notes" / "a.md").write_text("# Restore\n\nRestore the backup.\n")
    monkeypatch.chdir(empty)
    return file


@pytest.mark.parametrize("line", LINES)
def test_the_default_place_stays_untouched(line, elsewhere, kebab):
    empty = elsewhere.parent
    flag, words = ["--config", str(elsewhere)], shlex.split(line)

    for whole in ([*flag, *words], [*words, *flag]):
        ran = kebab(*whole, "--json", stdin=b"Some text.\n")
        assert "generic" not in [one.get("code") for one in ran.asides]
    assert not (empty / "data").exists()
    assert not (empty / "cache").exists()


def test_what_is_ingested_elsewhere_is_found_elsewhere_only(empty, elsewhere, kebab):
    flag = ["--config", str(elsewhere)]
    assert kebab("ingest", str(empty / "notes"), *flag).status == 0

    assert kebab("search", "restore", *flag).status == 0
    assert kebab("search", "restore").status == 3
