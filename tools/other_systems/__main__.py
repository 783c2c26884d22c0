"""Runs commands of kebab as on Windows and on macOS, and says which ones fail.

`python -m tools.other_systems` runs each step for both systems, in new processes: reading files of
every format in `samples/formats`, searching, answering, changing, two writers, a killed writer, a
watcher, an MCP server that has the index open while others write, and `reset`. With `--models` the
folder of installed weights is used, so that vectors are written and searched too.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from tools.other_systems.simulation import ROOT, build_environment
from tools.other_systems.stubs import SYSTEMS
from tools.other_systems.windows_paths import to_linux, to_windows

PROGRAM = "from kebab.__main__ import run; run()"
_PATIENCE_S = 300.0
_HOLD_LOCK = (
    "import sys; from pathlib import Path; from kebab.store.sqlite.lock import WriterLock\n"
    "with WriterLock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
)
_DONE, _NO = 0, 1
_REFUSED = 2


class Step(NamedTuple):
    """A command line, the exit status that it must have, and a text of its output."""

    arguments: tuple[str, ...]
    text: str = ""
    status: int = _DONE


STEPS = (
    Step(("init",)),
    Step(("ingest", "formats", "--json"), '"errors":'),
    Step(("ingest", "notes"), "bread.md"),
    Step(("ingest", "notes", "--json"), '"unchanged":2'),
    Step(("search", "sourdough"), "bread.md"),
    Step(("search", "sourdough", "--mode", "lexical", "--json"), '"doc_path":"bread.md"'),
    Step(("search", "tea", "--path", "notes/sub"), "tea.md"),
    Step(("fetch", "bread.md:3"), "Sourdough needs time."),
    Step(("grep", "needs?.*time", "--json"), "bread.md"),
    Step(("outline",), "bread.md"),
    Step(("inspect", "doc", "bread.md"), "Bread"),
    Step(("related", "bread.md"), ""),
    Step(("ask", "--extractive", "how hot is green tea"), "80 degrees"),
    Step(("list",), "tea.md"),
    Step(("source", "list"), "notes"),
    Step(("stats", "--json"), "tiers"),
    Step(("review", "notes"), "bread.md"),
    Step(("doctor", "--json"), '"name":"system"'),
    Step(("rm", "bread.md"), "1 document"),
    Step(("serve", "--status", "--json"), '"running":false', _NO),
    Step(("search", "--nonsense"), "usage_invalid", _REFUSED),
)


WINDOWS_STEPS = (
    Step(("ingest", "notes\\sub", "--json"), '"unchanged":1'),
    Step(("search", "tea", "--path", "notes\\sub"), "tea.md"),
    Step(("search", "tea", "--path", "{home}\\notes\\sub\\*.md"), "tea.md"),
    Step(("search", "tea", "--path", "sub\\*.md"), "tea.md"),
    Step(("fetch", "sub\\tea.md:3"), "80 degrees"),
    Step(("fetch", "{home}\\notes\\bread.md:3"), "Sourdough needs time."),
    Step(("fetch", "file:///{home}/notes/bread.md#L3"), "Sourdough needs time."),
    Step(("source", "list", "--json"), '"folder":"C:/'),
    Step(("ingest", "--explain", "notes\\sub\\tea.md"), "tea.md"),
)
"""Paths as people write them on Windows."""


class World:
    """The folders of one system, and the commands that run in them."""

    def __init__(self, system: str, folder: Path, models: Path | None) -> None:
        self.home = folder / "home"
        self.system = system
        home = str(self.home)
        kept = (item for item in os.environ.items() if item[0][:3] not in {"KEB", "XDG"})
        plain = dict(kept) | {"HOME": home, "KEBAB_OFFLINE": "1"}
        self.name = to_windows if system == "win32" else str
        if models is not None:
            plain["KEBAB_MODELS_DIR"] = self.name(str(models))
        self.environment = build_environment(system, folder / "simulation", plain)
        (self.home / "notes" / "sub").mkdir(parents=True)
        shutil.copytree(ROOT / "samples" / "formats", self.home / "formats")
        self.write_note("bread.md", "# Bread\n\nSourdough needs time.\n")
        self.write_note("sub/tea.md", "# Tea\n\nGreen tea is steeped at 80 degrees.\n")

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.home / ".local" / "share" / "kebab"

    def fill_in(self, step: Step) -> list[str]:
        """Return the command line with the name of the folder of the user."""
        home = self.name(str(self.home))
        return [word.replace("{home}", home) for word in step.arguments]

    def write_note(self, name: str, text: str) -> None:
        """Write a note."""
        (self.home / "notes" / name).write_text(text, encoding="utf-8")

    def start(self, program: str, *arguments: str) -> "subprocess.Popen[str]":
        """Start a program of Python."""
        return subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", program, *arguments],
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )

    def run(self, *arguments: str, text: str = "") -> tuple[int, str]:
        """Run kebab to its end; return its exit status and its output."""
        with self.start(PROGRAM, *arguments) as process:
            output, _ = process.communicate(text, timeout=_PATIENCE_S)
            return process.returncode, output


_IN_ONE_PROCESS = """
import json, sys, tempfile
from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.main import main
from tools.surfaces.clients import HttpClient
ended = []
for arguments in json.loads(sys.argv[1]):
    with tempfile.TemporaryFile() as file:
        channel = OutputChannel(file.fileno(), "<stdout>")
        status = main(arguments, OutputChannels(channel, channel))
        file.seek(0)
        ended.append((status, file.read().decode()))
print(json.dumps(ended))
"""


def run_in_one_process(world: World, steps: Sequence[Step]) -> list[str]:
    """Run several steps in one process; return what is wrong with each, empty without a fault."""
    lines = json.dumps([world.fill_in(step) for step in steps])
    with world.start(_IN_ONE_PROCESS, lines) as process:
        output, _ = process.communicate(timeout=_PATIENCE_S)
    try:
        ended = json.loads(output)
    except ValueError:
        return [output]
    return [judge(step, *end) for step, end in zip(steps, ended, strict=True)]


def list_steps(system: str) -> tuple[Step, ...]:
    """Return the steps of a system; `rm` comes after those that need its document."""
    return (*STEPS[:4], *WINDOWS_STEPS, *STEPS[4:]) if system == "win32" else STEPS


def check_step(world: World, step: Step) -> str:
    """Run a step; return what is wrong, empty when nothing is."""
    return judge(step, *world.run(*world.fill_in(step)))


def judge(step: Step, status: int, output: str) -> str:
    """Return what is wrong with the end of a step, empty when nothing is."""
    is_strange = "the other system" in output or "internal" in output or "Traceback" in output
    if status == step.status and step.text in output and not is_strange:
        return ""
    return f"status {status}: {output[-600:]}"


def check_writers(world: World) -> str:
    """Hold the lock in one process, ingest in another; kill the first, ingest again."""
    with world.start(_HOLD_LOCK, world.name(str(world.data))) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        status, output = world.run("ingest", "notes")
        found = world.run("search", "tea")[0]
        holder.kill()
    if status == _DONE or str(holder.pid) not in output or "locked" not in output:
        return f"a second writer: status {status}: {output[-300:]}"
    if found != _DONE:
        return f"a reader beside a writer: status {found}"
    status, output = world.run("ingest", "notes")
    return "" if status == _DONE else f"after a kill: status {status}: {output[-300:]}"


def check_open_index(world: World) -> str:
    """Search in an MCP server, change the notes in another process, and search again."""
    with world.start(PROGRAM, "mcp") as server:
        try:
            before = _search_by_mcp(server, "tea", 1)
            world.write_note("coffee.md", "# Coffee\n\nAn espresso takes 25 seconds.\n")
            status, output = world.run("ingest", "notes")
            after = _search_by_mcp(server, "espresso", 2)
        finally:
            server.kill()
    if status != _DONE or "tea.md" not in before:
        return f"status {status}: {output[-300:]} {before[-300:]}"
    return "" if "coffee.md" in after else f"the server did not see the change: {after[-300:]}"


def _search_by_mcp(server: "subprocess.Popen[str]", query: str, number: int) -> str:
    assert server.stdin is not None
    assert server.stdout is not None
    opening: list[dict[str, object]] = [
        {
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "check", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
    ]
    call = {
        "id": number,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"queries": query}},
    }
    for message in [*(opening if number == 1 else []), call]:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        if f'"id":{number}' in line.replace(" ", ""):
            return line
    return "the server ended"


def check_watcher(world: World) -> str:
    """Start a watcher, save a note, and wait until it is found."""
    with world.start(PROGRAM, "watch", "notes") as watcher:
        ends = time.monotonic() + _PATIENCE_S
        try:
            while time.monotonic() < ends and watcher.poll() is None:
                world.write_note("cocoa.md", "# Cocoa\n\nMilk is heated slowly.\n")
                if "cocoa.md" in world.run("search", "cocoa", "--mode", "lexical")[1]:
                    return ""
        finally:
            watcher.kill()
    return "the change was not seen"


def check_http(world: World) -> str:
    """Start an HTTP server, and search by it with the token that it has created."""
    arguments = ("serve", "--http", "127.0.0.1:0", "--json")
    with world.start(PROGRAM, *arguments) as server:
        assert server.stdout is not None
        try:
            started = json.loads(server.stdout.readline())
            token = Path(to_linux(started["token_path"])).read_text(encoding="utf-8").strip()
            reply = httpx.post(
                f"{started['url']}/v1/search",
                json={"query": "tea"},
                headers={"Authorization": f"Bearer {token}"},
                timeout=_PATIENCE_S,
                trust_env=False,
            )
        finally:
            server.kill()
    return "" if "tea.md" in reply.text else reply.text


def check_stdin(world: World) -> str:
    """Store a text from standard input."""
    status, output = world.run("ingest", "--stdin", "--title", "Jam", text="Plums are boiled.\n")
    found = world.run("search", "plums", "--mode", "lexical")[1]
    return "" if status == _DONE and "jam" in found.lower() else f"{output[-300:]} {found[-300:]}"


CHECKS: tuple[Callable[[World], str], ...] = (
    check_stdin,
    check_http,
    check_writers,
    check_open_index,
    check_watcher,
)


def run_system(world: World) -> Iterator[tuple[str, str]]:
    """Yield the name of each step and what is wrong with it."""
    for step in list_steps(world.system):
        yield " ".join(step.arguments), check_step(world, step)
    for check in CHECKS:
        yield check.__name__, check(world)
    yield "reset --yes", check_step(world, Step(("reset", "--yes"), "freed"))
    left = [path.name for path in world.data.glob("*")]
    yield "nothing is left", ", ".join(left)


@contextmanager
def make_world(system: str, models: Path | None = None) -> Iterator[World]:
    """Yield the folders of a system, which are deleted at the end."""
    with tempfile.TemporaryDirectory() as folder:
        yield World(system, Path(os.path.realpath(folder)), models)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all steps; return 1 when one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--system", choices=SYSTEMS, action="append", help="default: both")
    parser.add_argument("--models", type=Path, help="folder of installed weights")
    options = parser.parse_args(arguments)
    failures = 0
    for system in options.system or SYSTEMS:
        with make_world(system, options.models) as world:
            for name, fault in run_system(world):
                failures += bool(fault)
                print(f"{system}  {'failed' if fault else 'ok    '}  {name}", flush=True)  # noqa: T201 - the result
                if fault:
                    print(fault, flush=True)  # noqa: T201 - the result
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
