"""Two evaluations compared: how far apart they are, and which questions make the difference."""

from collections.abc import Iterator, Sequence

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.measure import fitted
from kebab.cli.render.sheet import labelled, plural
from kebab.wire.evals import EvalChange, EvalComparison, EvalPair, EvalSide

_SHOWN = 5
_SURE = 0.05
_NONE = "-"


def draw_comparison(reply: EvalComparison, canvas: Canvas) -> Iterator[str]:
    """Yield both reports, then each comparison with the questions that changed most."""
    yield from labelled((("a", _side(reply.a)), ("b", _side(reply.b))), canvas)
    sure = f"{reply.level:.0%} bootstrap intervals; p by {reply.flips} random signs, two-sided"
    yield canvas.faint(f"{plural(reply.questions, 'question')}; {sure}, seed {reply.seed}")
    for pair in reply.pairs:
        yield ""
        yield from _pair(pair, canvas)


def _side(side: EvalSide) -> str:
    made = side.versions
    build = f"kebab v{made.kebab}, {made.chunker}, {made.embedding or 'no embedding model'}"
    return f"{clean(side.path)}  {build}, revision {side.corpus_revision}"


def _pair(pair: EvalPair, canvas: Canvas) -> Iterator[str]:
    modes = pair.mode_a if pair.mode_a == pair.mode_b else f"{pair.mode_a} → {pair.mode_b}"
    yield canvas.strong(f"{modes}  {pair.metric}")
    difference = f"{pair.difference:+.3f}"
    paint = (
        canvas.faint
        if pair.p_value >= _SURE
        else canvas.good
        if pair.difference > 0
        else canvas.bad
    )
    yield (
        f"  {pair.a:.3f} → {pair.b:.3f}   {paint(difference)}"
        f"  ({pair.low:+.3f} … {pair.high:+.3f})   p = {pair.p_value:.4f}"
    )
    yield f"  better {pair.wins}, worse {pair.losses}, the same {pair.ties}"
    yield from _changes("better", pair.better, canvas)
    yield from _changes("worse", pair.worse, canvas)


def _changes(label: str, changes: Sequence[EvalChange], canvas: Canvas) -> Iterator[str]:
    if not changes:
        return
    more = f", {_SHOWN} of {len(changes)}" if len(changes) > _SHOWN else ""
    yield canvas.faint(f"  {label}{more}")
    for one in changes[:_SHOWN]:
        ranks = f"{one.rank_a or _NONE} → {one.rank_b or _NONE}"
        line = f"    {one.difference:+.2f}  {ranks:<9}  {clean(one.query)}"
        yield fitted(line, canvas.width) if canvas.width else line
