"""The grid: which call of which point fails how, in which command."""

import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.faults import points
from tests.faults.seams.process import COSTLY, Clocks
from tests.faults.world import Injection


@dataclass(frozen=True, slots=True)
class Size:
    """How much of the grid is run.

    `faults` is the most of one point in one command, `writing` the same in a command that writes,
    after which the library must be looked at. Each comes at `indexes` calls, and `calls` are the
    calls of points that every function passes. Of the rest, one in `damages` and one in `scripts`,
    and after one in `doctor` runs it is doctor who looks.
    """

    faults: int
    writing: int
    indexes: int
    calls: int
    damages: int
    scripts: int
    doctor: int


DEFAULT = Size(faults=3, writing=1, indexes=1, calls=2, damages=3, scripts=4, doctor=4)
FULL = Size(faults=100, writing=100, indexes=4, calls=40, damages=1, scripts=1, doctor=1)


def list_injections(
    name: str, calls: Counter[str], clocks: Clocks, size: Size, *, writes: bool
) -> Iterator[Injection]:
    """Yield what is to fail in a command."""
    for point, count in sorted(calls.items()):
        turn = zlib.crc32(f"{name} {point}".encode())
        if point in COSTLY:
            (fault,) = points.list_faults(point, clocks)
            yield from (
                Injection(point, index, fault) for index in choose_spread_indexes(count, size.calls)
            )
        else:
            most = size.writing if writes else size.faults
            yield from _list_injections_at(point, count, turn, clocks, (most, size.indexes))


def _list_injections_at(
    point: str, count: int, turn: int, clocks: Clocks, size: tuple[int, int]
) -> Iterator[Injection]:
    """Yield the faults of one point: first and last call among them, and one that lasts."""
    most, indexes = size
    found = points.list_faults(point, clocks)
    # Which faults come first changes from command to command, so that all of them come up.
    chosen = [found[(turn + at) % len(found)] for at in range(min(most, len(found)))]
    places = choose_spread_indexes(count, indexes * len(chosen))
    for at, fault in enumerate(chosen):
        mine = {places[(at + len(chosen) * round_) % len(places)] for round_ in range(indexes)}
        yield from (Injection(point, index, fault) for index in sorted(mine))
    lasting = [fault for fault in chosen if points.can_last(fault)][:1]
    yield from (Injection(point, turn % count, fault, lasting=True) for fault in lasting)


def choose_spread_indexes(count: int, most: int) -> list[int]:
    """Return up to `most` indexes below a count: the first, the last, and some between."""
    if count <= most:
        return list(range(count))
    return [round(at * (count - 1) / max(1, most - 1)) for at in range(most)]


def is_selected(name: str, one_in: int) -> bool:
    """Return whether something is in the share that is run; always the same."""
    return zlib.crc32(name.encode()) % one_in == 0
