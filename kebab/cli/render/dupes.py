"""Groups of copies."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.hits import STALE
from kebab.cli.render.measure import fitted
from kebab.cli.render.place import file_uri, spot, stretch
from kebab.cli.render.sheet import plural
from kebab.cli.render.snippets import INDENT, marked_lines
from kebab.wire.dupes import DuplicateGroup, DuplicateMember, Duplicates


def draw(reply: Duplicates, canvas: Canvas, again: str = "") -> Iterator[str]:
    """Yield the groups, each member below what it holds; `again` asks for the next page."""
    if canvas.width is None:
        for number, group in enumerate(reply.groups, start=1):
            yield from (_fields(number, group, one) for one in group.members)
        return
    for group in reply.groups:
        yield from _group(group, canvas)
        yield ""
    if not reply.groups:
        yield from _nothing(reply, canvas)
        return
    yield canvas.faint(f"{plural(reply.total, 'group')} among {_passages(reply)}")
    if reply.has_more and again:
        yield canvas.faint(f"more: {again}")


def _fields(number: int, group: DuplicateGroup, one: DuplicateMember) -> str:
    what = (str(number), group.unit, "exact" if one.exact else "near", f"{one.similarity:.2f}")
    return "\t".join((*what, one.doc_id, one.chunk_id or "", stretch(one.citation)))


def _group(group: DuplicateGroup, canvas: Canvas) -> Iterator[str]:
    count = f"{len(group.members)} {'copies' if group.kind == 'exact' else 'near copies'}"
    title = fitted(clean(group.members[0].title), max(8, (canvas.width or 80) - 40))
    what = f"{count} of a {group.unit}"
    yield f"{canvas.strong(what)}  {canvas.faint(title)}"
    yield from marked_lines(group.snippet, [], canvas)
    for one in group.members:
        yield INDENT + _member(group, one, canvas)


def _member(group: DuplicateGroup, one: DuplicateMember, canvas: Canvas) -> str:
    paint = canvas.good if one.exact else canvas.odd
    score = paint("same" if one.exact else f"{one.similarity:.2f}")
    place = clean(one.doc_path) if group.unit == "document" else spot(one.citation)
    where = canvas.link(canvas.place(place), file_uri(one.file))
    return f"{score}  {where}{canvas.odd(STALE[one.freshness])}"


def _nothing(reply: Duplicates, canvas: Canvas) -> Iterator[str]:
    yield f"no {'exact copies' if reply.exact else 'copies'} among {_passages(reply)}"
    if not reply.compared:
        yield canvas.faint("nothing passes: drop a filter, or read some files: kebab ingest FOLDER")
    elif reply.exact:
        yield canvas.faint("look for near copies too: kebab dupes")
    else:
        yield canvas.faint("take what is less alike: --threshold 0.5")


def _passages(reply: Duplicates) -> str:
    return plural(reply.compared, "passage")
