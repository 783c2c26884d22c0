"""Sends random requests to one surface, and holds every answer to its published schema.

    python -m tools.surfaces.random_calls command --count 1000 --seed 1
    python -m tools.surfaces.random_calls http|mcp|library
    python -m tools.surfaces.random_calls http --count 10000 --read-only

The requests are valid, broken and hostile, over every operation, on a copy of the sample notes. On
the command line a third of the calls have broken arguments. After an operation that changed the
knowledge base its state is restored under the running server. The program counts the answers,
prints what broke the contract, and the memory of the server at the beginning and the end.

With `--read-only` the servers may not write. Then every fifth request is a message with changed
bytes, no answer may hold the text of a file beside the notes, `/v1/health` has to answer within a
second all the time, and memory and descriptors may not grow after the first fifth of the requests.
"""

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kebab.errors.catalog import Generic
from kebab.wire.operations import REMOTE_OPERATIONS
from tools.surfaces.clients import (
    BrokenAnswerError,
    CommandClient,
    HttpClient,
    LibraryClient,
    Result,
    Surface,
    run_process,
)
from tools.surfaces.command_lines import CommandLine, InexpressibleError, build_command_line
from tools.surfaces.framing_attacks import list_attacks, read_statuses, send_attack
from tools.surfaces.home import CANARY, Home, build_environment
from tools.surfaces.random_requests import TEXTS, RequestMaker, mutate
from tools.surfaces.resources import measure_memory
from tools.surfaces.servers import count_descriptors, run_http_server

ROOT = Path(__file__).parents[2]
NOTES = ROOT / "samples" / "notes"

_MOST_TRIES = 20
_MUTATED_EACH = 5
_WARM_PART = 5
_HEALTH_EACH_S = 0.05
_HEALTH_S = 1.0
_BROKEN_SHARE = 0.33


@dataclass(slots=True)
class Findings:
    """What the answers of a surface showed."""

    answers: Counter[str] = field(default_factory=Counter)
    """How often each schema, or each code of an error, was answered."""
    faults: list[str] = field(default_factory=list)
    """What broke the contract."""
    notes: list[str] = field(default_factory=list)
    """What was measured."""
    slowest: tuple[float, str] = (0.0, "")
    """The seconds of the slowest call, and its operation."""

    def add(self, operation: str, result: Result, seconds: float) -> None:
        """Count an answer."""
        schema = result.reply["schema_version"]
        self.answers[result.reply["code"] if result.failed else schema] += 1
        self.slowest = max(self.slowest, (seconds, operation))


def send_requests(surface: Surface, home: Home, count: int, seed: int) -> Findings:
    """Send random requests; return what the answers showed."""
    findings = Findings()
    maker = RequestMaker(seed, home.list_words())
    for number in range(count):
        operation = [*REMOTE_OPERATIONS][number % len(REMOTE_OPERATIONS)]
        call = partial(surface.ask, operation, maker.make(operation))
        _try_call(call, findings, operation)
        if REMOTE_OPERATIONS[operation].effect != "reads":
            home.restore()
    return findings


def send_hostile_requests(client: HttpClient, home: Home, count: int, seed: int) -> Findings:
    """Send random requests and changed bytes to a server that only reads."""
    findings = Findings()
    maker = RequestMaker(seed, home.list_words())
    attacks = list_attacks(client.token)
    with watch_health(client, findings), watch_growth(home, findings) as note:
        for number in range(count):
            operation = [*REMOTE_OPERATIONS][number % len(REMOTE_OPERATIONS)]
            if number % _MUTATED_EACH == 0:
                raw = mutate(maker.chance.choice(attacks).raw, maker.chance)
                _try_call(partial(_send_bytes, client, raw), findings, "bytes")
            else:
                _try_call(
                    partial(client.ask, operation, maker.make(operation)), findings, operation
                )
            if number == count // _WARM_PART:
                note()
    return findings


def _send_bytes(client: HttpClient, raw: bytes) -> Result:
    """Send bytes and end; no answer may be a failure of the server."""
    statuses = read_statuses(send_attack(client.address, raw))
    if any(status >= 500 for status in statuses):  # noqa: PLR2004 - a status
        raise BrokenAnswerError(f"{raw[:300]!r}: {statuses}")
    return Result({"schema_version": f"bytes, {len(statuses)} answers"}, 0)


@contextmanager
def watch_health(client: HttpClient, findings: Findings) -> Iterator[None]:
    """Ask for the health of a server all the time; more than a second is a fault."""
    ended, request = threading.Event(), b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"
    slowest = 0.0

    def ask() -> None:
        nonlocal slowest
        while not ended.wait(_HEALTH_EACH_S):
            started = time.monotonic()
            raw = send_attack(client.address, request + b"Connection: close\r\n\r\n")
            seconds = time.monotonic() - started
            slowest = max(slowest, seconds)
            if b" 200 OK" not in raw or seconds > _HEALTH_S:
                findings.faults.append(f"health after {seconds:.2f} s: {raw[:100]!r}")

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        findings.notes.append(f"slowest health: {slowest * 1000:.0f} ms")


@contextmanager
def watch_growth(home: Home, findings: Findings) -> Iterator[Callable[[], None]]:
    """Yield a function that notes memory and descriptors, which may not grow after it."""
    noted: list[tuple[float, int]] = []

    def note() -> None:
        noted.append((sum(measure_memory(home.folder).values()), count_descriptors(home.folder)))

    yield note
    note()
    (memory, files), (memory_after, files_after) = noted[0], noted[-1]
    text = f"MB {memory:.0f} -> {memory_after:.0f}, descriptors {files} -> {files_after}"
    findings.notes.append(text)
    if memory_after > memory * 1.2 + 20 or files_after > files + 16:
        findings.faults.append(f"growth: {text}")


def send_tool_calls(client: HttpClient, home: Home, count: int, seed: int) -> Findings:
    """Call tools with random arguments; return what the results showed."""
    from kebab.server.tools import TOOLS

    findings = Findings()
    tools = [tool for tool in TOOLS if tool.permission != "--with-ask"]
    maker = RequestMaker(seed, home.list_words(), {tool.name: tool.arguments for tool in tools})
    for number in range(count):
        tool = tools[number % len(tools)]
        _try_call(partial(client.call_tool, tool.name, maker.make(tool.name)), findings, tool.name)
        if not tool.is_read_only:
            home.restore()
    return findings


def send_command_lines(client: CommandClient, home: Home, count: int, seed: int) -> Findings:
    """Run random command lines; return what the answers showed."""
    findings = Findings()
    maker = RequestMaker(seed, home.list_words())
    for number in range(count):
        operation = [*REMOTE_OPERATIONS][number % len(REMOTE_OPERATIONS)]
        call = partial(client.run, make_command_line(maker, operation))
        _try_call(call, findings, operation)
        if REMOTE_OPERATIONS[operation].effect != "reads":
            home.restore()
    return findings


def make_command_line(maker: RequestMaker, operation: str) -> CommandLine:
    """Return a random command line of an operation; some have broken arguments."""
    line = CommandLine(())
    for _ in range(_MOST_TRIES):
        try:
            line = build_command_line(operation, maker.make_valid(operation))
        except InexpressibleError:
            continue
        break
    if maker.chance.random() < _BROKEN_SHARE:
        return CommandLine(_break_words(maker.chance, list(line.arguments)), line.stdin)
    return line


def _break_words(chance: random.Random, words: list[str]) -> tuple[str, ...]:
    """Replace, drop or add a word after the command."""
    junk = chance.choice([text for text in TEXTS if "\0" not in text] + ["--limit=x", "--no-such"])
    place = chance.randint(min(1, len(words)), len(words))
    words[place : place + chance.randint(0, 1)] = (
        [junk] if chance.random() < _BROKEN_SHARE * 2 else []
    )
    return tuple(words)


def _try_call(call: Callable[[], Result], findings: Findings, operation: str) -> None:
    started = time.monotonic()
    try:
        result = call()
        findings.add(operation, result, time.monotonic() - started)
        if result.reply.get("code") == Generic.code or CANARY in str(result.reply):
            findings.faults.append(f"{operation}: {result.reply}")
    except BrokenAnswerError as fault:
        findings.faults.append(f"{operation}: {fault}")


@contextmanager
def open_surface(
    name: str, home: Home, environment: dict[str, str], *, allow_write: bool = True
) -> Iterator[Surface]:
    """Yield a surface by its name."""
    if name == "library":
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(home.folder)
        yield LibraryClient()
    elif name in ("http", "mcp"):
        with run_http_server(environment, home.folder, allow_write=allow_write) as http:
            yield http
    else:
        yield CommandClient(lambda line: run_process(line, environment, home.folder))


def main() -> int:
    """Run the program; the exit status is 1 when an answer broke the contract."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("surface", choices=["library", "command", "http", "mcp"])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--read-only", action="store_true", help="attack servers that only read")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kebab-calls-") as folder:
        environment = {**build_environment(Path(folder) / "home"), "PYTHONPATH": str(ROOT)}
        (Path(folder) / "home").mkdir()
        run = partial(run_process, environment=environment, folder=Path(folder) / "home")
        home = Home(Path(folder) / "home", NOTES, run)
        home.prepare()
        writes = not options.read_only
        with open_surface(options.surface, home, environment, allow_write=writes) as surface:
            memory = measure_memory(home.folder)
            send: Callable[..., Findings] = send_requests
            if isinstance(surface, CommandClient):
                send = send_command_lines
            elif options.surface == "mcp":
                send = send_tool_calls
            elif isinstance(surface, HttpClient) and not writes:
                send = send_hostile_requests
            findings = send(surface, home, options.count, options.seed)
            print(f"MB before: {memory}, after: {measure_memory(home.folder)}")  # noqa: T201 - the output of the program
    _print_findings(findings)
    return bool(findings.faults)


def _print_findings(findings: Findings) -> None:
    for name, count in findings.answers.most_common():
        print(f"{count:6} {name}")  # noqa: T201 - the output of the program
    for note in findings.notes:
        print(note)  # noqa: T201 - the output of the program
    seconds, operation = findings.slowest
    print(f"slowest call: {seconds:.2f} s, {operation}")  # noqa: T201 - the output of the program
    for fault in findings.faults:
        print(f"BROKEN {fault}")  # noqa: T201 - the output of the program


if __name__ == "__main__":
    sys.exit(main())
