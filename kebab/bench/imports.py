"""What each command imports, and how long each module takes by itself.

kebab lets no library write to its channels, so `-X importtime` would be silenced on the way; the
same figures are taken at the place where the interpreter takes them.
"""

import re
from collections.abc import Iterator

from kebab.bench.bed import PROGRAM, Bed, python
from kebab.bench.corpus import write_notes
from kebab.bench.library import index
from kebab.bench.process import Outcome
from kebab.bench.rig import Rig
from kebab.wire.bench import BenchImports, BenchModule

_LINE = re.compile(r"^import (\d+) (\S+)$", re.MULTILINE)
_TIMED = """
import _frozen_importlib, _thread, os, time
told, load, inside = os.dup(2), _frozen_importlib._find_and_load, {}
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
        os.write(told, b"import %d %s\\n" % (own // 1000, name.encode()))
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


def measure(rig: Rig) -> None:
    """Enter the profile of each command, on a knowledge base of a few notes."""
    bed = rig.bed("imports")
    rig.pace.at("imports", 0, len(_COMMANDS) + 1)
    indexed = index(bed, write_notes(bed.folder / "files", _NOTES, rig.options.seed))
    if indexed.fault is not None:
        rig.ledger.failed("imports", indexed.fault)
        return
    for number, arguments in enumerate(_COMMANDS, start=1):
        rig.pace.at("imports", number, len(_COMMANDS) + 1)
        _profile(rig, bed, arguments)


def _profile(rig: Rig, bed: Bed, arguments: tuple[str, ...]) -> None:
    name = " ".join(("kebab", *arguments))
    found = sorted(modules(told(bed, arguments)), key=lambda one: -one.milliseconds)
    if not found:
        rig.ledger.failed(f"imports.{arguments[0].strip('-')}", "the interpreter told of no import")
        return
    profile = BenchImports(
        command=name,
        modules=len(found),
        milliseconds=sum(one.milliseconds for one in found),
        heaviest=found[:_HEAVIEST],
    )
    rig.ledger.imports.append(profile)


def told(bed: Bed, arguments: tuple[str, ...]) -> Outcome:
    """Run a command that tells of each import on stderr."""
    return bed.run(python(_TIMED + PROGRAM, *arguments))


def modules(outcome: Outcome) -> Iterator[BenchModule]:
    """Yield the modules that a process told of."""
    for found in _LINE.finditer(outcome.err.decode(errors="replace")):
        yield BenchModule(name=found[2], milliseconds=int(found[1]) / 1000)
