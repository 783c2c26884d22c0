"""Outlines a document by its headings, and a folder by its tree, with sizes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field, structs

from kebab.app.context import AppContext
from kebab.app.coverage import QUICK_S, THOROUGH_S, find_indexing, measure_coverage
from kebab.app.file_text import (
    FileText,
    Section,
    cite_place_lines,
    find_section_by_title,
    has_own_lines,
    load_text,
)
from kebab.app.places import get_unit
from kebab.app.references import (
    DocumentNames,
    ReferenceFinder,
    build_lookup_fault,
    fold_name,
    join_path,
    make_absolute,
)
from kebab.core.documents import DocumentDetail, DocumentName, StoredDocument, check_freshness
from kebab.core.media import CitationKind, get_media_type
from kebab.core.queries import Filters
from kebab.search.citations import build_file_path, cite_section, format_reference
from kebab.text.model_input import estimate_tokens
from kebab.text.normalize import escape_undecodable
from kebab.wire.citation import ABSENT
from kebab.wire.fetch import Outline, OutlineEntry, OutlineRequest, OutlineSection
from kebab.wire.record import NotFound

if TYPE_CHECKING:
    from kebab.store.sqlite.catalogue import Catalogue

_BYTES_PER_TOKEN = 4.0
_BYTES_PER_WIDE_TOKEN = 2.5
_WIDE_LANGUAGES = frozenset({"ja", "ko", "zh"})


class TreeOptions(NamedTuple):
    """How a tree is listed: levels, documents of one folder (None means all), and references."""

    depth: int
    limit: int | None
    format_ref: Callable[[StoredDocument], str]


class _Folder(Struct):
    """A folder: what is in it, and all documents below it."""

    path: str
    folders: "dict[str, _Folder]" = field(default_factory=dict)
    documents: list[StoredDocument] = field(default_factory=list)
    below: list[StoredDocument] = field(default_factory=list)


def list_tree(
    root: str, documents: Sequence[StoredDocument], options: TreeOptions, level: int = 0
) -> Iterator[OutlineEntry]:
    """Yield the folders and documents below a folder on disk, folders before documents.

    `documents` are all below the absolute path `root`, and `level` is that of the first
    entries.
    """
    tree = _Folder(root.rstrip("/"))
    for document in documents:
        *parents, _ = join_path(document)[len(tree.path) + 1 :].split("/")
        folder = tree
        for name in parents:
            folder = folder.folders.setdefault(name, _Folder(f"{folder.path}/{name}"))
            folder.below.append(document)
        folder.documents.append(document)
    yield from _list_folder(tree, "", (level, level + options.depth), options)


def _list_folder(
    folder: _Folder, path: str, levels: tuple[int, int], options: TreeOptions
) -> Iterator[OutlineEntry]:
    """Yield the contents of a folder; `path` is that below the outlined folder."""
    level, end = levels
    for name, inner in sorted(folder.folders.items()):
        opened = level + 1 < end
        hidden = count_hidden(inner.documents, options.limit) if opened else 0
        yield build_folder_entry(inner.path, f"{path}{name}", inner.below, level, hidden)
        if opened:
            yield from _list_folder(inner, f"{path}{name}/", (level + 1, end), options)
    for document in folder.documents[: options.limit]:
        yield OutlineEntry(
            kind="document",
            ref=options.format_ref(document),
            path=path + document.path.rpartition("/")[2],
            depth=level,
            documents=1,
            chunks=document.chunks,
            tokens=estimate_file_tokens(document),
            title=document.title,
        )


def count_hidden(documents: Sequence[StoredDocument], limit: int | None) -> int:
    """Return how many documents of a folder a limit leaves out."""
    return 0 if limit is None else max(0, len(documents) - limit)


def build_folder_entry(
    ref: str, path: str, below: Sequence[StoredDocument], level: int, hidden: int = 0
) -> OutlineEntry:
    """Return the entry of a folder with the sizes of everything below it."""
    return OutlineEntry(
        kind="folder",
        ref=ref,
        path=path,
        depth=level,
        documents=len(below),
        chunks=sum(document.chunks for document in below),
        tokens=sum(map(estimate_file_tokens, below)),
        hidden=hidden,
    )


def estimate_file_tokens(document: StoredDocument) -> int:
    """Return a rough number of tokens by the size of a file; wide scripts need more for a byte."""
    wide = document.lang in _WIDE_LANGUAGES
    return round(document.size / (_BYTES_PER_WIDE_TOKEN if wide else _BYTES_PER_TOKEN))


_FOLDER_DEPTH = 2


def outline(context: AppContext, request: OutlineRequest) -> Outline | NotFound:
    """Return the headings of a document, or the tree of a folder or of all sources.

    A whole path of a document wins over a folder, and a folder over the end of a path.

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
        documents = catalogue.list_documents(Filters(), limit=-1).documents
        options = _build_options(catalogue, request)
        entries: list[OutlineEntry] = []
        for root, group in groupby(documents, key=lambda document: document.root):
            inside = list(group)
            top = [document for document in inside if "/" not in document.path]
            hidden = count_hidden(top, options.limit)
            entries.append(build_folder_entry(root, root, inside, 0, hidden))
            entries += list_tree(root, inside, options, level=1)
        return _build_tree_reply(None, documents, entries, 0), Filters()
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
    name = finder.format_name(detail.summary)
    filters = Filters(doc_id=detail.summary.doc_id)
    return _outline_document(context, detail, name, request.depth), filters


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


def _find_declaration(section: Section, text: FileText) -> str | None:
    """Return the first line of a symbol that has its name, None for other sections."""
    if get_media_type(text.document.media).cites is not CitationKind.CODE:
        return None
    inside = (line.strip() for line in text.lines[section.first - 1 : section.last])
    return next((line for line in inside if section.title in line), None)


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


def _outline_folder(catalogue: "Catalogue", folder: str, request: OutlineRequest) -> Outline:
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
    ref: str | None, documents: Sequence[StoredDocument], entries: list[OutlineEntry], hidden: int
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
