import json
import sys
from pathlib import Path

import pytest

from kebab.cli.commands.install import CLIENTS, Places, find_program

BY_NAME = {client.name: client for client in CLIENTS}
HOME = Path("/home/ada")


def paths(name, *, system="linux", **environ):
    """Return the files of a client without the part that all share."""
    places, client = Places(environ, HOME, system), BY_NAME[name]
    skill = places.find_skill(client)
    return str(places.resolve(client.entries)), skill and str(skill)


@pytest.mark.parametrize(
    ("name", "entry", "skills"),
    [
        ("claude-code", "/home/ada/.claude.json", "/home/ada/.claude/skills"),
        ("codex", "/home/ada/.codex/config.toml", "/home/ada/.agents/skills"),
        ("vscode", "/home/ada/.config/Code/User/mcp.json", "/home/ada/.copilot/skills"),
        ("gemini", "/home/ada/.gemini/settings.json", "/home/ada/.gemini/skills"),
        ("zed", "/home/ada/.config/zed/settings.json", None),
        ("claude-desktop", "/home/ada/.config/Claude/claude_desktop_config.json", None),
        ("windsurf", "/home/ada/.codeium/windsurf/mcp_config.json", None),
        ("lmstudio", "/home/ada/.lmstudio/mcp.json", None),
        ("continue", "/home/ada/.continue/mcpServers/kebab.json", None),
        ("opencode", "/home/ada/.config/opencode/opencode.json", None),
        ("goose", "/home/ada/.config/goose/config.yaml", None),
    ],
)
def test_each_client_has_its_files_in_the_home(name, entry, skills):
    assert paths(name) == (entry, skills and f"{skills}/kebab/SKILL.md")


def test_editors_have_the_folders_of_the_system():
    library = "/home/ada/Library/Application Support"
    desktop = "Claude/claude_desktop_config.json"

    assert paths("vscode", system="darwin")[0] == f"{library}/Code/User/mcp.json"
    assert paths("claude-desktop", system="darwin")[0] == f"{library}/{desktop}"
    assert paths("zed", system="darwin", XDG_CONFIG_HOME="/g")[0].startswith("/home/ada/.config")


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_client_is_found_by_its_folder_or_its_program(client, tmp_path):
    places = Places({"PATH": str(tmp_path / "bin"), "XDG_CONFIG_HOME": ""}, tmp_path)
    assert not places.is_found(client)

    program = tmp_path / "bin" / client.program
    program.parent.mkdir()
    program.touch(0o755)
    assert places.is_found(client)

    program.unlink()
    places.resolve(client.folder).mkdir(parents=True)
    assert places.is_found(client)


@pytest.fixture
def interpreter(tmp_path, monkeypatch):
    """A folder with an interpreter and no `kebab` beside it."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def test_the_program_that_was_called_is_named_with_its_link(tmp_path, interpreter, monkeypatch):
    (interpreter / "kebab").touch()
    (tmp_path / "kebab").symlink_to(interpreter / "kebab")
    monkeypatch.chdir(tmp_path)

    assert find_program(["./kebab", "install"]) == [str(tmp_path / "kebab")]


@pytest.mark.parametrize("arguments", [[], ["-c"]])
def test_without_a_program_the_interpreter_runs_the_package(interpreter, arguments):
    assert find_program(arguments) == [str(interpreter / "python"), "-m", "kebab"]


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("cursor", {"type": "stdio", "command": "PYTHON", "args": ["-m", "kebab", "mcp", "--x"]}),
        (
            "opencode",
            {
                "type": "local",
                "enabled": True,
                "command": ["PYTHON", "-m", "kebab", "mcp", "--x"],
            },
        ),
        (
            "goose",
            {
                "type": "stdio",
                "name": "kebab",
                "enabled": True,
                "cmd": "PYTHON",
                "args": ["-m", "kebab", "mcp", "--x"],
            },
        ),
    ],
)
def test_an_entry_has_the_form_of_its_client(name, entry, interpreter):
    built = json.dumps(BY_NAME[name].build_entry(["--x"], ["-c"]))

    assert json.loads(built.replace(str(interpreter / "python"), "PYTHON")) == entry
