"""The grid: which call of which point fails how, in which command."""

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kebab.errors.signal import Exit
from tests.faults import points
from tests.faults.judge import Case, Verdict, judged
from tests.faults.session import Command
from tests.faults.stage import Stage
from tests.faults.world import Injection

if TYPE_CHECKING:
    from tests.fakes.console import Ran

_PASSING_FILES = ("-shm", "-wal", "writer.lock")


@dataclass(frozen=True, slots=True)
class Size:
    """How much of the grid is run: indexes of each fault, and the most faults of a point."""

    indexes: int
    points: int
    lasting: int = 1


DEFAULT = Size(indexes=1, points=6)
FULL = Size(indexes=6, points=1_000, lasting=2)


@dataclass(slots=True)
class Ledger:
    """What came of all faults."""

    codes: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    missed: int = 0
    seconds: float = 0.0

    @property
    def injected(self) -> int:
        """How many faults there were."""
        return self.codes.total()

    def table(self) -> list[str]:
        """Return how often each code was reported, and each family failed."""
        head = f"{self.injected} faults in {self.seconds:.0f} s, {len(self.broken)} broken promises"
        codes = [f"{count:6}  {code}" for code, count in self.codes.most_common()]
        families = (f"{name} {count}" for name, count in self.families.most_common())
        return [head, *codes, f"at {', '.join(families)}"]

    def note(self, verdict: Verdict, family: str) -> None:
        """Count a run, and keep what it did wrong."""
        self.codes[verdict.code or _outcome(verdict)] += 1
        self.families[family] += 1
        self.broken += [f"{verdict.name}: {one}" for one in verdict.broken]


def _outcome(verdict: Verdict) -> str:
    if verdict.status == Exit.READER_GONE:
        return "(reader gone)"
    return "(said so in the result)" if verdict.flagged else "(no difference)"


def injections(
    stage: Stage, command: Command, calls: Counter[str], size: Size
) -> Iterator[Injection]:
    """Yield what is to fail in a command, first and last calls of every point among it."""
    for point, count in sorted(calls.items()):
        faults = points.faults(point, stage.clocks)
        turn = zlib.crc32(f"{command.name} {point}".encode())
        # Which faults come first changes from command to command, so that all of them come up.
        ordered = [faults[(turn + at) % len(faults)] for at in range(len(faults))]
        chosen = ordered[: size.points]
        places = spread(count, size.indexes * len(chosen))
        for at, fault in enumerate(chosen):
            for index in sorted(
                {places[(at + len(chosen) * one) % len(places)] for one in range(size.indexes)}
            ):
                yield Injection(point, index, fault)
        lasting = [fault for fault in chosen if points.can_last(fault)][: size.lasting]
        yield from (Injection(point, turn % count, fault, lasting=True) for fault in lasting)


def spread(count: int, most: int) -> list[int]:
    """Return up to `most` indexes below a count: the first, the last, and some between."""
    if count <= most:
        return list(range(count))
    return [round(at * (count - 1) / max(1, most - 1)) for at in range(most)]


class Runner:
    """Runs faults one by one and judges what came of them."""

    def __init__(self, stage: Stage, wanted: str = "") -> None:
        self.ledger = Ledger()
        self._stage = stage
        self._wanted = wanted
        self._clean: dict[str, Ran] = {}
        self._allowed: dict[str, list[dict[str, Any]]] = {}

    def rehearse(self, command: Command) -> Counter[str]:
        """Run a command that nothing befalls; return how often each point was passed."""
        stage = self._stage
        stage.restore(command)
        clean = self._clean[command.name] = stage.run(command)
        assert clean.status == command.status, (command.name, clean)
        calls = Counter(stage.world.calls)
        ends = [stage.recovered(command)] if command.writes else []
        stage.restore(command)
        ends.append(stage.recovered(command))
        self._allowed[command.name] = [one for one in ends if not isinstance(one, str)]
        assert len(self._allowed[command.name]) == len(ends), ends
        return calls

    def all(self, command: Command, size: Size) -> None:
        """Run a command with each fault of the grid."""
        calls = self.rehearse(command)
        for injection in injections(self._stage, command, calls, size):
            self.one(command, injection)

    def one(self, command: Command, injection: Injection) -> None:
        """Run a command with one fault."""
        case = Case(command, injection, self._clean[command.name])
        if self._wanted not in str(case):
            return
        self._stage.restore(command)
        ran = self._stage.run(command, injection)
        if not self._stage.world.fired:
            self.ledger.missed += 1
            return
        verdict = judged(case, ran)
        verdict.broken += self._after(command)
        self.ledger.note(verdict, injection.point.partition(".")[0])

    def _after(self, command: Command) -> Iterable[str]:
        """Return what is wrong with the library that the next clean run leaves."""
        touched = {
            name for name in self._stage.homes.changed("data") if not name.endswith(_PASSING_FILES)
        }
        if not touched and not command.writes:
            return []
        found = self._stage.recovered(command)
        if isinstance(found, str):
            return [f"recovery: {found}"]
        if found in self._allowed[command.name]:
            return []
        return [f"library: {difference(self._allowed[command.name][-1], found)}"]


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Return where two libraries differ."""
    names = [
        name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
    ]
    told = [
        f"{name}: {expected.get(name)} became {found.get(name)}"[:400] for name in sorted(names)
    ]
    return "; ".join(told)
