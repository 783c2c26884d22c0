"""A list of documents: columns for a person, tab-separated fields for a pipe."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.measure import cells, fitted, fitted_left, padded
from kebab.wire.library import DocList, DocSummary

_DATE = len("2025-01-31")


def draw(reply: DocList, canvas: Canvas, again: str = "") -> Iterator[str]:
    """Yield one line per document; `again` asks for the next page."""
    if canvas.width is None:
        yield from map(_fields, reply.documents)
        return
    if not reply.documents:
        yield "no documents"
        yield canvas.faint("read some files: kebab ingest FOLDER")
        return
    yield from _table(reply.documents, canvas, canvas.width)
    shown = len(reply.documents)
    yield ""
    yield canvas.faint(f"{reply.offset + 1} to {reply.offset + shown} of {reply.total} documents")
    if reply.has_more and again:
        yield canvas.faint(f"more: {again}")


def _fields(one: DocSummary) -> str:
    fields = (one.doc_id, one.source, one.doc_path, one.title, str(one.chunk_count))
    return "\t".join(map(clean, (*fields, one.modified_at, one.freshness)))


def _table(documents: list[DocSummary], canvas: Canvas, width: int) -> Iterator[str]:
    flag = max(len(_flag(one)) for one in documents)
    count = max(len(str(one.chunk_count)) for one in documents)
    room = width - _DATE - count - flag - 8
    longest = max(cells(clean(one.doc_path)) for one in documents)
    path = max(10, min(longest, room * 3 // 5))
    title = max(8, room - path)
    for one in documents:
        yield "  ".join(
            (
                canvas.place(padded(fitted_left(clean(one.doc_path), path), path)),
                padded(fitted(clean(one.title), title), title),
                canvas.faint(f"{one.chunk_count:>{count}}"),
                canvas.faint(one.modified_at[:_DATE]),
                canvas.odd(_flag(one)),
            )
        ).rstrip()


def _flag(one: DocSummary) -> str:
    return "" if one.freshness == "fresh" else one.freshness
