"""Searches the indexed files for a pattern, as they are on disk now."""

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.coverage import QUICK_S, THOROUGH_S, find_indexing, measure_coverage
from kebab.app.file_text import (
    UNREADABLE,
    FileText,
    has_own_lines,
    load_text,
    read_file,
    split_lines,
)
from kebab.app.filters import (
    build_filters,
    explain_filters,
    require_utf8,
    resolve_filters,
    suggest_nearest,
)
from kebab.app.references import DocumentNames
from kebab.core.documents import PUBLISHED_ROOT, check_freshness, compare_status, is_cut
from kebab.core.files import find_container, join_root
from kebab.core.queries import Filters
from kebab.errors.catalog import ParseFailed
from kebab.limits.matching import LinePart, LinePattern, Matcher
from kebab.search.citations import build_file_path
from kebab.wire.coverage import MOST_NAMED
from kebab.wire.fetch import GrepFile, GrepHit, GrepRequest, GrepResponse, SkippedFile
from kebab.wire.record import ABSENT, fill_record

if TYPE_CHECKING:
    from kebab.core.chunks import DocId
    from kebab.core.documents import StoredDocument
    from kebab.store.sqlite.catalogue import Catalogue
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.record import Freshness


_SkipReason = Literal["gone", "unreadable", "not_text"]


def grep(context: AppContext, request: GrepRequest) -> GrepResponse:
    """Return the lines of the indexed files that match.

    Files that have changed are searched as they are; files that are gone are reported.

    Raises:
        InvalidInput: The pattern is empty or no regular expression, or a filter cannot be read.
        NotIndexed: There is no index.
        TimedOut: The pattern takes too long in one file.
    """
    require_utf8(request)
    started = context.clock.monotonic()
    search = _Search(context, request)
    filters = build_filters(request, context.clock.now())
    found: dict[str, set[DocId]] = {}
    with context.open_reader() as reader:
        catalogue = context.build_catalogue(reader)
        filters = resolve_filters(context, reader, filters)
        documents = catalogue.list_documents(filters, limit=-1).documents
        if request.paths:
            found = find_at_paths(context, reader, request.paths)
            allowed = set().union(*found.values())
            documents = tuple(one for one in documents if one.doc_id in allowed)
        search.run(catalogue, documents)
        unmatched = [] if documents else explain_filters(context, reader, filters, request)
        for path in (path for path, inside in found.items() if not inside):
            named = replace(request, path_glob=path)
            unmatched += explain_filters(context, reader, Filters(path_glob=path), named)
        revision = reader.get_revision()
        seconds, indexing = QUICK_S if search.files else THOROUGH_S, find_indexing(context)
        coverage = measure_coverage(context, reader, filters, seconds=seconds, indexing=indexing)
        cut = [one for one in documents if not _is_read(one) and any(map(is_cut, one.warnings))]
    return GrepResponse(
        pattern=request.pattern,
        hits=search.hits,
        files=search.files,
        matched_lines=sum(file.lines for file in search.files),
        searched_files=search.searched,
        skipped=search.skipped,
        has_more=search.has_more,
        corpus_revision=revision,
        timing_ms=(context.clock.monotonic() - started) * 1000,
        unmatched_filters=unmatched,
        hint=suggest_nearest(
            ["kebab", "grep", request.pattern, *request.paths], request, unmatched
        ),
        coverage=replace(
            coverage,
            partial=len(cut),
            partial_examples=[one.path for one in cut[:MOST_NAMED]],
            partial_reasons=["; ".join(filter(is_cut, one.warnings)) for one in cut[:MOST_NAMED]],
        ),
    )


def find_at_paths(
    context: AppContext, reader: "SqliteReader", paths: Iterable[str]
) -> "dict[str, set[DocId]]":
    """Return the documents at each of the paths; a name that exists wins over a pattern."""
    catalogue = context.build_catalogue(reader)
    names = DocumentNames(catalogue.list_names())
    found: dict[str, set[DocId]] = {}
    for path in paths:
        named = names.find_exact(path) or names.find_folded(path) or names.list_folder(path)
        named = [*(named or catalogue.find_named(path)), *names.list_folder(f"{path}!")]
        if not named:
            filters = resolve_filters(context, reader, Filters(path_glob=path))
            matching = catalogue.list_documents(filters, limit=-1).documents
            found[path] = {document.doc_id for document in matching}
        else:
            found[path] = {name.doc_id for name in named}
    return found


def _is_read(document: "StoredDocument") -> bool:
    """Return whether the file itself is searched, with what is in no passage."""
    return has_own_lines(document.media) and not document.root.startswith(PUBLISHED_ROOT)


class _Search:
    """One search through documents, and what it has found.

    Raises:
        InvalidInput: The pattern is empty or no regular expression.
    """

    def __init__(self, context: AppContext, request: GrepRequest) -> None:
        self._context = context
        self._request = request
        self._pattern = LinePattern(request)
        self._lists_files = request.files_only or request.count_only
        self.hits: list[GrepHit] = []
        self.files: list[GrepFile] = []
        self.skipped: list[SkippedFile] = []
        self.searched = 0
        self.has_more = False

    def run(self, catalogue: "Catalogue", documents: "Iterable[StoredDocument]") -> None:
        """Search the documents until the limit is exceeded."""
        with Matcher(self._pattern) as matcher:
            for document in documents:
                read = self._read_text(catalogue, document)
                if isinstance(read, str):
                    file = build_file_path(document)
                    self.skipped.append(SkippedFile(doc_path=document.path, file=file, reason=read))
                    continue
                self.searched += 1
                if not read.text:
                    continue
                request, room = self._request, self._count_room()
                per_file = 1 if request.files_only else request.max_count
                total = None if self._lists_files and room else room
                limits = (limit for limit in (per_file, total) if limit is not None)
                most = min((len(read.text), *limits))
                parts, has_more = matcher.match((read.text, most), document.path)
                if not (request.files_only and parts):
                    self.has_more = self.has_more or has_more
                if parts:
                    self._add(catalogue, document, read, parts)
                if self.has_more and self._count_room() == 0:
                    break

    def _read_text(
        self, catalogue: "Catalogue", document: "StoredDocument"
    ) -> "_Read | _SkipReason":
        """Return the text of a file, empty when it cannot match, or why it cannot be searched."""
        if not _is_read(document):
            freshness = check_freshness(document)
            detail = None if freshness == "gone" else catalogue.load_document(document.doc_id)
            try:
                places = load_text(self._context, detail, freshness) if detail else None
            except UNREADABLE:
                return "unreadable"
            text = "".join(f"{line}\n" for line in places.lines) if places else ""
            return _Read(text, freshness, places) if places else "gone"
        path = join_root(document.root, document.path)
        try:
            with open(find_container(path), "rb", buffering=0) as file:  # noqa: PTH123 - called for every file
                freshness = compare_status(document, os.fstat(file.fileno()))
                data = file.read() if file.name == path else read_file(document)
        except (OSError, *UNREADABLE):
            return "gone" if check_freshness(document) in ABSENT else "unreadable"
        try:
            can_match = self._pattern.can_match(data)
            return _Read(self._context.decode_text(data, path) if can_match else "", freshness)
        except ParseFailed:
            return "not_text"

    def _count_room(self) -> int | None:
        """Return how many more lines or files the limit allows; None without a limit."""
        if self._request.limit is None:
            return None
        return self._request.limit - len(self.files if self._lists_files else self.hits)

    def _add(
        self,
        catalogue: "Catalogue",
        document: "StoredDocument",
        read: "_Read",
        parts: Mapping[int, LinePart],
    ) -> None:
        """Add a file and its matching lines by their indexes."""
        file = GrepFile(
            doc_id=document.doc_id,
            doc_path=document.path,
            file=build_file_path(document),
            lines=len(parts),
            freshness=read.freshness,
        )
        self.files.append(file)
        if self._lists_files:
            return
        request = self._request
        lines = split_lines(read.text) if request.before or request.after else []
        text = read.places or FileText(document, lines)
        is_fresh = read.freshness == "fresh"
        headings = catalogue.find_headings(document.doc_id, [*parts]) if is_fresh else {}
        for index, part in parts.items():
            first, number = max(0, index - request.before), index + 1
            path = headings.get(number, ())
            hit = fill_record(
                GrepHit,
                file,
                part,
                line=number,
                before=[line[: request.max_columns] for line in lines[first:index]],
                after=[
                    line[: request.max_columns] for line in lines[number : number + request.after]
                ],
                heading_path=list(path),
                citation=text.cite(number, number, path),
            )
            self.hits.append(hit)


class _Read(NamedTuple):
    """The text of a file, and its places if the format has no lines of its own."""

    text: str
    freshness: "Freshness"
    places: FileText | None = None
