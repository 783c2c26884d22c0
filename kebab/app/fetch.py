"""Fetches what references name: lines, passages, sections, pages, slides, cells, rows.

With context, as whole sections, and within a token budget of all.
"""

import difflib
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.file_text import (
    UNREADABLE,
    FileText,
    cite_place_lines,
    get_unit,
    has_own_lines,
    join_passages,
    load_text,
)
from kebab.app.references import Lines, ReferenceFinder, Target, build_lookup_fault
from kebab.chunk.sections import (
    PlaceLines,
    Section,
    cut_rows,
    find_marked_block,
    find_section,
    find_section_by_title,
    locate_passage,
    make_anchor,
)
from kebab.core.documents import DocumentDetail, check_freshness
from kebab.core.files import quote_path
from kebab.core.media import CitationKind, get_media_type
from kebab.errors.system import escape_undecodable
from kebab.search.citations import build_file_path, cite_chunk, format_reference
from kebab.text.model_input import estimate_tokens
from kebab.wire.fetch import FetchList, FetchRequest
from kebab.wire.library import FetchKind, FetchResult
from kebab.wire.record import ABSENT, Citation, FetchedPlace, NotFound

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
    # What is smaller than an equal share leaves the rest of it to the others.
    shares, total = [0.0] * len(sizes), float(max_tokens)
    waiting = sorted(range(len(sizes)), key=sizes.__getitem__)
    for position, index in enumerate(waiting):
        shares[index] = min(sizes[index], total / (len(sizes) - position))
        total -= shares[index]
    return [
        _cut_result(result, name, share) if isinstance(result, FetchResult) else result
        for result, name, share in zip(results, names, shares, strict=True)
    ]


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
    bases = context.bases.load()
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
        found = [_open(context, request, finder, catalogue, ref) for ref in request.refs]
    results = [one if isinstance(one, NotFound) else one.fetch() for one in found]
    names = ["" if isinstance(one, NotFound) else one.name for one in found]
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


_FEW_SHEETS = 3
_NUMBERS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_ROWS = re.compile(r"[A-Z]*(\d{1,9})(?::[A-Z]*(\d{1,9}))?", re.IGNORECASE)


def _open(
    context: AppContext,
    request: FetchRequest,
    finder: ReferenceFinder,
    catalogue: "Catalogue",
    reference: str,
) -> "_Fetcher | NotFound":
    target = finder.find(reference)
    if isinstance(target, NotFound):
        return target
    stored = catalogue.load_chunk(target.chunk_id) if target.chunk_id else None
    chunk = stored.chunk if stored else None
    doc_id = chunk.doc_id if chunk else target.doc_id
    detail = catalogue.load_document(doc_id) if doc_id else None
    if detail is None:
        return finder.suggest(reference)
    return _Fetcher(
        context=context,
        request=request,
        reference=reference,
        target=target,
        detail=detail,
        chunk=chunk,
        name=finder.format_name(detail.summary),
    )


@dataclass(kw_only=True)
class _Fetcher:
    """Fetches what one reference names in a document.

    `name` is the shortest path of the document that is unambiguous, and `chunk` the passage that is
    named.
    """

    context: AppContext
    request: FetchRequest
    reference: str
    target: Target
    detail: DocumentDetail
    chunk: "StoredChunk | None"
    name: str

    def __post_init__(self) -> None:
        self._document = self.detail.summary
        self._freshness = check_freshness(self.detail.summary)

    @cached_property
    def _text(self) -> FileText:
        return load_text(self.context, self.detail, self._freshness)

    def fetch(self) -> FetchResult | NotFound:
        """Return the text, or the reply that the document has no such place."""
        if self.target.place is not None:
            found = self._fetch_named(self.target.place)
        elif self.target.lines is not None:
            found = self._fetch_numbers(self.target.lines)
        elif self.chunk is not None:
            found = self._fetch_chunk(self.chunk)
        else:
            found = self._build("doc", Lines(1, max(1, len(self._text.lines))))
        if isinstance(found, NotFound):
            return found
        path = found.heading_path
        path = self._find_heading_path(found) if path is UNSET else path
        return replace(found, heading_path=path)

    def _find_heading_path(self, found: FetchResult) -> list[str]:
        """Return the headings of the indexed passage at the first requested line."""
        if found.kind == "doc" or (found.freshness == "changed" and found.chunk_id is None):
            return []
        if self.chunk is not None and found.chunk_id is not None:
            return list(self.chunk.heading_path)
        named = self.target.lines if found.kind == "span" else None
        line = named.first if named else found.start_line
        inside = (one for one in self.detail.chunks if one.start_line <= line <= one.end_line)
        return next((list(chunk.heading_path) for chunk in inside), [])

    def _build(
        self,
        kind: FetchKind,
        cited: Lines,
        shown: Lines | None = None,
        *,
        citation: Citation | None = None,
        text: str | None = None,
    ) -> FetchResult:
        """Return the lines that are shown, by default those that are cited.

        `text` is what was indexed of them, where the file no longer has it.
        """
        first, last = shown or cited
        document, content = self._document, self._text
        return FetchResult(
            kind=kind,
            doc_id=document.doc_id,
            doc_path=document.path,
            title=document.title,
            chunk_id=self.chunk.chunk_id if self.chunk and kind in {"chunk", "section"} else None,
            text="\n".join(content.lines[first - 1 : last]) if text is None else text,
            start_line=first,
            end_line=last,
            line_count=len(content.lines),
            citation=citation or content.cite(*cited),
            freshness=self._freshness,
            truncated=False,
            ref=escape_undecodable(self.reference),
            file=build_file_path(document),
            is_indexed_text=text is not None or self._freshness in ABSENT,
            places=_list_places(content, first, last) or UNSET,
        )

    def _build_lines(
        self, kind: FetchKind, cited: Lines, context: int, citation: Citation | None = None
    ) -> FetchResult:
        """Return lines of the text, with further lines on both sides."""
        first = max(1, cited.first - context)
        last = max(first, min(len(self._text.lines), cited.last + context))
        return self._build(kind, cited, Lines(first, last), citation=citation)

    def _build_fault(self, message: str, *candidates: str) -> NotFound:
        return build_lookup_fault(self.reference, f"{message}: {self.reference}", candidates)

    def _fetch_chunk(self, chunk: "StoredChunk") -> FetchResult:
        """Return the lines of a passage, also where an edit moved them, or its section.

        When the file no longer contains the passage, the text is the one that was indexed.
        """
        try:
            lines = self._text.lines
            moved = locate_passage(lines, chunk) if self._freshness == "changed" else None
        except UNREADABLE:
            if self._freshness == "fresh":
                raise
            self._text, moved = join_passages(self.detail), None
        place = Lines(*(moved or (chunk.start_line, chunk.end_line)))
        if self._freshness == "changed" and not moved:
            return self._build("chunk", place, citation=cite_chunk(chunk), text=chunk.text)
        if self.request.section:
            shown = self._build_lines("chunk", place, 0)
            if not shown.is_indexed_text:
                return self._fetch_section(Lines(shown.start_line, shown.end_line))
            return replace(shown, citation=cite_chunk(chunk))
        citation = None if moved else cite_chunk(chunk)
        return self._build_lines("chunk", place, self.request.context, citation)

    def _fetch_numbers(self, lines: Lines) -> FetchResult | NotFound:
        """Return the lines, or with bare numbers the pages, slides, cells or a heading."""
        is_bare, media = self.target.bare, self._document.media
        if is_bare and get_unit(media):
            return self._widen(self._fetch_units(lines))
        if is_bare and not has_own_lines(media):
            sections, title = self._text.sections, self._document.title
            section = find_section_by_title(sections, str(lines.first), title)
            if section is not None:
                return self._build_section(section)
        return self._fetch_lines(lines)

    def _widen(self, found: FetchResult | NotFound) -> FetchResult | NotFound:
        """Return the section around the first line of a place if asked for and if there are any."""
        if isinstance(found, NotFound) or not self.request.section or not self._text.sections:
            return found
        return self._fetch_section(Lines(found.start_line, found.start_line))

    def _fetch_lines(self, lines: Lines) -> FetchResult | NotFound:
        """Return lines of the file, or of the text that was indexed when it is gone."""
        count = len(self._text.lines)
        if not 1 <= lines.first <= max(1, count):
            message = f"no line {lines.first} in a file of {count}"
            return self._build_fault(message, format_reference(self.name, 1, count))
        inside = Lines(lines.first, max(lines.first, min(lines.last, count)))
        if self.request.section:
            return self._fetch_section(inside)
        return self._build_lines("span", inside, self.request.context)

    def _fetch_section(self, lines: Lines) -> FetchResult:
        """Return the section around some lines, from these on where the budget ends before them."""
        section = find_section(self._text.sections, *lines)
        section = section or _build_unnamed_section(self._text, lines)
        limit = self.request.max_tokens
        until = "\n".join(self._text.lines[section.first - 1 : lines.last])
        if limit is not None and estimate_tokens(until) > limit / len(self.request.refs):
            late = section._replace(first=lines.first)
            return replace(self._build_section(late), truncated=True)
        return self._build_section(section)

    def _build_section(self, section: Section) -> FetchResult:
        lines = Lines(section.first, max(section.first, section.last))
        found = self._build_lines("section", lines, self.request.context)
        return replace(found, heading_path=list(section.path))

    def _fetch_named(self, fragment: str) -> FetchResult | NotFound:
        """Return the page, slide, cells, block or section that a fragment names."""
        if self._freshness in ABSENT and has_own_lines(self._document.media):
            published = self._freshness == "published"
            state = "stayed with the publisher" if published else "is gone"
            return self._build_fault(f"the file {state}")
        found = self._fetch_place(fragment)
        if found is not None:
            return self._widen(found)
        if fragment.startswith("^"):
            block = find_marked_block(self._text.lines, fragment)
            if block is not None:
                return self._fetch_lines(Lines(*block))
        return self._fetch_heading(fragment)

    def _fetch_heading(self, fragment: str) -> FetchResult | NotFound:
        """Return the section whose heading a fragment names."""
        text, title, name = self._text, self._document.title, quote_path(self.name)
        section = find_section_by_title(text.sections, fragment, title)
        if section is None and make_anchor(fragment) == make_anchor(title):
            section = _build_unnamed_section(text, Lines(1, 1))
        if section is not None:
            return self._build_section(section)
        sheet, mark, _ = fragment.rpartition("!")
        sheets = list(dict.fromkeys(one.place.label for one in text.places if one.place.row))
        if mark and sheets:
            near = difflib.get_close_matches(sheet, sheets) or sheets[:_FEW_SHEETS]
            candidates = [f"{name}#{quote_path(one)}" for one in near]
            return build_lookup_fault(self.reference, f"no such sheet: {sheet}", candidates)
        anchors = [make_anchor(other.title) for other in text.sections]
        near = difflib.get_close_matches(make_anchor(fragment), anchors)
        candidates = [f"{name}#{anchor}" for anchor in near]
        return build_lookup_fault(self.reference, f"no such heading: {fragment}", candidates)

    def _fetch_place(self, fragment: str) -> FetchResult | NotFound | None:
        """Return the places that a fragment names; None when it names none in any form.

        The forms are `page=3`, `page=3-5`, `slide=4`, `cell=0`, `Sheet1` and `Sheet1!A2:F20`.
        """
        unit = get_unit(self._document.media)
        if unit is None:
            return None
        name, _, numbers = fragment.partition("=")
        match = _NUMBERS.fullmatch(numbers)
        if name.lower() == unit and match:
            first, last = int(match[1]), int(match[2] or match[1])
            return self._fetch_units(Lines(min(first, last), max(first, last)))
        sheet, _, cells = fragment.rpartition("!") if "!" in fragment else (fragment, "", "")
        # A sheet or some of its rows, whole, and with context the rows around them.
        inside = [
            one
            for one in self._text.places
            if one.place.row and one.place.label.lower() == sheet.lower()
        ]
        match = _ROWS.fullmatch(cells)
        if not inside or (cells and not match):
            return None
        if not match:
            return self._build_places(inside, inside, "cell")
        first, last = int(match[1]), int(match[2] or match[1])
        found = cut_rows(inside, first, last)
        if not found:
            cited = [
                cite_place_lines(self.name, one, CitationKind.CELL, one.first, one.last).uri
                for one in inside
            ]
            return self._build_fault("no text in these cells", *cited)
        around = cut_rows(inside, first - self._extra, last + self._extra)
        return self._build_places(found, around, "cell")

    @property
    def _extra(self) -> int:
        """How many pages, slides, cells or rows are added on both sides."""
        return 0 if self.request.section else self.request.context

    def _fetch_units(self, numbers: Lines) -> FetchResult | NotFound:
        """Return the pages, slides or cells with these numbers, with context their neighbours."""
        unit, places = get_unit(self._document.media), self._text.places
        found = [one for one in places if numbers.first <= one.place.number <= numbers.last]
        if found and unit is not None:
            first, last = places.index(found[0]), places.index(found[-1])
            around = places[max(0, first - self._extra) : last + self._extra + 1]
            return self._build_places(found, around, unit)
        number = numbers.first
        near = sorted(places, key=lambda one: abs(one.place.number - number))[:2]
        candidates = [f"{quote_path(self.name)}#{unit}={one.place.number}" for one in near]
        last = max((max(one.place.number, one.place.of) for one in places), default=0)
        message = f"the last {unit} is {last}" if number > last else f"{unit} {number} has no text"
        return self._build_fault(message, *candidates)

    def _build_places(
        self, found: Sequence[PlaceLines], around: Sequence[PlaceLines], unit: FetchKind
    ) -> FetchResult:
        """Return the text of the places around; the citation is that of the first one found."""
        one, kind = found[0], get_media_type(self._document.media).cites
        citation = cite_place_lines(self._document.path, one, kind, one.first, one.last)
        return self._build_lines(unit, Lines(around[0].first, around[-1].last), 0, citation)


def _list_places(text: FileText, first: int, last: int) -> list[FetchedPlace]:
    """Return the pages, slides or cells of lines."""
    path, kind = text.document.path, get_media_type(text.document.media).cites
    inside = (one for one in text.places if one.first <= last and first <= one.last)
    return [
        FetchedPlace(
            line=max(one.first, first),
            uri=cite_place_lines(path, one, kind, first, last).uri,
            origin=one.place.origin or UNSET,
        )
        for one in inside
    ]


def _build_unnamed_section(text: FileText, lines: Lines) -> Section:
    """Return the lines without a heading: those before the first one, or the whole text."""
    count = len(text.lines)
    before = text.sections[0].first - 1 if text.sections else count
    last = before if lines.last <= before else count
    return Section(level=0, title="", path=(), first=1, last=last, end=last)
