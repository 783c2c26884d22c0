"""Computes bootstrap intervals and the p-value of a paired randomisation test.

Every function draws from a fixed seed, so the same outcomes always give the same figures.
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
RESAMPLES = 1_000
LEVEL = 0.95
FLIPS = 10_000
_CELLS = 4_000_000
"""The most numbers in memory at once."""
_TOLERANCE = 1e-9
"""Sums that differ by less are equal, because sums are rounded."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; all None when there is nothing to measure."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    count: int = 0

    def require_values(self) -> tuple[float, float, float]:
        """Return value, low and high of an estimate that has them."""
        assert self.value is not None
        assert self.low is not None
        assert self.high is not None
        return self.value, self.low, self.high


def estimate_mean(values: Sequence[float]) -> Estimate:
    """Estimate the mean."""
    return _estimate([[value] for value in values], lambda table: table[..., 0].mean(axis=-1))


def estimate_ratio(pairs: Sequence[tuple[float, float]]) -> Estimate:
    """Estimate the sum of the first numbers divided by the sum of the second ones."""
    return _estimate(pairs, lambda table: table[..., 0].sum(axis=-1) / table[..., 1].sum(axis=-1))


def estimate_quantile(values: Sequence[float], share: float) -> Estimate:
    """Estimate the value below which a share of all values lies."""
    import numpy as np

    rows = [[value] for value in values]
    return _estimate(rows, lambda table: np.quantile(table[..., 0], share, axis=-1))


def estimate_mean_gap(rows: Sequence[tuple[int, float]], bins: int) -> Estimate:
    """Estimate the sum over bins of the absolute mean gap; each row is a bin and its gap."""
    import numpy as np

    table = [[gap if column == number else 0.0 for column in range(bins)] for number, gap in rows]
    return _estimate(table, lambda table: np.abs(table.mean(axis=-2)).sum(axis=-1))


def compute_p_value(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of paired differences by a randomisation test.

    If both sides were alike, each difference could as well have the other sign. The p-value is
    the share of random signs whose sum is at least as far from 0 as the observed sum. The
    observed signs count as one draw, so the p-value is never 0 (Fisher's randomisation test;
    Smucker, Allan and Carterette, "A comparison of statistical significance tests for information
    retrieval evaluation", CIKM 2007).
    """
    import numpy as np

    nonzero = np.array([difference for difference in differences if difference], dtype=float)
    if not nonzero.size:
        return 1.0
    observed = abs(nonzero.sum()) - _TOLERANCE
    generator = np.random.default_rng(SEED)
    reached = 0
    for draws in _split_draws(FLIPS, nonzero.size):
        signs = generator.integers(0, 2, size=(draws, nonzero.size), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ nonzero) >= observed).sum())
    return (reached + 1) / (FLIPS + 1)


def _estimate(rows: Sequence[Sequence[float]], statistic: "Statistic") -> Estimate:
    """Return a statistic of rows with its percentile interval (Efron and Tibshirani, 1993).

    The statistic takes an array of samples, rows and columns and returns one number for each
    sample. Samples without a value are left out.
    """
    import numpy as np

    if not rows:
        return Estimate()
    table = np.array(rows, dtype=float)
    count, columns = table.shape
    generator = np.random.default_rng(SEED)
    with np.errstate(invalid="ignore", divide="ignore"):
        (value,) = statistic(table[np.newaxis])
        resampled = [
            statistic(table[generator.integers(0, count, size=(draws, count))])
            for draws in _split_draws(RESAMPLES, count * columns)
        ]
    samples = np.concatenate(resampled)
    finite = samples[np.isfinite(samples)]
    if not np.isfinite(value) or not finite.size:
        return Estimate()
    low, high = np.quantile(finite, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(value), float(low), float(high), count)


def _split_draws(total: int, cells: int) -> Iterator[int]:
    """Yield how many samples to draw at once, so that they fit into memory."""
    size = max(1, _CELLS // max(1, cells))
    for start in range(0, total, size):
        yield min(size, total - start)
