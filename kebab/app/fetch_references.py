"""Fetches what references name, with context, as sections, and within a token budget."""

import difflib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app import fetch
from kebab.app.context import AppContext
from kebab.app.conversions import check_freshness
from kebab.app.file_text import (
    FileText,
    Section,
    find_section,
    find_section_by_title,
    has_own_lines,
    join_passages,
    load_text,
    make_anchor,
)
from kebab.app.reference_syntax import Lines
from kebab.app.references import ReferenceFinder, Target, build_lookup_fault
from kebab.core.documents import DocumentDetail
from kebab.search.citations import build_file_path, format_reference, quote_path
from kebab.text.model_input import estimate_tokens
from kebab.text.normalize import escape_undecodable
from kebab.wire.citation import ABSENT
from kebab.wire.fetch import FetchList, FetchRequest
from kebab.wire.library import FetchResult
from kebab.wire.record import NotFound

if TYPE_CHECKING:
    from kebab.core.queries import StoredChunk
    from kebab.store.sqlite.catalogue import Catalogue
    from kebab.wire.published import Registration


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


class _Place(NamedTuple):
    """The target of a reference with its document; `chunk` is the passage that it names.

    `name` is the shortest path of the document that is unambiguous.
    """

    reference: str
    target: Target
    detail: DocumentDetail
    chunk: "StoredChunk | None"
    name: str


def fetch_references(context: AppContext, request: FetchRequest) -> FetchList:
    """Return the text of each reference, within the budget of all.

    Raises:
        NotIndexed: There is no index.
        IoError: A file cannot be read.
    """
    if context.has_bases:
        bases = {one.name: one for one in context.bases.load().bases}
        names = [ref.partition(":")[0] for ref in request.refs]
        if any(name in bases for name in names):
            results = [
                _fetch_of_base(context, bases.get(name), request, ref)
                for name, ref in zip(names, request.refs, strict=True)
            ]
            paths = ["" if isinstance(one, NotFound) else one.doc_path for one in results]
            starts = [f"{name}:" if name in bases else "" for name in names]
            places = [start + path for start, path in zip(starts, paths, strict=True)]
            return _build_list(results, places, request)
    return _fetch_local(context, request)


def _fetch_local(context: AppContext, request: FetchRequest) -> FetchList:
    with context.open_catalogue() as catalogue:
        finder = ReferenceFinder(catalogue)
        places = [_find_place(catalogue, finder, reference) for reference in request.refs]
    results = [
        place if isinstance(place, NotFound) else _fetch_place(context, place, request)
        for place in places
    ]
    names = ["" if isinstance(place, NotFound) else place.name for place in places]
    return _build_list(results, names, request)


def _fetch_of_base(
    context: AppContext, base: "Registration | None", request: FetchRequest, ref: str
) -> FetchResult | NotFound:
    """Return the text of a reference that begins with the name of a published base and a colon."""
    if base is None:
        return _fetch_local(context, replace(request, refs=[ref], max_tokens=None)).results[0]
    inner = replace(request, refs=[ref.partition(":")[2]], max_tokens=None)
    found = fetch_references(context.bases.open(base), inner).results[0]
    if isinstance(found, NotFound):
        near = [f"{base.name}:{one}" for one in found.error.candidates]
        return replace(found, name=ref, error=replace(found.error, candidates=near))
    citation = replace(found.citation, uri=f"{base.name}:{found.citation.uri}")
    return replace(found, ref=ref, citation=citation)


def _build_list(
    results: list[FetchResult | NotFound], names: Sequence[str], request: FetchRequest
) -> FetchList:
    if request.max_tokens is not None:
        results = fit_budget(results, names, request.max_tokens)
    return FetchList(
        results=results,
        missing=sum(isinstance(result, NotFound) for result in results),
        truncated=any(isinstance(result, FetchResult) and result.truncated for result in results),
    )


def _find_place(
    catalogue: "Catalogue", finder: ReferenceFinder, reference: str
) -> _Place | NotFound:
    target = finder.find(reference)
    if isinstance(target, NotFound):
        return target
    stored = catalogue.load_chunk(target.chunk_id) if target.chunk_id else None
    chunk = stored.chunk if stored else None
    doc_id = chunk.doc_id if chunk else target.doc_id
    detail = catalogue.load_document(doc_id) if doc_id else None
    if detail is None:
        return finder.suggest(reference)
    return _Place(reference, target, detail, chunk, finder.format_name(detail.summary))


def _fetch_place(
    context: AppContext, place: _Place, request: FetchRequest
) -> FetchResult | NotFound:
    """Return the text of one reference, or the reply that its document has no such place."""
    if place.target.place is not None:
        found = _fetch_named(context, place, place.target.place, request)
    elif place.target.lines is not None:
        found = _fetch_numbers(context, place, place.target.lines, request)
    elif place.chunk is not None:
        found = _fetch_chunk(context, place, place.chunk, request)
    else:
        found = fetch.fetch_document(context, place.detail)
    if isinstance(found, NotFound):
        return found
    file = build_file_path(place.detail.summary)
    path = _find_heading_path(place, found) if found.heading_path is UNSET else found.heading_path
    return replace(found, ref=escape_undecodable(place.reference), file=file, heading_path=path)


def _find_heading_path(place: _Place, found: FetchResult) -> list[str]:
    """Return the headings of the indexed passage at the first requested line."""
    if found.kind == "doc" or (found.freshness == "changed" and found.chunk_id is None):
        return []
    if place.chunk is not None and found.chunk_id is not None:
        return list(place.chunk.heading_path)
    named = place.target.lines if found.kind in {"span", "section"} else None
    line = named.first if named else found.start_line
    inside = (chunk for chunk in place.detail.chunks if chunk.start_line <= line <= chunk.end_line)
    return next((list(chunk.heading_path) for chunk in inside), [])


def _fetch_chunk(
    context: AppContext, place: _Place, chunk: "StoredChunk", request: FetchRequest
) -> FetchResult:
    """Return a passage, or the section that contains it."""
    lines = 0 if request.section else request.context
    found = fetch.fetch_passage(context, chunk, place.detail, lines)
    if not request.section or found.is_indexed_text:
        return found
    text = load_text(context, place.detail, found.freshness)
    return _fetch_section(place, text, Lines(found.start_line, found.end_line), request)


def _load_text(context: AppContext, place: _Place) -> FileText:
    return load_text(context, place.detail, check_freshness(place.detail.summary))


def _fetch_numbers(
    context: AppContext, place: _Place, lines: Lines, request: FetchRequest
) -> FetchResult | NotFound:
    """Return the lines, or with bare numbers the pages, slides or cells, or a heading of digits."""
    document = place.detail.summary
    if place.target.bare and fetch.get_unit(document.media):
        text = _load_text(context, place)
        found = fetch.fetch_numbers(
            text, lines, check_freshness(document), _build_request(place, request)
        )
        return _widen(place, text, found, request)
    if place.target.bare and not has_own_lines(document.media):
        text = _load_text(context, place)
        section = find_section_by_title(text.sections, str(lines.first), document.title)
        if section is not None:
            return _build_section(place, section, text, request)
    return _fetch_lines(context, place, lines, request)


def _build_request(place: _Place, request: FetchRequest) -> fetch.PlaceRequest:
    return fetch.PlaceRequest(
        place.reference, place.name, 0 if request.section else request.context
    )


def _widen(
    place: _Place, text: FileText, found: FetchResult | NotFound, request: FetchRequest
) -> FetchResult | NotFound:
    """Return the section around the first line of a place if asked for and if there are any."""
    if isinstance(found, NotFound) or not request.section or not text.sections:
        return found
    return _fetch_section(place, text, Lines(found.start_line, found.start_line), request)


def _fetch_lines(
    context: AppContext, place: _Place, lines: Lines, request: FetchRequest
) -> FetchResult | NotFound:
    """Return lines of the present file, or of the indexed passages when it is gone."""
    document = place.detail.summary
    freshness = check_freshness(document)
    if freshness in ABSENT and has_own_lines(document.media):
        return _fetch_indexed_lines(place, lines)
    text = load_text(context, place.detail, freshness)
    count = len(text.lines)
    if not 1 <= lines.first <= max(1, count):
        return _build_missing_line(place, lines, count)
    inside = Lines(lines.first, max(lines.first, min(lines.last, count)))
    if request.section:
        return _fetch_section(place, text, inside, request)
    selection = fetch.Selection(
        text=text, freshness=freshness, kind="span", start=inside.first, end=inside.last
    )
    return fetch.build_lines(selection, request.context)


def _build_missing_line(place: _Place, lines: Lines, count: int) -> NotFound:
    message = f"no line {lines.first} in a file of {count}: {place.reference}"
    return build_lookup_fault(place.reference, message, [format_reference(place.name, 1, count)])


def _fetch_indexed_lines(place: _Place, lines: Lines) -> FetchResult | NotFound:
    count = fetch.count_indexed_lines(place.detail.chunks)
    inside = [
        chunk
        for chunk in place.detail.chunks
        if chunk.start_line <= lines.last and lines.first <= chunk.end_line
    ]
    if not inside:
        return _build_missing_line(place, lines, count)
    selection = fetch.Selection(
        text=join_passages(place.detail),
        freshness=check_freshness(place.detail.summary),
        kind="span",
        start=inside[0].start_line,
        end=inside[-1].end_line,
    )
    return fetch.build_indexed_text(selection, "\n\n".join(chunk.text for chunk in inside), count)


def _fetch_section(
    place: _Place, text: FileText, lines: Lines, request: FetchRequest
) -> FetchResult:
    section = find_section(text.sections, *lines)
    if section is None:
        section = _build_unnamed_section(text, lines)
    return _build_section(place, section, text, request)


def _build_unnamed_section(text: FileText, lines: Lines) -> Section:
    """Return the lines without a heading: those before the first one, or the whole text."""
    count = len(text.lines)
    before = text.sections[0].first - 1 if text.sections else count
    last = before if lines.last <= before else count
    return Section(level=0, title="", path=(), first=1, last=last, end=last)


def _fetch_named(
    context: AppContext, place: _Place, fragment: str, request: FetchRequest
) -> FetchResult | NotFound:
    """Return the page, slide, cells or section that a fragment names."""
    document = place.detail.summary
    freshness = check_freshness(document)
    foreign = fetch.find_foreign_unit(document.media, fragment)
    if freshness in ABSENT and not foreign and has_own_lines(document.media):
        state = "stayed with the publisher" if freshness == "published" else "is gone"
        return build_lookup_fault(place.reference, f"the file {state}: {place.reference}")
    if foreign and has_own_lines(document.media):
        return _build_foreign_unit(place, foreign, f"{quote_path(place.name)}#L1")
    text = load_text(context, place.detail, freshness)
    found = fetch.fetch_fragment(text, fragment, freshness, _build_request(place, request))
    if found is not None:
        return _widen(place, text, found, request)
    return _fetch_heading(place, text, fragment, request)


def _build_foreign_unit(place: _Place, units: str, candidate: str) -> NotFound:
    own = fetch.describe_units(place.detail.summary.media)
    message = f"this document has {own} and no {units}: {place.reference}"
    return build_lookup_fault(place.reference, message, [candidate])


def _fetch_heading(
    place: _Place, text: FileText, fragment: str, request: FetchRequest
) -> FetchResult | NotFound:
    """Return the section whose heading a fragment names."""
    document = place.detail.summary
    section = find_section_by_title(text.sections, fragment, document.title)
    if section is not None:
        return _build_section(place, section, text, request)
    if make_anchor(fragment) == make_anchor(document.title):
        return _build_section(place, _build_unnamed_section(text, Lines(1, 1)), text, request)
    if foreign := fetch.find_foreign_unit(document.media, fragment):
        first = text.cite(1, 1).uri.removeprefix(quote_path(document.path))
        return _build_foreign_unit(place, foreign, quote_path(place.name) + first)
    if missing := fetch.find_missing_sheet(text, fragment, _build_request(place, request)):
        return missing
    anchors = [make_anchor(other.title) for other in text.sections]
    near = difflib.get_close_matches(make_anchor(fragment), anchors)
    candidates = [f"{quote_path(place.name)}#{anchor}" for anchor in near]
    return build_lookup_fault(place.reference, f"no such heading: {fragment}", candidates)


def _build_section(
    place: _Place, section: Section, text: FileText, request: FetchRequest
) -> FetchResult:
    selection = fetch.Selection(
        text=text,
        freshness=check_freshness(place.detail.summary),
        kind="section",
        start=section.first,
        end=max(section.first, section.last),
        chunk=place.chunk,
    )
    return replace(fetch.build_lines(selection, request.context), heading_path=list(section.path))
