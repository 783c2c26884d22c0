"""Outlines a document by its headings, and a folder by its folders and documents."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from kebab.app.citations import format_reference
from kebab.app.context import AppContext
from kebab.app.conversions import build_file_path, check_freshness
from kebab.app.document_names import DocumentNames, fold_name, join_path, make_absolute
from kebab.app.fetch import count_indexed_lines, read_file, split_lines
from kebab.app.folder_tree import (
    TreeOptions,
    build_folder_entry,
    count_hidden,
    list_tree,
)
from kebab.app.headings import Section, list_sections, parse_file
from kebab.app.references import ReferenceFinder, build_lookup_fault
from kebab.core.documents import DocumentDetail, DocumentName, StoredDocument
from kebab.core.queries import Filters
from kebab.text.normalize import escape_undecodable
from kebab.text.tokens import estimate_tokens
from kebab.wire.library import NotFound
from kebab.wire.outline import Outline, OutlineEntry, OutlineRequest, OutlineSection

if TYPE_CHECKING:
    from kebab.store.sqlite.catalogue import Catalogue

_FOLDER_DEPTH = 2


def outline(context: AppContext, request: OutlineRequest) -> Outline | NotFound:
    """Return the headings of a document, or the tree of a folder or of all sources.

    A whole path of a document wins over a folder, and a folder over the end of a path.

    Raises:
        NotIndexed: There is no index.
        IoError: The document cannot be read.
        ParseFailed: The document is no longer text.
    """
    with context.open_catalogue() as catalogue:
        if request.name is None:
            return _outline_sources(catalogue, request)
        names = catalogue.list_names()
        is_document = DocumentNames(names).find_exact(request.name)
        folders = [] if is_document else find_folders(names, request.name)
        if len(folders) > 1:
            name = escape_undecodable(request.name)
            message = f"several folders go by this name: {name}"
            return build_lookup_fault(name, message, folders, ambiguous=True)
        if folders:
            return _outline_folder(catalogue, folders[0], request)
        finder = ReferenceFinder(catalogue, chunks=False)
        target = finder.find(request.name)
        if isinstance(target, NotFound):
            return target
        detail = catalogue.load_document(target.doc_id) if target.doc_id else None
        if detail is None:
            return finder.suggest(request.name)
        name = finder.format_name(detail.summary)
    return _outline_document(detail, name, request.depth)


def _outline_document(detail: DocumentDetail, name: str, depth: int | None) -> Outline:
    """Return the sections of the present file; `name` is the shortest name of the document."""
    document, freshness = detail.summary, check_freshness(detail.summary)
    lines = [line for chunk in detail.chunks for line in chunk.text.split("\n")]
    line_count, sections = count_indexed_lines(detail.chunks), list[Section]()
    if freshness != "gone":
        parsed = parse_file(read_file(document), document.path, document.media)
        lines, sections = split_lines(parsed.text), list_sections(parsed)
        line_count = len(lines)
    return Outline(
        kind="document",
        ref=name,
        documents=1,
        chunks=document.chunks,
        tokens=estimate_tokens("\n".join(lines)),
        doc_id=document.doc_id,
        doc_path=document.path,
        file=build_file_path(document),
        title=document.title,
        line_count=line_count,
        freshness=freshness,
        sections=[
            _to_section(section, name, lines)
            for section in sections
            if depth is None or section.level <= depth
        ],
    )


def _to_section(section: Section, name: str, lines: Sequence[str]) -> OutlineSection:
    return OutlineSection(
        ref=format_reference(name, section.first, section.last),
        level=section.level,
        title=section.title,
        heading_path=list(section.path),
        start_line=section.first,
        end_line=section.last,
        tokens=estimate_tokens("\n".join(lines[section.first - 1 : section.last])),
    )


def find_folders(names: Iterable[DocumentName], name: str) -> list[str]:
    """Return the folders with documents that a path, or the end of a path, names on disk."""
    roots = {one.root.rstrip("/") for one in names}
    folders = {folder for one in names for folder in _list_parents(one)}
    if (absolute := make_absolute(name)) in folders:
        return [absolute]
    end = fold_name(name).removeprefix("./").strip("/")
    if not end:
        return []
    ending = [folder for folder in sorted(folders) if fold_name(folder).endswith(f"/{end}")]
    at_root = {fold_name(f"{root}/{end}") for root in roots}
    return [folder for folder in ending if fold_name(folder) in at_root] or ending


def _list_parents(name: DocumentName) -> Iterator[str]:
    """Yield the folders of a document on disk, from the root of its source."""
    parts = name.path.split("/")[:-1]
    for count in range(len(parts) + 1):
        yield "/".join([name.root.rstrip("/"), *parts[:count]])


def _outline_sources(catalogue: "Catalogue", request: OutlineRequest) -> Outline:
    """Return the trees of all sources, one below the other."""
    documents = catalogue.list_documents(Filters(), limit=-1).documents
    options = _build_options(catalogue, request)
    entries: list[OutlineEntry] = []
    for root, group in groupby(documents, key=lambda document: document.root):
        inside = list(group)
        top = [document for document in inside if "/" not in document.path]
        hidden = count_hidden(top, options.limit)
        entries.append(build_folder_entry(root, root, inside, 0, hidden))
        entries += list_tree(root, inside, options, level=1)
    return _build_tree_reply(None, documents, entries, 0)


def _outline_folder(catalogue: "Catalogue", folder: str, request: OutlineRequest) -> Outline:
    """Return the tree of one folder."""
    start = folder.rstrip("/") + "/"
    documents = [
        document
        for document in catalogue.list_documents(Filters(), limit=-1).documents
        if join_path(document).startswith(start)
    ]
    options = _build_options(catalogue, request)
    top = [one for one in documents if "/" not in join_path(one)[len(start) :]]
    entries = list(list_tree(folder, documents, options))
    return _build_tree_reply(folder, documents, entries, count_hidden(top, options.limit))


def _build_options(catalogue: "Catalogue", request: OutlineRequest) -> TreeOptions:
    finder = ReferenceFinder(catalogue, chunks=False)
    return TreeOptions(request.depth or _FOLDER_DEPTH, request.limit, finder.format_name)


def _build_tree_reply(
    ref: str | None,
    documents: Sequence[StoredDocument],
    entries: list[OutlineEntry],
    hidden: int,
) -> Outline:
    whole = build_folder_entry(ref or "", "", documents, 0)
    return Outline(
        kind="folder",
        ref=ref,
        documents=whole.documents,
        chunks=whole.chunks,
        tokens=whole.tokens,
        entries=entries,
        hidden=hidden,
    )
