"""Tells whether a series of measurements grows.

A series is one value a minute. The slope is that of Theil and Sen: the median of the slopes of all
pairs of values, which single outliers do not move. Kendall's test says how often values in random
order would rise or fall as steadily. Its p is too small where neighbours resemble each other, so
two more conditions protect the verdict: the change must be worth naming, and it must go on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

LOAD = "machine load"
"""The name of the series of the load of the machine."""

_PERMUTATIONS = 2000
_P = 0.01
_SHARE = 0.05
"""The change of a series over the run that is worth naming, as a share of its level."""
_LEAST = 1.0
"""The same in its unit: a millisecond, a MB, a descriptor."""
_LEAST_VALUES = 9


@dataclass(frozen=True, slots=True)
class Trend:
    """What a series did: medians of its first and last third, change by the slope, p, verdict."""

    name: str
    first: float
    last: float
    change: float
    p: float
    verdict: str
    follows: float = 0.0
    """The correlation with the load of the machine, which explains a growth of times."""

    def format_row(self) -> str:
        """Return the row of the table."""
        return (
            f"{self.name:18} {self.first:10.2f} {self.last:10.2f} {self.change:+10.2f}"
            f"  p {self.p:.3f}  load {self.follows:+.2f}  {self.verdict}"
        )


def find_trend(name: str, values: Sequence[float]) -> Trend:
    """Return the trend of a series, without its warm-up.

    The verdict is `steady`, `grows`, `falls`, `levelled` for a growth that ended within the run, or
    `short` for a series of too few values.
    """
    thirds = np.array_split(np.asarray(values, float), 3)
    first, middle, last = (float(np.median(one)) if len(one) else 0.0 for one in thirds)
    if len(values) < _LEAST_VALUES:
        return Trend(name, first, last, last - first, 1.0, "short")
    series = np.asarray(values, float)
    early, late = np.triu_indices(len(series), 1)
    slope = float(np.median((series[late] - series[early]) / (late - early)))
    change = slope * (len(series) - 1)
    p = _compute_p(series, early, late)
    material = abs(change) >= max(_LEAST, _SHARE * abs(float(np.median(series))))
    if p >= _P or not material:
        verdict = "steady"
    elif change < 0:
        verdict = "falls"
    else:
        goes_on = last - middle >= max(_LEAST, _SHARE * middle) / 3
        verdict = "grows" if goes_on else "levelled"
    return Trend(name, first, last, change, p, verdict)


def _compute_p(
    series: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    early: "np.ndarray[tuple[int], np.dtype[np.intp]]",
    late: "np.ndarray[tuple[int], np.dtype[np.intp]]",
) -> float:
    """Return the share of random orders of the values that rise or fall as steadily."""
    chance = np.random.default_rng(0)
    found = abs(np.sign(series[late] - series[early]).sum())
    reached = 0
    for _ in range(_PERMUTATIONS):
        mixed = chance.permutation(series)
        reached += abs(np.sign(mixed[late] - mixed[early]).sum()) >= found
    return (reached + 1) / (_PERMUTATIONS + 1)


def find_trends(rows: Sequence[Mapping[str, float]], warm_up: int) -> list[Trend]:
    """Return the trends of all series; a row has the values of a minute, by their names.

    A name that a minute lacks counts as 0 there, except a latency, which no call means.
    """
    kept = rows[warm_up:]
    names = sorted({name for row in kept for name in row})
    trends = []
    for name in names:
        chosen = [row for row in kept if name in row or not name.endswith(" ms")]
        values = [row.get(name, 0.0) for row in chosen]
        loads = [row.get(LOAD, 0.0) for row in chosen]
        follows = _correlate(values, loads)
        trends.append(replace(find_trend(name, values), follows=follows))
    return trends


def _correlate(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the correlation of two series; 0 when one of them is constant."""
    if min(np.ptp(one or [0]), np.ptp(other or [0])) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
