"""Compares the answers of surfaces with those of the dispatcher.

What may differ is listed here, with its reason; everything else is equal.
"""

import re
from typing import Any

from kebab.wire.operations import OPERATIONS
from tests.e2e.parity import breaks_schema, list_cases
from tests.fakes.console import run
from tools.surfaces.clients import Output, Result, list_differences
from tools.surfaces.command_lines import CommandLine, InexpressibleError

TIMES = (
    "timestamp",
    "timing_ms",
    "duration_ms",
    "elapsed_ms",
    "latency_ms",
    "first_token_ms",
    "created_at",
    "checked_at",
)
"""The times of an answer and of the work for it."""

ORDER_BY_TIME = ("slowest",)
"""The slowest files of an ingest."""

MARKS = ("correlation_id", "run_id", "trace_id")
"""The random marks of one call."""

SIZES = ("bytes_freed",)
"""The sizes of files, which hold times and marks as text."""

STORED_TIMES = ("indexed_at", "last_ingest_at")
"""The times of an ingest, which only operations that ingest set anew."""

FREE_SPACE = re.compile(r"[\d,]+ MiB free")
"""What `doctor` says of the disk, to which other processes write."""

LINE_ERRORS = ("hint",)
"""The hint of an error on the command line repeats the call with what was missing."""

LINE_FIELDS = ("field", "message", "target")
"""An `invalid_input` of the command line names the flag instead of the JSON path."""

REFUSED = {"usage_invalid", "invalid_input"}
"""The command line refuses a request that breaks its schema while it reads the flags."""


def drop(reply: Any, *names: str) -> Any:
    """Return an object without these fields, wherever they are."""
    if isinstance(reply, dict):
        return {name: drop(one, *names) for name, one in reply.items() if name not in names}
    if isinstance(reply, list):
        return [drop(one, *names) for one in reply]
    return FREE_SPACE.sub("MiB free", reply) if isinstance(reply, str) else reply


def compare(operation: str, expected: Result, found: Result, *more: str) -> list[str]:
    """Return where two answers differ, beyond times and marks."""
    names = [*TIMES, *ORDER_BY_TIME, *MARKS, *SIZES, *more]
    names += STORED_TIMES if OPERATIONS[operation].effect == "writes" else []
    differences = list_differences(drop(expected.reply, *names), drop(found.reply, *names))
    if expected.status != found.status:
        differences.append(f"status: {expected.status} != {found.status}")
    return differences


def compare_lines(operation: str, expected: Result, found: Result, *, broken: bool) -> list[str]:
    """Return where a command line differs from the dispatcher, beyond what its flags explain."""
    if not (expected.failed and found.failed):
        return compare(operation, expected, found)
    if broken:
        codes = {expected.reply["code"], found.reply["code"]}
        return [] if codes <= REFUSED and expected.status == found.status else [f"{codes}"]
    more = (
        (*LINE_ERRORS, *LINE_FIELDS) if expected.reply["code"] == "invalid_input" else LINE_ERRORS
    )
    return compare(operation, expected, found, *more)


def check_lines(client, world, reference, operation, most=None):
    """Hold the answers of a command line to those of the dispatcher; return how many it gave."""
    given, differences = 0, []
    for position, one in enumerate(list_cases(operation)[:most]):
        broken = breaks_schema(operation, one)
        if broken and one.line is None:
            continue
        expected = reference(operation, position, one)
        try:
            found = ask_line(client, world, operation, one)
        except InexpressibleError:
            continue
        given += 1
        told = compare_lines(operation, expected, found, broken=broken)
        differences += [f"{one.raw[:80]!r}: {line}" for line in told]
    assert not differences, "\n".join(differences)
    return given


def ask_line(client, world, operation, one):
    if one.line is None:
        return world.ask(client, operation, one)
    world.restore()
    return client.run(one.line)


def run_here(line: CommandLine) -> Output:
    """Run a command line in this process."""
    done = run(*line.arguments, stdin=line.stdin)
    return Output(done.status, done.out.encode(), done.err.encode())
