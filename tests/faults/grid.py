"""The grid: which call of which point fails how, in which command."""

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.faults import points
from tests.faults.seams.process import COSTLY, Clocks
from tests.faults.session import Command
from tests.faults.world import Fault, Injection


@dataclass(frozen=True, slots=True)
class Size:
    """How much of the grid is run.

    `faults` is the most of one point in one command, `writing` the same in a command that writes,
    after which the library must be looked at; `again` replaces both when all faults of the point
    have come up, and then one command in `familiar` meets one at the point.
    Each comes at `indexes` calls, and `calls` are the calls of points that every function passes.
    Each damaged file is met by `damages` commands, one in `scripts` is said, and after one in
    `doctor` runs it is doctor who looks.
    """

    faults: int
    writing: int
    again: int
    familiar: int
    indexes: int
    calls: int
    damages: int
    scripts: int
    doctor: int


DEFAULT = Size(2, 1, 1, familiar=12, indexes=1, calls=1, damages=1, scripts=5, doctor=6)
FULL = Size(100, 100, 100, familiar=1, indexes=4, calls=40, damages=4, scripts=1, doctor=1)


class Grid:
    """Chooses what is to fail in each command, so that the faults of a point take turns."""

    def __init__(self, clocks: Clocks, size: Size) -> None:
        self._clocks = clocks
        self._size = size
        self._chosen: Counter[str] = Counter()
        """How many faults of each point have been chosen, for whichever command."""

    def list_injections(
        self, name: str, calls: Counter[str], *, writes: bool
    ) -> Iterator[Injection]:
        """Yield what is to fail in a command."""
        size = self._size
        for point, count in sorted(calls.items()):
            found = points.list_faults(point, self._clocks)
            turn = zlib.crc32(f"{name} {point}".encode())
            if point in COSTLY:
                spread = choose_spread_indexes(count, size.calls)
                indexes = spread if size.calls > 1 else [turn % count]
                yield from (Injection(point, index, found[0]) for index in indexes)
            else:
                most = size.writing if writes else size.faults
                yield from self._list_injections_at(point, count, turn, found, most)

    def _list_injections_at(
        self, point: str, count: int, turn: int, found: Sequence[Fault], most: int
    ) -> Iterator[Injection]:
        """Yield the faults of one point: first and last call among them, and one that lasts.

        Where one fault of several is taken, one that can last comes once or lasts, by turns.
        """
        rounds, first = divmod(self._chosen[point], len(found))
        is_known = rounds > 0
        if is_known and turn % self._size.familiar:
            return
        number = min(self._size.again if is_known else most, len(found))
        self._chosen[point] += number
        chosen = [found[(first + at) % len(found)] for at in range(number)]
        lasting = [fault for fault in chosen if points.can_last(fault)][:1]
        takes_turns = number == 1 < len(found)
        lasts = (rounds + turn) % 2
        if not (takes_turns and lasting and lasts):
            indexes = self._size.indexes
            places = choose_spread_indexes(count, max(3, indexes * number))
            for at, fault in enumerate(chosen, turn):
                mine = {places[(at + number * round_) % len(places)] for round_ in range(indexes)}
                yield from (Injection(point, index, fault) for index in sorted(mine))
        if not takes_turns or lasts:
            yield from (Injection(point, turn % count, fault, lasting=True) for fault in lasting)


def choose_spread_indexes(count: int, most: int) -> list[int]:
    """Return up to `most` indexes below a count: the first, the last, and some between."""
    if count <= most:
        return list(range(count))
    return [round(at * (count - 1) / max(1, most - 1)) for at in range(most)]


def choose_by_turns(name: str, among: Sequence[Command], most: int) -> list[Command]:
    """Return up to `most` of a sequence, the same for a name in every run."""
    turn = zlib.crc32(name.encode())
    return [among[(turn + at) % len(among)] for at in range(min(most, len(among)))]


def is_selected(name: str, one_in: int) -> bool:
    """Return whether something is in the share that is run; always the same."""
    return zlib.crc32(name.encode()) % one_in == 0
