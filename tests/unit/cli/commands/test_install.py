import sys

import pytest

from kebab.cli.commands.install import CLIENTS
from tests.shape.tree import ROOT

SKILL = ROOT / "integrations/claude-code/kebab/SKILL.md"
ALL = pytest.mark.parametrize("name", [client.name for client in CLIENTS])


def list_written(home):
    """Return what lies in a home besides the error log of kebab."""
    return [path for path in home.rglob("*") if home / "state" not in (path, *path.parents)]


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """A `PATH` with a program `kebab`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kebab").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def test_the_skill_is_installed_and_removed(kebab, home, on_path):
    path = home / ".claude/skills/kebab/SKILL.md"

    first = kebab("install", "claude-code", "--yes", "--json")
    again = kebab("install", "claude-code", "--json")

    [(made, kept)] = zip(first.reply["files"], again.reply["files"], strict=True)
    assert (made["change"], made["path"], kept["change"]) == ("create", str(path), "keep")
    assert path.read_bytes() == SKILL.read_bytes()
    assert kebab("install", "claude-code", "--uninstall", "--yes").out == f"removed: {path}\n"
    assert not path.exists()


@pytest.mark.parametrize(("name", "kind"), [("gemini", "skill"), ("claude-code", "mcp")])
def test_a_flag_chooses_what_is_installed(kebab, home, name, kind):
    ran = kebab("install", name, f"--{kind}", "--dry-run", "--json")

    assert [file["kind"] for file in ran.reply["files"]] == [kind]


def test_the_skill_names_the_program_that_is_not_on_the_path(kebab, home, monkeypatch):
    monkeypatch.setenv("PATH", str(home))
    monkeypatch.setattr(sys, "executable", "/opt/tools/bin/python")

    ran = kebab("install", "claude-code", "--yes")

    said = "`kebab` is not on the `PATH` of this machine: write `/opt/tools/bin/python -m kebab`"
    assert said in (home / ".claude/skills/kebab/SKILL.md").read_text()
    assert "the skill says `/opt/tools/bin/python -m kebab`" in ran.err
    assert kebab("install", "claude-code", "--json").reply["files"][0]["change"] == "keep"


@ALL
def test_read_only_writes_nothing(kebab, home, name):
    ran = kebab("install", name, "--yes", "--read-only", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "read_only")
    assert not list_written(home)


@ALL
def test_a_dry_run_shows_the_change_and_writes_nothing(kebab, home, name):
    shown = kebab("install", name, "--dry-run", "--read-only")
    reply = kebab("install", name, "--dry-run", "--json").reply

    assert any(line.startswith("+") and "kebab" in line for line in shown.out.splitlines())
    [file] = reply["files"]
    assert shown.out.splitlines()[-1] == f"would be written: {file['path']}"
    assert (file["change"], reply["dry_run"]) == ("create", True)
    assert not list_written(home)


@ALL
def test_the_entry_can_be_printed_for_other_programs(kebab, home, name):
    reply = kebab("install", name, "--print", "--json").reply

    assert (reply["schema_version"], reply["integration"]) == ("install_snippet.v1", name)
    assert "mcp" in reply["snippet"]
    assert kebab("install", name, "--print").out == reply["snippet"]
    assert not list_written(home)


def test_a_broken_file_stays_and_the_hint_prints_the_entry(kebab, home):
    path = home / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text('{"theme": }')

    ran = kebab("install", "gemini", "--yes", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "client_config_invalid")
    assert ran.fault["hint"] == "kebab install gemini --print"
    assert ran.fault["details"]["path"] == str(path)
    assert path.read_text() == '{"theme": }'


def test_without_a_client_all_are_listed(kebab, home):
    kebab("install", "gemini", "--yes")
    listed = kebab("install", "--json").reply

    assert listed["schema_version"] == "install_overview.v1"
    states = {one["name"]: (one["found"], one["mcp"], one["skill"]) for one in listed["clients"]}
    assert states["gemini"] == (True, "current", "absent")
    assert states["zed"] == (False, "absent", None)
    assert "gemini\tfound\tabsent\tcurrent\n" in kebab("install").out
    assert kebab("install", "--list").out == kebab("install").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("zed", "--skill"),
        ("zed", "--print", "--dry-run"),
        ("--uninstall",),
        ("--print",),
        ("zed", "--list"),
    ],
)
def test_contradictions_are_refused(kebab, home, arguments):
    ran = kebab("install", *arguments, "--yes", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "usage_invalid")
    assert not list_written(home)


@ALL
def test_without_a_person_nothing_is_written(kebab, home, name):
    ran = kebab("install", name, "--json")

    assert (ran.status, ran.fault["code"]) == (2, "confirmation_required")
    assert ran.fault["hint"] == f"kebab install {name} --yes"
    assert not list_written(home)
