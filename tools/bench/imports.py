"""Profiles the imports of each command, and how long each module takes by itself.

kebab lets no library write to its channels, so the output of `-X importtime` would be lost. A
wrapper around the import function of the interpreter measures the same times.
"""

import re
from collections.abc import Iterator

from kebab.bench.run import BenchContext, index_corpus
from kebab.bench.sandbox import PROGRAM, Outcome, Sandbox, build_python_command, write_notes
from kebab.wire.evals import BenchImports, BenchModule

_LINE = re.compile(r"^import (\d+) (\S+)$", re.MULTILINE)
_TIMED = """
import _frozen_importlib, _thread, os, time
report, load, inside = os.dup(2), _frozen_importlib._find_and_load, {}
def timed(name, find):
    outer = inside.setdefault(_thread.get_ident(), [0])
    outer.append(0)
    began = time.perf_counter_ns()
    try:
        return load(name, find)
    finally:
        took = time.perf_counter_ns() - began
        own = took - outer.pop()
        outer[-1] += took
        os.write(report, b"import %d %s\\n" % (own // 1000, name.encode()))
_frozen_importlib._find_and_load = timed
"""
_HEAVIEST = 8
_NOTES = 20
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("--version",),
    ("--help",),
    ("schema", "--json"),
    ("search", "backup", "--mode", "lexical"),
    ("search", "backup"),
    ("ask", "backup", "--extractive"),
    ("list",),
    ("ingest",),
    ("doctor",),
)


def measure_imports(context: BenchContext) -> None:
    """Add the profile of each command on a knowledge base of a few notes."""
    sandbox = context.create_sandbox("imports")
    context.report_progress("imports", 0, len(_COMMANDS) + 1)
    corpus = write_notes(sandbox.folder / "files", _NOTES, context.options.seed)
    indexed = index_corpus(sandbox, corpus)
    if indexed.fault is not None:
        context.results.add_failure("imports", indexed.fault)
        return
    for number, arguments in enumerate(_COMMANDS, start=1):
        context.report_progress("imports", number, len(_COMMANDS) + 1)
        _add_profile(context, sandbox, arguments)


def _add_profile(context: BenchContext, sandbox: Sandbox, arguments: tuple[str, ...]) -> None:
    modules = list(parse_imports(run_profiled(sandbox, arguments)))
    if not modules:
        name = f"imports.{arguments[0].strip('-')}"
        context.results.add_failure(name, "the interpreter reported no import")
        return
    modules.sort(key=lambda one: -one.milliseconds)
    profile = BenchImports(
        command=" ".join(("kebab", *arguments)),
        modules=len(modules),
        milliseconds=sum(one.milliseconds for one in modules),
        heaviest=modules[:_HEAVIEST],
    )
    context.results.imports.append(profile)


def run_profiled(sandbox: Sandbox, arguments: tuple[str, ...]) -> Outcome:
    """Run a command that reports each import on stderr."""
    return sandbox.run(build_python_command(_TIMED + PROGRAM, *arguments))


def parse_imports(outcome: Outcome) -> Iterator[BenchModule]:
    """Yield the modules that a process reported."""
    for found in _LINE.finditer(outcome.err.decode(errors="replace")):
        yield BenchModule(name=found[2], milliseconds=int(found[1]) / 1000)
