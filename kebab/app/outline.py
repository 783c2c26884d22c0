"""Outlines a document by its headings, and a folder by its tree, with sizes."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import structs

from kebab.app.context import AppContext
from kebab.app.coverage import QUICK_S, THOROUGH_S, find_indexing, measure_coverage
from kebab.app.file_text import FileText, cite_place_lines, get_unit, has_own_lines, load_text
from kebab.app.references import (
    DocumentNames,
    ReferenceFinder,
    build_lookup_fault,
    fold_name,
    join_path,
    make_absolute,
)
from kebab.chunk.sections import Section, find_section_by_title
from kebab.core.documents import DocumentDetail, DocumentName, StoredDocument, check_freshness
from kebab.core.files import CONTAINERS
from kebab.core.media import CitationKind, get_media_type
from kebab.core.queries import Filters
from kebab.errors.system import escape_undecodable
from kebab.search.citations import build_file_path, cite_section, format_reference
from kebab.text.model_input import estimate_tokens
from kebab.wire.fetch import Outline, OutlineEntry, OutlineRequest, OutlineSection
from kebab.wire.record import ABSENT, NotFound

if TYPE_CHECKING:
    from kebab.store.sqlite.catalogue import Catalogue

_BYTES_PER_TOKEN = 4.0
_BYTES_PER_WIDE_TOKEN = 2.5
_WIDE_LANGUAGES = frozenset({"ja", "ko", "zh"})
_FOLDER_DEPTH = 2


def outline(context: AppContext, request: OutlineRequest) -> Outline | NotFound:
    """Return the headings of a document, or the tree of a folder or of all sources.

    A whole path of a document wins over a folder, and a folder over the end of a path. A mailbox
    or an archive has no text: its members are listed like those of a folder.

    Raises:
        NotIndexed: There is no index.
        IoError: The document cannot be read.
        ParseFailed: The document is no longer text.
    """
    with context.open_reader() as reader:
        reply, filters = _outline(context, context.build_catalogue(reader), request)
        if isinstance(reply, NotFound):
            return reply
        indexing = find_indexing(context)
        seconds = QUICK_S if reply.documents else THOROUGH_S
        coverage = measure_coverage(context, reader, filters, seconds=seconds, indexing=indexing)
    return structs.replace(reply, coverage=coverage)


def _outline(
    context: AppContext, catalogue: "Catalogue", request: OutlineRequest
) -> tuple[Outline | NotFound, Filters]:
    if request.name is None:
        return _outline_folder(catalogue, None, request), Filters()
    names = catalogue.list_names()
    is_document = DocumentNames(names).find_exact(request.name)
    folders = [] if is_document else find_folders(names, request.name)
    if len(folders) > 1:
        name = escape_undecodable(request.name)
        message = f"several folders go by this name: {name}"
        return build_lookup_fault(name, message, folders, ambiguous=True), Filters()
    if folders:
        return _outline_folder(catalogue, folders[0], request), Filters(folder=folders[0])
    finder = ReferenceFinder(catalogue, chunks=False)
    detail = finder.find_document(request.name)
    if isinstance(detail, NotFound):
        return detail, Filters()
    document = detail.summary
    found = _outline_document(context, detail, finder.format_name(document), request.depth)
    is_container = document.media in CONTAINERS
    if is_container and (inside := find_folders(names, f"{join_path(document)}!")):
        kept = ("ref", "doc_id", "doc_path", "file", "title", "freshness")
        facts = {name: getattr(found, name) for name in kept}
        found = structs.replace(_outline_folder(catalogue, inside[0], request), **facts)
    return found, Filters(doc_id=document.doc_id)


def _outline_document(
    context: AppContext, detail: DocumentDetail, name: str, depth: int | None
) -> Outline:
    """Return the sections of the present file; `name` is the shortest name of the document."""
    document, freshness = detail.summary, check_freshness(detail.summary)
    gone = freshness in ABSENT
    text = load_text(context, detail, freshness)
    # The passages of a text file that is gone say too little about its headings.
    sections = [] if gone and has_own_lines(document.media) else text.sections
    pages: int | None = None
    if get_unit(document.media) in {"page", "slide"}:
        pages = max((max(one.place.number, one.place.of) for one in text.places), default=0)
    return Outline(
        kind="document",
        ref=name,
        documents=1,
        chunks=document.chunks,
        tokens=estimate_tokens("\n".join(text.lines)),
        doc_id=document.doc_id,
        doc_path=document.path,
        file=build_file_path(document),
        title=document.title,
        line_count=len(text.lines),
        freshness=freshness,
        sections=[
            OutlineSection(
                ref=_format_section(section, name, text),
                level=section.level,
                title=section.title,
                declaration=_find_declaration(section, text),
                heading_path=list(section.path),
                start_line=section.first,
                end_line=section.last,
                tokens=estimate_tokens("\n".join(text.lines[section.first - 1 : section.last])),
            )
            for section in sections or _list_places(text)
            if depth is None or section.level <= depth
        ],
        pages=pages,
    )


_NO_DECLARATION = re.compile(r"//|/\*|\*|#( |$)|--|;|%|@[\w.]+(\(.*\))?$|.*\*/$")
"""The beginning of a comment above a symbol, and a decorator."""


def _find_declaration(section: Section, text: FileText) -> str | None:
    """Return the first line of a symbol that has its name; above it, comments may have it, too."""
    if get_media_type(text.document.media).cites is not CitationKind.CODE:
        return None
    inside = (line.strip() for line in text.lines[section.first - 1 : section.last])
    name = section.title.rpartition(".")[2]  # in Go the receiver stands elsewhere
    named = [line for line in inside if name in line]
    declared = (line for line in named if not _NO_DECLARATION.match(line))
    return next(declared, named[0] if named else None)


def _list_places(text: FileText) -> list[Section]:
    """Return the sheets, slides or cells of a document without headings; pages have no names."""
    unit = get_unit(text.document.media)
    if unit in {None, "page"}:
        return []
    titles = [one.place.label or f"{unit} {one.place.number}" for one in text.places]
    return [
        Section(1, title, (title,), one.first, one.last, one.last)
        for title, one in zip(titles, text.places, strict=True)
    ]


def _format_section(section: Section, name: str, text: FileText) -> str:
    """Return the reference of a section: its lines, or its heading where the file has no lines."""
    document, lines = text.document, (section.first, section.last)
    if not has_own_lines(document.media):
        place = text.find_place(section.first)
        if place is not None and section not in text.sections:
            kind = get_media_type(document.media).cites
            return cite_place_lines(name, place, kind, *lines).uri
        found = find_section_by_title(text.sections, "/".join(section.path), document.title)
        if found == section:
            return cite_section(name, section.path, document.title, *lines).uri
    return format_reference(name, *lines)


def find_folders(names: Iterable[DocumentName], name: str) -> list[str]:
    """Return the folders with documents that a path, or the end of a path, names on disk."""
    roots = {one.root.rstrip("/") for one in names}
    folders = {
        "/".join([one.root.rstrip("/"), *parts[:count]])
        for one in names
        for parts in [one.path.split("/")[:-1]]
        for count in range(len(parts) + 1)
    }
    if (absolute := make_absolute(name)) in folders:
        return [absolute]
    end = fold_name(name).removeprefix("./").strip("/")
    if not end:
        return []
    ending = [folder for folder in sorted(folders) if fold_name(folder).endswith(f"/{end}")]
    at_root = {fold_name(f"{root}/{end}") for root in roots}
    return [folder for folder in ending if fold_name(folder) in at_root] or ending


def _outline_folder(catalogue: "Catalogue", folder: str | None, request: OutlineRequest) -> Outline:
    """Return the tree of a folder on disk, or without one of all sources."""
    documents = catalogue.list_documents(Filters(), limit=-1).documents
    tree = Tree(catalogue, request)
    if folder is None:
        for root, inside in groupby(documents, key=lambda document: document.root):
            tree.add_folder(root, root, list(inside), 0, 1 + tree.depth)
        hidden = 0
    else:
        start = folder.rstrip("/") + "/"
        documents = tuple(one for one in documents if join_path(one).startswith(start))
        tree.add_contents(folder, "", documents, 0, tree.depth)
        hidden = tree.count_hidden(folder, documents)
    return Outline(
        kind="folder",
        ref=folder,
        documents=len(documents),
        chunks=sum(document.chunks for document in documents),
        tokens=sum(map(estimate_file_tokens, documents)),
        entries=tree.entries,
        hidden=hidden,
    )


class Tree:
    """Collects the entries of a tree: a folder before what is in it, folders before documents."""

    def __init__(self, catalogue: "Catalogue", request: OutlineRequest) -> None:
        self.depth = request.depth or _FOLDER_DEPTH
        self.entries: list[OutlineEntry] = []
        self._limit = request.limit
        self._finder = ReferenceFinder(catalogue, chunks=False)

    def count_hidden(self, folder: str, documents: Iterable[StoredDocument]) -> int:
        """Return how many documents directly in a folder the limit leaves out."""
        start = len(folder.rstrip("/")) + 1
        count = sum("/" not in join_path(document)[start:] for document in documents)
        return 0 if self._limit is None else max(0, count - self._limit)

    def add_folder(
        self, folder: str, path: str, below: Sequence[StoredDocument], level: int, end: int
    ) -> None:
        """Add a folder, and above the level `end` what is in it; `path` is how it is shown."""
        is_open = level + 1 < end
        entry = OutlineEntry(
            kind="folder",
            ref=folder,
            path=path,
            depth=level,
            documents=len(below),
            chunks=sum(document.chunks for document in below),
            tokens=sum(map(estimate_file_tokens, below)),
            hidden=self.count_hidden(folder, below) if is_open else 0,
        )
        self.entries.append(entry)
        if is_open:
            self.add_contents(folder, "" if path == folder else f"{path}/", below, level + 1, end)

    def add_contents(
        self, folder: str, path: str, below: Sequence[StoredDocument], level: int, end: int
    ) -> None:
        """Add the folders and documents below a folder; `path` begins what is shown of them."""
        root = folder.rstrip("/")
        folders: defaultdict[str, list[StoredDocument]] = defaultdict(list)
        inside: list[StoredDocument] = []
        for document in below:
            name, slash, _ = join_path(document)[len(root) + 1 :].partition("/")
            (folders[name] if slash else inside).append(document)
        for name, documents in sorted(folders.items()):
            self.add_folder(f"{root}/{name}", path + name, documents, level, end)
        for document in inside[: self._limit]:
            entry = OutlineEntry(
                kind="document",
                ref=self._finder.format_name(document),
                path=path + document.path.rpartition("/")[2],
                depth=level,
                documents=1,
                chunks=document.chunks,
                tokens=estimate_file_tokens(document),
                title=document.title,
            )
            self.entries.append(entry)


def estimate_file_tokens(document: StoredDocument) -> int:
    """Return a rough number of tokens by the size of a file; wide scripts need more for a byte."""
    wide = document.lang in _WIDE_LANGUAGES
    return round(document.size / (_BYTES_PER_WIDE_TOKEN if wide else _BYTES_PER_TOKEN))
