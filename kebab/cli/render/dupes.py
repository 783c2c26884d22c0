"""Groups of copies."""

from collections.abc import Iterator

from kebab.cli.render.clean import clean
from kebab.cli.render.hits import STALE
from kebab.cli.render.measure import fitted
from kebab.cli.render.page import Page
from kebab.cli.render.place import file_uri, spot, stretch
from kebab.cli.render.sheet import plural
from kebab.cli.render.snippets import INDENT, marked_lines
from kebab.wire.dupes import DuplicateGroup, DuplicateMember, Duplicates


def draw(reply: Duplicates, page: Page, again: str = "") -> Iterator[str]:
    """Yield the groups, each member below what it holds; `again` asks for the next page."""
    if page.width is None:
        for number, group in enumerate(reply.groups, start=1):
            yield from (_fields(number, group, one) for one in group.members)
        return
    for group in reply.groups:
        yield from _group(group, page)
        yield ""
    if not reply.groups:
        yield from _nothing(reply, page)
        return
    yield page.faint(f"{plural(reply.total, 'group')} among {_passages(reply)}")
    if reply.has_more and again:
        yield page.faint(f"more: {again}")


def _fields(number: int, group: DuplicateGroup, one: DuplicateMember) -> str:
    what = (str(number), group.unit, "exact" if one.exact else "near", f"{one.similarity:.2f}")
    return "\t".join((*what, one.doc_id, one.chunk_id or "", stretch(one.citation)))


def _group(group: DuplicateGroup, page: Page) -> Iterator[str]:
    count = f"{len(group.members)} {'copies' if group.kind == 'exact' else 'near copies'}"
    title = fitted(clean(group.members[0].title), max(8, (page.width or 80) - 40))
    what = f"{count} of a {group.unit}"
    yield f"{page.strong(what)}  {page.faint(title)}"
    yield from marked_lines(group.snippet, [], page)
    for one in group.members:
        yield INDENT + _member(group, one, page)


def _member(group: DuplicateGroup, one: DuplicateMember, page: Page) -> str:
    paint = page.good if one.exact else page.odd
    score = paint("same" if one.exact else f"{one.similarity:.2f}")
    place = clean(one.doc_path) if group.unit == "document" else spot(one.citation)
    where = page.link(page.place(place), file_uri(one.file))
    return f"{score}  {where}{page.odd(STALE[one.freshness])}"


def _nothing(reply: Duplicates, page: Page) -> Iterator[str]:
    yield f"no {'exact copies' if reply.exact else 'copies'} among {_passages(reply)}"
    if not reply.compared:
        yield page.faint("nothing passes: drop a filter, or read some files: kebab ingest FOLDER")
    elif reply.exact:
        yield page.faint("look for near copies too: kebab dupes")
    else:
        yield page.faint("take what is less alike: --threshold 0.5")


def _passages(reply: Duplicates) -> str:
    return plural(reply.compared, "passage")
