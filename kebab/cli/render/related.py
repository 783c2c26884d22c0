"""The neighbours of a document."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.hits import STALE, headings
from kebab.cli.render.measure import fitted
from kebab.cli.render.place import file_uri, spot, stretch
from kebab.cli.render.snippets import INDENT, marked_lines
from kebab.wire.related import RelatedDoc, RelatedDocs

_NEAR = 0.35
"""From here on a neighbour most likely is of the same matter; half of the true ones are above."""


def draw(reply: RelatedDocs, canvas: Canvas) -> Iterator[str]:
    """Yield the neighbours, then what a reader must know of them."""
    for one in reply.related:
        yield from _neighbour(one, canvas)
        yield ""
    if not reply.related:
        yield from _nothing(reply, canvas)
    for lost in reply.degraded:
        yield from canvas.note(f"compared by words: {clean(lost.reason)}")
        if lost.hint:
            yield from canvas.hint(clean(lost.hint))


def _neighbour(one: RelatedDoc, canvas: Canvas) -> Iterator[str]:
    where = canvas.link(canvas.place(spot(one.pair.found.citation)), file_uri(one.file))
    score = (canvas.good if one.score >= _NEAR else canvas.odd)(f"{one.score:.2f}")
    yield f"{canvas.strong(f'{one.rank:>2}')}  {score}  {where}{canvas.odd(STALE[one.freshness])}"
    if context := headings(one.title, one.pair.found.heading_path):
        yield INDENT + canvas.faint(_cut(context, canvas))
    yield from marked_lines(one.pair.snippet, one.pair.highlights, canvas)
    if one.terms:
        yield INDENT + canvas.faint(_cut(f"shared: {clean(', '.join(one.terms))}", canvas))
    yield INDENT + canvas.faint(_cut(f"nearest to: {stretch(one.pair.asked.citation)}", canvas))


def _cut(text: str, canvas: Canvas) -> str:
    return fitted(text, canvas.width - len(INDENT)) if canvas.width else text


def _nothing(reply: RelatedDocs, canvas: Canvas) -> Iterator[str]:
    path = clean(reply.document.doc_path)
    if not reply.document.chunk_count:
        yield f"nothing to compare: {path} has no text"
        return
    yield f"nothing is near to: {path}"
    yield canvas.faint("drop a filter, or look for its words: kebab search WORDS")
    yield canvas.faint("read more files: kebab ingest FOLDER")
