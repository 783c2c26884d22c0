"""The neighbours of a document."""

from collections.abc import Iterator

from kebab.cli.render.clean import clean
from kebab.cli.render.hits import STALE, headings
from kebab.cli.render.measure import fitted
from kebab.cli.render.page import Page
from kebab.cli.render.place import file_uri, spot, stretch
from kebab.cli.render.snippets import INDENT, marked_lines
from kebab.wire.related import RelatedDoc, RelatedDocs

_NEAR = 0.35
"""From here on a neighbour most likely is of the same matter; half of the true ones are above."""


def draw(reply: RelatedDocs, page: Page) -> Iterator[str]:
    """Yield the neighbours, then what a reader must know of them."""
    for one in reply.related:
        yield from _neighbour(one, page)
        yield ""
    if not reply.related:
        yield from _nothing(reply, page)
    for lost in reply.degraded:
        yield from page.note(f"compared by words: {clean(lost.reason)}")
        if lost.hint:
            yield from page.hint(clean(lost.hint))


def _neighbour(one: RelatedDoc, page: Page) -> Iterator[str]:
    where = page.link(page.place(spot(one.pair.found.citation)), file_uri(one.file))
    score = (page.good if one.score >= _NEAR else page.odd)(f"{one.score:.2f}")
    yield f"{page.strong(f'{one.rank:>2}')}  {score}  {where}{page.odd(STALE[one.freshness])}"
    if context := headings(one.title, one.pair.found.heading_path):
        yield INDENT + page.faint(_cut(context, page))
    yield from marked_lines(one.pair.snippet, one.pair.highlights, page)
    if one.terms:
        yield INDENT + page.faint(_cut(f"shared: {clean(', '.join(one.terms))}", page))
    yield INDENT + page.faint(_cut(f"nearest to: {stretch(one.pair.asked.citation)}", page))


def _cut(text: str, page: Page) -> str:
    return fitted(text, page.width - len(INDENT)) if page.width else text


def _nothing(reply: RelatedDocs, page: Page) -> Iterator[str]:
    path = clean(reply.document.doc_path)
    if not reply.document.chunk_count:
        yield f"nothing to compare: {path} has no text"
        return
    yield f"nothing is near to: {path}"
    yield page.faint("drop a filter, or look for its words: kebab search WORDS")
    yield page.faint("read more files: kebab ingest FOLDER")
