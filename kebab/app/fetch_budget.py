"""Shortens fetched texts to a common budget of tokens."""

from bisect import bisect_right
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from kebab.search.citations import format_reference
from kebab.text.tokens import estimate_tokens
from kebab.wire.library import FetchResult, NotFound


def fit_budget(
    results: Sequence[FetchResult | NotFound], names: Sequence[str], max_tokens: int
) -> list[FetchResult | NotFound]:
    """Return the results with texts of at most `max_tokens` estimated tokens in total.

    Each text gets an equal share; what short texts leave is given to longer ones. Texts are cut
    between lines, and keep at least their first line or the beginning of it.
    """
    sizes = [
        estimate_tokens(result.text) if isinstance(result, FetchResult) else 0 for result in results
    ]
    shares = share_budget(sizes, max_tokens)
    return [
        _cut_result(result, name, share) if isinstance(result, FetchResult) else result
        for result, name, share in zip(results, names, shares, strict=True)
    ]


def share_budget(sizes: Sequence[float], total: float) -> list[float]:
    """Divide a total: what is smaller than an equal share leaves the rest of it to the others."""
    shares = [0.0] * len(sizes)
    waiting = sorted(range(len(sizes)), key=sizes.__getitem__)
    for position, index in enumerate(waiting):
        shares[index] = min(sizes[index], total / (len(sizes) - position))
        total -= shares[index]
    return shares


def _cut_result(result: FetchResult, name: str, tokens: float) -> FetchResult:
    if estimate_tokens(result.text) <= tokens:
        return result
    lines = result.text.split("\n")
    count = _find_longest(
        len(lines), tokens, lambda number: estimate_tokens("\n".join(lines[:number]))
    )
    text = "\n".join(lines[:count])
    if not count:
        line = lines[0]
        text = line[: _find_longest(len(line), tokens, lambda end: estimate_tokens(line[:end]))]
    last = result.start_line + max(count, 1) - 1
    more = last < result.end_line and not result.is_indexed_text
    rest = format_reference(name, last + 1, result.end_line) if more else None
    return replace(result, text=text, end_line=last, truncated=True, rest=rest)


def _find_longest(most: int, tokens: float, measure: Callable[[int], float]) -> int:
    """Return the largest number up to `most` whose measure is within a limit."""
    return bisect_right(range(1, most + 1), tokens, key=measure)
