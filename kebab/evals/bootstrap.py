"""Intervals by the bootstrap, and a paired test by random signs; the only place with arrays.

Both draw from a fixed seed: the same outcomes always give the same figures.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[float64]
    Statistic: TypeAlias = Callable[[Array], Array]

SEED = 1
"""What samples and signs are drawn with."""
RESAMPLES = 1_000
LEVEL = 0.95
FLIPS = 10_000
_CELLS = 4_000_000
"""How many numbers are held at once."""
_EVEN = 1e-9
"""Differences closer than this are the same, for sums are rounded."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; all None when there is nothing to measure."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    count: int = 0

    def known(self) -> tuple[float, float, float]:
        """Return value and interval of what was certainly measured."""
        assert self.value is not None
        assert self.low is not None
        assert self.high is not None
        return self.value, self.low, self.high


def estimate_mean(values: Sequence[float]) -> Estimate:
    """Return the mean."""
    return _estimate([[value] for value in values], lambda table: table[..., 0].mean(axis=-1))


def estimate_ratio(pairs: Sequence[tuple[float, float]]) -> Estimate:
    """Return the sum of the firsts over that of the seconds; where that is 0 it is undefined."""

    def divided(table: "Array") -> "Array":
        sums = table.sum(axis=-2)
        result: Array = sums[..., 0] / sums[..., 1]
        return result

    return _estimate(pairs, divided)


def estimate_quantile(values: Sequence[float], share: float) -> Estimate:
    """Return the value below which a share of all lies."""
    import numpy as np

    def cut(table: "Array") -> "Array":
        result: Array = np.quantile(table[..., 0], share, axis=-1)
        return result

    return _estimate([[value] for value in values], cut)


def estimate_mean_gap(rows: Sequence[tuple[int, float]], bins: int) -> Estimate:
    """Return the mean distance of sums by bin from 0: each row is its bin and what it adds."""
    import numpy as np

    table = [[gap if place == at else 0.0 for place in range(bins)] for at, gap in rows]

    def distance(table: "Array") -> "Array":
        result: Array = np.abs(table.mean(axis=-2)).sum(axis=-1)
        return result

    return _estimate(table, distance)


def compute_p_value(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of paired differences by randomisation.

    Were both sides alike, each difference might as well have the other sign. The p-value is the
    share of random signs under which the sum is at least as far from 0 as it is, the signs as
    they are counted too, so it is never 0 (Fisher's randomisation test; Smucker, Allan and
    Carterette, "A comparison of statistical significance tests for information retrieval
    evaluation", CIKM 2007).
    """
    import numpy as np

    given = np.array([one for one in differences if one], dtype=float)
    if not given.size:
        return 1.0
    far = abs(given.sum()) - _EVEN
    dice = np.random.default_rng(SEED)
    reached = 0
    for turns in _blocks(FLIPS, given.size):
        signs = dice.integers(0, 2, size=(turns, given.size), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ given) >= far).sum())
    return (reached + 1) / (FLIPS + 1)


def _estimate(rows: Sequence[Sequence[float]], statistic: "Statistic") -> Estimate:
    """Return a statistic of rows with its percentile interval (Efron and Tibshirani, 1993).

    The statistic takes samples x rows x columns and gives one number a sample. Samples without a
    value are left out.
    """
    import numpy as np

    if not rows:
        return Estimate()
    table = np.array(rows, dtype=float)
    count, columns = table.shape
    dice = np.random.default_rng(SEED)
    with np.errstate(invalid="ignore", divide="ignore"):
        (value,) = statistic(table[np.newaxis])
        drawn = [
            statistic(table[dice.integers(0, count, size=(turns, count))])
            for turns in _blocks(RESAMPLES, count * columns)
        ]
    samples = np.concatenate(drawn)
    known = samples[np.isfinite(samples)]
    if not np.isfinite(value) or not known.size:
        return Estimate()
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(value), float(low), float(high), count)


def _blocks(total: int, cells: int) -> Iterator[int]:
    """Yield how many samples to draw at once, so that they fit into memory."""
    each = max(1, _CELLS // max(1, cells))
    for start in range(0, total, each):
        yield min(each, total - start)
