"""Fetches what references name, with context, as sections, and within a token budget."""

import difflib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app import places
from kebab.app.context import AppContext
from kebab.app.file_text import (
    FileText,
    Section,
    find_section,
    find_section_by_title,
    has_own_lines,
    load_text,
    make_anchor,
)
from kebab.app.reference_syntax import Lines
from kebab.app.references import ReferenceFinder, Target, build_lookup_fault
from kebab.core.documents import DocumentDetail, check_freshness
from kebab.search.citations import build_file_path, format_reference, quote_path
from kebab.text.model_input import estimate_tokens
from kebab.text.normalize import escape_undecodable
from kebab.wire.citation import ABSENT
from kebab.wire.fetch import FetchList, FetchRequest
from kebab.wire.library import FetchKind, FetchResult
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


def fetch(context: AppContext, request: FetchRequest) -> FetchList:
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
            full = [start + path for start, path in zip(starts, paths, strict=True)]
            return _build_list(results, full, request)
    return _fetch_local(context, request)


def _fetch_local(context: AppContext, request: FetchRequest) -> FetchList:
    with context.open_catalogue() as catalogue:
        finder = ReferenceFinder(catalogue)
        found = [_find_place(catalogue, finder, reference) for reference in request.refs]
    results = [
        place if isinstance(place, NotFound) else place.fetch(context, request) for place in found
    ]
    names = ["" if isinstance(place, NotFound) else place.name for place in found]
    return _build_list(results, names, request)


def _fetch_of_base(
    context: AppContext, base: "Registration | None", request: FetchRequest, ref: str
) -> FetchResult | NotFound:
    """Return the text of a reference that begins with the name of a published base and a colon."""
    if base is None:
        return _fetch_local(context, replace(request, refs=[ref], max_tokens=None)).results[0]
    inner = replace(request, refs=[ref.partition(":")[2]], max_tokens=None)
    found = fetch(context.bases.open(base), inner).results[0]
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
) -> "_Place | NotFound":
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


class _Place:
    """The place that a reference names in a document, and how it is fetched.

    `name` is the shortest path of the document that is unambiguous, and `chunk` the passage that is
    named.
    """

    def __init__(
        self,
        reference: str,
        target: Target,
        detail: DocumentDetail,
        chunk: "StoredChunk | None",
        name: str,
    ) -> None:
        self.name = name
        self._reference = reference
        self._target = target
        self._detail = detail
        self._document = detail.summary
        self._freshness = check_freshness(detail.summary)
        self._chunk = chunk

    def fetch(self, context: AppContext, request: FetchRequest) -> FetchResult | NotFound:
        """Return the text, or the reply that the document has no such place."""
        self._context, self._request = context, request
        if self._target.place is not None:
            found = self._fetch_named(self._target.place)
        elif self._target.lines is not None:
            found = self._fetch_numbers(self._target.lines)
        elif self._chunk is not None:
            found = self._fetch_chunk(self._chunk)
        else:
            found = places.fetch_document(context, self._detail)
        if isinstance(found, NotFound):
            return found
        file = build_file_path(self._document)
        path = found.heading_path
        path = self._find_heading_path(found) if path is UNSET else path
        return replace(found, ref=escape_undecodable(self._reference), file=file, heading_path=path)

    def _find_heading_path(self, found: FetchResult) -> list[str]:
        """Return the headings of the indexed passage at the first requested line."""
        if found.kind == "doc" or (found.freshness == "changed" and found.chunk_id is None):
            return []
        if self._chunk is not None and found.chunk_id is not None:
            return list(self._chunk.heading_path)
        named = self._target.lines if found.kind in {"span", "section"} else None
        line = named.first if named else found.start_line
        inside = (one for one in self._detail.chunks if one.start_line <= line <= one.end_line)
        return next((list(chunk.heading_path) for chunk in inside), [])

    def _load_text(self) -> FileText:
        return load_text(self._context, self._detail, self._freshness)

    def _select(self, text: FileText, kind: FetchKind, lines: Lines) -> places.Selection:
        return places.Selection(
            text=text, freshness=self._freshness, kind=kind, start=lines.first, end=lines.last
        )

    def _build_fault(self, message: str, *candidates: str) -> NotFound:
        return build_lookup_fault(self._reference, f"{message}: {self._reference}", candidates)

    def _fetch_chunk(self, chunk: "StoredChunk") -> FetchResult:
        """Return a passage, or the section that contains it."""
        is_wider = self._request.section
        context_lines = 0 if is_wider else self._request.context
        found = places.fetch_passage(self._context, chunk, self._detail, context_lines)
        if not is_wider or found.is_indexed_text:
            return found
        return self._fetch_section(self._load_text(), Lines(found.start_line, found.end_line))

    def _fetch_numbers(self, lines: Lines) -> FetchResult | NotFound:
        """Return the lines, or with bare numbers the pages, slides, cells or a heading."""
        is_bare, media = self._target.bare, self._document.media
        if is_bare and places.get_unit(media):
            text = self._load_text()
            found = places.fetch_numbers(text, lines, self._freshness, self._build_request())
            return self._widen(text, found)
        if is_bare and not has_own_lines(media):
            text = self._load_text()
            title = self._document.title
            section = find_section_by_title(text.sections, str(lines.first), title)
            if section is not None:
                return self._build_section(section, text)
        return self._fetch_lines(lines)

    def _build_request(self) -> places.PlaceRequest:
        context_lines = 0 if self._request.section else self._request.context
        return places.PlaceRequest(self._reference, self.name, context_lines)

    def _widen(self, text: FileText, found: FetchResult | NotFound) -> FetchResult | NotFound:
        """Return the section around the first line of a place if asked for and if there are any."""
        if isinstance(found, NotFound) or not self._request.section or not text.sections:
            return found
        return self._fetch_section(text, Lines(found.start_line, found.start_line))

    def _fetch_lines(self, lines: Lines) -> FetchResult | NotFound:
        """Return lines of the file, or of the text that was indexed when it is gone."""
        text = self._load_text()
        count = len(text.lines)
        if not 1 <= lines.first <= max(1, count):
            message = f"no line {lines.first} in a file of {count}"
            return self._build_fault(message, format_reference(self.name, 1, count))
        inside = Lines(lines.first, max(lines.first, min(lines.last, count)))
        if self._request.section:
            return self._fetch_section(text, inside)
        return places.build_lines(self._select(text, "span", inside), self._request.context)

    def _fetch_section(self, text: FileText, lines: Lines) -> FetchResult:
        section = find_section(text.sections, *lines)
        return self._build_section(section or _build_unnamed_section(text, lines), text)

    def _build_section(self, section: Section, text: FileText) -> FetchResult:
        lines = Lines(section.first, max(section.first, section.last))
        selection = replace(self._select(text, "section", lines), chunk=self._chunk)
        found = places.build_lines(selection, self._request.context)
        return replace(found, heading_path=list(section.path))

    def _fetch_named(self, fragment: str) -> FetchResult | NotFound:
        """Return the page, slide, cells or section that a fragment names."""
        media = self._document.media
        foreign = places.find_foreign_unit(media, fragment)
        if self._freshness in ABSENT and not foreign and has_own_lines(media):
            published = self._freshness == "published"
            state = "stayed with the publisher" if published else "is gone"
            return self._build_fault(f"the file {state}")
        if foreign and has_own_lines(media):
            return self._build_foreign_unit(foreign, f"{quote_path(self.name)}#L1")
        text = self._load_text()
        found = places.fetch_fragment(text, fragment, self._freshness, self._build_request())
        if found is not None:
            return self._widen(text, found)
        if fragment.startswith("^") and (block := find_marked_block(text.lines, fragment)):
            return self._fetch_lines(block)
        return self._fetch_heading(text, fragment)

    def _build_foreign_unit(self, units: str, candidate: str) -> NotFound:
        own = places.describe_units(self._document.media)
        return self._build_fault(f"this document has {own} and no {units}", candidate)

    def _fetch_heading(self, text: FileText, fragment: str) -> FetchResult | NotFound:
        """Return the section whose heading a fragment names."""
        document, name = self._document, quote_path(self.name)
        section = find_section_by_title(text.sections, fragment, document.title)
        if section is None and make_anchor(fragment) == make_anchor(document.title):
            section = _build_unnamed_section(text, Lines(1, 1))
        if section is not None:
            return self._build_section(section, text)
        if foreign := places.find_foreign_unit(document.media, fragment):
            first = text.cite(1, 1).uri.removeprefix(quote_path(document.path))
            return self._build_foreign_unit(foreign, name + first)
        if missing := places.find_missing_sheet(text, fragment, self._build_request()):
            return missing
        anchors = [make_anchor(other.title) for other in text.sections]
        near = difflib.get_close_matches(make_anchor(fragment), anchors)
        candidates = [f"{name}#{anchor}" for anchor in near]
        return build_lookup_fault(self._reference, f"no such heading: {fragment}", candidates)


def find_marked_block(lines: Sequence[str], mark: str) -> Lines | None:
    """Return the lines of a block of Obsidian, behind or below which its mark `^id` stands."""
    marked = (n for n, line in enumerate(lines, 1) if line.split()[-1:] == [mark])
    last = first = next(marked, 0)
    while first > 1 and (lines[first - 2].strip() or lines[first - 1].strip() in {"", mark}):
        first -= 1
    return Lines(first, last) if last else None


def _build_unnamed_section(text: FileText, lines: Lines) -> Section:
    """Return the lines without a heading: those before the first one, or the whole text."""
    count = len(text.lines)
    before = text.sections[0].first - 1 if text.sections else count
    last = before if lines.last <= before else count
    return Section(level=0, title="", path=(), first=1, last=last, end=last)
