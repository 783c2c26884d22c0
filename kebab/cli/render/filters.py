"""Renders filters that no document passes."""

import shlex
from collections.abc import Iterator, Sequence

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.width import clean
from kebab.wire.filters import UnmatchedFilter

_FLAGS = {
    "path_glob": "--path",
    "doc_id": "--doc-id",
    "folder": "--in",
    "media": "--type",
    "links_to": "--links-to",
}


def render_unmatched_filters(
    unmatched: Sequence[UnmatchedFilter], hint: str | None, canvas: Canvas
) -> Iterator[str]:
    """Yield why no document passes the filters, the nearest values, and the next command."""
    if unmatched and unmatched[0].documents:
        yield from canvas.note("no document passes these filters together:")
        for one in unmatched:
            yield f"  {_format_filter(one)}  {canvas.dim(pluralize(one.documents, 'document'))}"
    else:
        for one in unmatched:
            yield from canvas.note(f"no document passes `{_format_filter(one)}`")
            if one.nearest:
                yield canvas.dim(f"  nearest: {clean(', '.join(one.nearest))}")
    if hint:
        yield from canvas.hint(clean(hint))


def _format_filter(unmatched: UnmatchedFilter) -> str:
    flag = _FLAGS.get(unmatched.filter, f"--{unmatched.filter}")
    return f"{flag} {clean(shlex.quote(unmatched.value))}"
