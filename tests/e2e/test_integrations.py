"""Every file of `integrations` is run as a person would run it."""

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml

from kebab.cli.commands.install import CLIENTS
from kebab.cli.commands.schema import iterate_commands
from tests.contract.test_help import resolve_call
from tests.fakes.console import environment, run
from tests.shape.tree import ROOT

pytestmark = pytest.mark.xdist_group("integrations")  # one worker ingests the notes

FOLDER = ROOT / "integrations"
SKILL = (FOLDER / "claude-code/kebab/SKILL.md").read_text("utf-8")
MOST_BYTES = 2048
FENCED = re.compile(r"^```sh\n(.+?)\n```$", re.MULTILINE | re.DOTALL)
RECIPES = FENCED.findall((FOLDER / "jq.md").read_text("utf-8"))
FZF = """#!{python}
# Stands in for fzf: shows the preview of the first line, and chooses that line.
import subprocess, sys
line = sys.stdin.readline()
preview = next(word.partition("=")[2] for word in sys.argv if word.startswith("--preview="))
command = preview.replace("{{1}}", "'" + line.split("\\t")[0].rstrip() + "'")
subprocess.run(command, shell=True, check=True, stdout=sys.stderr)
sys.stdout.write(line)
"""


def require(program):
    """Return the path of a program of the system, or skip the test."""
    return shutil.which(program) or pytest.skip(f"this machine has no {program}")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with indexed notes, and `kebab` and `fzf` as programs."""
    home = tmp_path_factory.mktemp("home")
    programs = home / "bin"
    programs.mkdir()
    write_program(programs / "kebab", f'#!/bin/sh\nexec {sys.executable} -m kebab "$@"\n')
    write_program(programs / "fzf", FZF.format(python=sys.executable))
    shutil.copytree(ROOT / "samples/notes", home / "notes")
    shell(home, "kebab ingest notes")
    return home


def write_program(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def shell(home, script, *, status=0):
    """Run a script with bash in the notes' home; return what it printed."""
    done = subprocess.run(
        [require("bash"), "-c", script],
        cwd=home,
        env=set_environment(home),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def set_environment(home):
    path = os.pathsep.join([str(home / "bin"), os.environ.get("PATH", os.defpath)])
    return {**environment(home), "PATH": path, "KEBAB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_prints_plain_lines(home, recipe):
    require("jq")
    printed = shell(home, recipe)

    quiet = any(one in recipe for one in ("kebab doctor", ".freshness", ".absent_terms"))
    assert quiet or printed.strip()
    assert not printed.startswith(("{", "["))


def test_a_hit_is_chosen_and_opened(home):
    require("jq")
    opened = shell(home, f"source {FOLDER}/kebab.bash; EDITOR=echo kebab-pick restore a backup")

    assert "backup" in opened


def test_a_document_is_chosen(home):
    require("jq")

    assert shell(home, f"source {FOLDER}/kebab.bash; kebab-doc").strip().endswith(".md")


@pytest.mark.parametrize("command", ["Kebab restore a backup", "KebabGrep backup"])
def test_vim_fills_its_quickfix_list(home, command, tmp_path):
    vim, listed = require("vim"), tmp_path / "list.json"
    entries = "map(getqflist(), 'bufname(v:val.bufnr)')"
    steps = [f"source {FOLDER}/kebab.vim", command]
    steps += [f"call writefile([json_encode({entries})], '{listed}')", "qall!"]
    subprocess.run(
        [vim, "-Nes", "-u", "NONE", *(word for step in steps for word in ("-c", step))],
        cwd=home,
        env=set_environment(home),
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )

    found = json.loads(listed.read_text())
    assert found
    assert all(Path(home, name).is_file() for name in found)


@pytest.fixture(scope="module")
def repository(home):
    """A repository with a commit, and a line with a mistake that is not committed."""
    require("git")
    folder = home / "repository"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nOpen [it](gone.md).\n")
    author = "-c user.name=Ada -c user.email=ada@example.org"
    shell(home, f"cd {folder} && git init -q . && git add -A && git {author} commit -qm first")
    with (folder / "a.md").open("a") as file:
        file.write("\nClose [it](lost.md).\n")
    return folder


def test_the_hook_of_pre_commit_reviews_the_files_it_gets(home, repository):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (example,) = yaml.safe_load((FOLDER / "pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [one["id"] for one in example["hooks"]] == [hook["id"]]
    call = shlex.join([*hook["entry"].split(), *hook["args"], "a.md"])
    found = shell(home, f"cd {repository} && {call}", status=1).splitlines()
    assert [line.split(":")[1] for line in found] == ["3", "5"]


def test_the_action_of_github_reviews_the_changed_lines(home, repository):
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    workflow = yaml.safe_load((FOLDER / "github/review.yml").read_text("utf-8"))
    given = next(
        one["with"] for one in workflow["jobs"]["review"]["steps"] if "kebab@" in one["uses"]
    )
    assert set(given) <= set(action["inputs"])
    (call,) = [one for one in action["runs"]["steps"] if "REVIEWED" in one.get("env", {})]
    values = {name: one["default"] for name, one in action["inputs"].items()} | {"changed": "HEAD"}
    words = {
        name: re.sub(r"\W*inputs\.([a-z-]+)\W*", r"\1", one) for name, one in call["env"].items()
    }
    named = " ".join(f"{name}={values[word]}" for name, word in words.items())
    shell(home, f"cd {repository} && export {named} && {call['run']}", status=1)
    log = json.loads((repository / "review.sarif").read_text("utf-8"))
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 5


def test_the_plugin_of_claude_code_has_the_skill_and_the_server(home):
    (plugin,) = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text("utf-8"))["plugins"]
    (server,) = plugin["mcpServers"].values()

    assert [(ROOT / plugin["source"] / one / "SKILL.md").is_file() for one in plugin["skills"]] == [
        True
    ]
    assert json.loads(greet(home, (server["command"], *server["args"])))["result"]["serverInfo"]


def test_the_image_of_docker_serves_a_folder_that_it_only_reads():
    text = (ROOT / "Dockerfile").read_text("utf-8")
    script = json.loads(re.findall(r"^CMD (.+)$", text, re.MULTILINE)[0])[-1]

    assert "/notes:ro" in text
    for line in script.split(" && "):
        words = shlex.split(line.removeprefix("exec "))
        assert words[0] == "kebab"
        resolve_call(words[1:])


def test_the_skill_is_a_short_read():
    head = SKILL.split("---")[1]

    assert len(SKILL.encode()) <= MOST_BYTES
    assert "\nname: kebab\n" in head
    assert "\ndescription: " in head


def test_the_skill_names_only_what_exists():
    commands = {path.split()[0]: command for path, command in iterate_commands()}
    paths = {path for path, _ in iterate_commands()} | set(commands)
    code = re.findall(r"`kebab ([^`]+)`|^kebab (.+)$", SKILL, re.MULTILINE)
    for words in (shlex.split(one or other) for one, other in code):
        assert words[0] in paths
        known = {
            flag
            for path, command in iterate_commands()
            if path.split()[0] == words[0]
            for param in command.params
            for flag in param.opts
        }
        assert {word for word in words if word.startswith("-")} <= known


@pytest.mark.parametrize("line", FENCED.findall(SKILL)[0].splitlines())
def test_a_command_of_the_skill_runs(home, line):
    for name, real in (
        ("ops/dns.md", "work/backups.md"),
        ("ERR_[0-9]+", "[Bb]ackup"),
        ("#L12-L34", "#L1-L3"),
    ):
        line = line.replace(name, real)

    assert shell(home, line).strip()


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_entry_of_a_client_starts_a_server_that_answers(home, client, monkeypatch):
    monkeypatch.chdir(home)
    for name, value in set_environment(home).items():
        monkeypatch.setenv(name, value)
    where = ("install", client.name, "--yes")
    (file,) = run(*where, "--mcp", "--data-dir", str(home / "elsewhere"), "--json").reply["files"]
    path = Path(file["path"])
    text = path.read_text("utf-8")
    values = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
    entry = values[client.container]["kebab"]
    program = entry.get("command", entry.get("cmd"))
    words = tuple(program) if isinstance(program, list) else (program, *entry["args"])

    assert json.loads(greet(home, words))["result"]["serverInfo"]
    assert run(*where, "--uninstall").status == 0
    assert not path.exists()


@cache  # the entries of most clients are the same command
def greet(home, command):
    """Start an MCP server, say hello, and return the first line that it answers."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        command,
        cwd=home,
        env=set_environment(home),
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout.partition("\n")[0]


def test_every_file_is_listed():
    listed = re.findall(r"\]\(([^)]+)\)", (FOLDER / "README.md").read_text("utf-8"))
    files = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}

    assert files - {"README.md"} == {one for one in listed if not one.startswith("../")}
