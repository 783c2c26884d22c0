"""Builds the tree of the folders and documents below a folder, with their sizes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kebab.app.document_names import join_path
from kebab.core.documents import StoredDocument
from kebab.wire.outline import OutlineEntry

_BYTES_PER_TOKEN = 4.0
_BYTES_PER_WIDE_TOKEN = 2.5
_WIDE_LANGUAGES = frozenset({"ja", "ko", "zh"})


class TreeOptions(NamedTuple):
    """How a tree is listed: levels, documents of one folder (None means all), and references."""

    depth: int
    limit: int | None
    format_ref: Callable[[StoredDocument], str]


@dataclass(slots=True)
class _Folder:
    """A folder: what is in it, and all documents below it."""

    path: str
    folders: "dict[str, _Folder]" = field(default_factory=dict)
    documents: list[StoredDocument] = field(default_factory=list)
    below: list[StoredDocument] = field(default_factory=list)


def list_tree(
    root: str, documents: Sequence[StoredDocument], options: TreeOptions, level: int = 0
) -> Iterator[OutlineEntry]:
    """Yield the folders and documents below a folder on disk, folders before documents.

    Args:
        root: The absolute path of the folder.
        documents: All documents below it.
        options: How many levels and documents are listed.
        level: The level of the first entries.
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
