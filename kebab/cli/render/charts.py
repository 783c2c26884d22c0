"""Draws counts as small charts: a bar for each name, a column for each month.

Stats and schema show them on a terminal.
"""

from collections.abc import Iterator, Mapping

from kebab.cli.render.canvas import (
    Canvas,
    clean,
    format_minute,
    measure_width,
    pad,
    pluralize,
    truncate,
)
from kebab.core.media import get_media_type
from kebab.text.language import get_language_name
from kebab.wire.health import Stats

_MOST_BARS = 6
_BAR_CELLS = 24
_NAME_CELLS = 24
_MONTHS = 36
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_COLUMNS = " ▁▂▃▄▅▆▇█"


def render_library(stats: Stats, canvas: Canvas) -> Iterator[str]:
    """Yield the size of the library, and its documents by format, language, month and tag."""
    sizes = f"{pluralize(stats.doc_count, 'document')}, {pluralize(stats.chunk_count, 'passage')}"
    if stats.pending_embeddings:
        sizes += f" ({stats.pending_embeddings:,} not embedded yet)"
    changed = f", last change {format_minute(stats.last_ingest_at)}" if stats.last_ingest_at else ""
    yield from map(canvas.strong, canvas.wrap(f"{sizes}{changed}"))
    formats: dict[str, int] = {}
    for media, count in stats.media_breakdown.items():
        label = get_media_type(media).label
        formats[label] = formats.get(label, 0) + count
    languages = {
        name if name == "unknown" else get_language_name(name): count
        for name, count in stats.lang_breakdown.items()
    }
    yield from render_bars("formats", formats, canvas)
    yield from render_bars("languages", languages, canvas)
    yield from render_months(stats.month_breakdown, canvas)
    yield from render_bars("tags", stats.tag_breakdown, canvas)


def render_bars(title: str, counts: Mapping[str, int], canvas: Canvas) -> Iterator[str]:
    """Yield a title and a bar for each of the largest counts, then how many names are left."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [(truncate(clean(name), _NAME_CELLS), count) for name, count in ordered[:_MOST_BARS]]
    if not shown:
        return
    yield from ("", canvas.strong(title))
    names, largest = max(measure_width(name) for name, _ in shown), shown[0][1]
    figures = max(len(f"{count:,}") for _, count in shown)
    for name, count in shown:
        whole, eighths = divmod(max(1, round(8 * _BAR_CELLS * count / largest)), 8)
        bar = "█" * whole + _EIGHTHS[eighths].strip()
        yield f"  {pad(name, names)}  {count:>{figures},}  {canvas.location(bar)}"
    if more := len(ordered) - len(shown):
        yield canvas.dim(f"  and {more:,} more")


def render_months(counts: Mapping[str, int], canvas: Canvas) -> Iterator[str]:
    """Yield a column for each of the last months until the newest one that has a document."""
    if not counts:
        return
    year, month = map(int, max(counts).split("-"))
    newest = 12 * year + month - 1
    numbers = range(newest - _MONTHS + 1, newest + 1)
    months = [f"{number // 12:04}-{number % 12 + 1:02}" for number in numbers]
    values = [counts.get(one, 0) for one in months]
    largest = max(values)
    columns = "".join(_COLUMNS[-(-8 * value // largest)] for value in values)
    yield from ("", canvas.strong("months"))
    yield f"  {months[0]} {canvas.location(columns)} {months[-1]}"
    older = sum(counts.values()) - sum(values)
    before = f", {older:,} before {months[0]}" if older else ""
    yield canvas.dim(f"  at most {largest:,} in {months[values.index(largest)]}{before}")
