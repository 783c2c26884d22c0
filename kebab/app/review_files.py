"""Reads what reviews ask about the files of a folder, without an index."""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from kebab.core.files import GIT_FILE, ScanRules, get_suffix
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.review.anchors import fold_anchor, list_anchors

_MAX_FILES = 100_000
MAX_BYTES = 4 * 1024 * 1024
HEAD_BYTES = 16 * 1024
MAX_NOTES = 200
_KIND_FIELDS = ("type", "layout", "content_type", "template", "kind")
_HEADING = re.compile(r"\n {0,3}#{1,6}[ \t]++([^\n]++)")
"""What looks like a heading behind the end of a line, which is found faster than a beginning."""
_HEADING_ID = re.compile(r"\n {0,3}#{1,6}[ \t][^\n{]*\{#([^{}\n]+)\}")
_IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages"})


class FolderFiles(NamedTuple):
    """The files below a root, by path and by name in one case; `is_complete` when these are all."""

    paths: Sequence[str]
    by_name: Mapping[str, Sequence[str]]
    is_complete: bool


def fold_name(name: str) -> str:
    """Return a name in one letter case and one form of its characters."""
    return unicodedata.normalize("NFC", name).casefold()


def list_folder(folder: str) -> frozenset[str]:
    """Return the names in a folder, as they are and in NFC; none when it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except (OSError, ValueError):
        return frozenset()
    return frozenset([*names, *(unicodedata.normalize("NFC", name) for name in names)])


def load_files(root: Path) -> FolderFiles:
    """Return the first files below a root."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    paths = list(_list_files(root))
    for path in paths:
        by_name[fold_name(path.rpartition("/")[2])].append(path)
    return FolderFiles(paths, by_name, len(paths) < _MAX_FILES)


def _list_files(root: Path) -> Iterator[str]:
    """Yield the paths of the first files below a root, without hidden folders and links."""
    count, folders = 0, [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(root / folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _IGNORED_FOLDERS:
                    folders.append(path)
                continue
            yield path
            count += 1
            if count >= _MAX_FILES:
                return


_MAX_PARENTS = 12


_BUILD_FILES = re.compile(
    r"(?:GNU)?[Mm]akefile(?:\.\w+)?|.*\.mk|CMakeLists\.txt|meson\.build|gulpfile\.\w+|[Rr]akefile"
    r"|noxfile\.py|conf\.py|package\.json"
)


def is_built(path: str) -> bool:
    """Return whether a build writes a missing file.

    Git ignores it, a file of a build above it names it, or gi-docgen copies an image there.
    """
    folder, name = os.path.split(path)
    if _is_named_by_build(path):
        return True
    for top in (folder, os.path.dirname(folder)):  # noqa: PTH120 - far faster
        settings = (one for one in list_folder(top) if one.endswith((".toml", ".toml.in")))
        texts = (read_head(f"{top}/{one}", HEAD_BYTES) or "" for one in settings)
        if any("content_images" in text and f'/{name}"' in text for text in texts):
            return True
    return _is_ignored(path)


def _is_named_by_build(path: str) -> bool:
    """Return whether a file of a build, in a folder above, has the end of a path."""
    tail = "/".join(Path(path).parts[-2:])
    for top in list(Path(path).parents)[1:_MAX_PARENTS]:
        names = list_folder(str(top))
        files = (one for one in names if _BUILD_FILES.fullmatch(one))
        if any(tail in (read_head(f"{top}/{one}", MAX_BYTES) or "") for one in files):
            return True
        if ".git" in names:
            break
    return False


def _is_ignored(path: str) -> bool:
    """Return whether the repository of a path ignores it; without one the folders above count."""
    from kebab.source.ignore import find_skip_reason_from_root

    top = None
    for above in list(Path(path).parents)[:_MAX_PARENTS]:
        if (above / GIT_FILE).is_file():
            top = above
        if (above / ".git").exists():
            break
    if top is None:
        return False
    inner = Path(path).relative_to(top).as_posix()
    try:
        return find_skip_reason_from_root(str(top), ScanRules(), inner, folder=False) == "ignored"
    except OSError:
        return False


def read_head(path: str, size: int) -> str | None:
    """Return the first bytes of a file as text; None when it cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - far faster
            data = file.read(size)
    except (OSError, ValueError):
        return None
    text = data.decode(errors="replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def list_keys(text: str) -> set[str]:
    """Return the keys of the lines of a text that look like headings."""
    return {fold_anchor(title.partition("{#")[0]) for title in _HEADING.findall(f"\n{text}")}


def read_keys(path: str) -> set[str]:
    """Return the keys of the lines of a file that look like headings, and of ids behind them."""
    text = read_head(path, MAX_BYTES) or ""
    return list_keys(text).union(map(fold_anchor, _HEADING_ID.findall(f"\n{text}")))


def read_anchors(path: str) -> frozenset[str] | None:
    """Return the anchors of a Markdown file, folded; None when they are not known."""
    if detect_media_type(path) != MARKDOWN or not Path(path).is_file():
        return None
    text = read_head(path, MAX_BYTES + 1)
    if text is None or len(text) > MAX_BYTES:
        return None
    from kebab.parse.text.markdown_parts import read_markup

    try:
        return list_anchors(text, read_markup(text, is_mdx=path.endswith(".mdx")))
    except RuntimeError:
        return None


class NoteFields(NamedTuple):
    """The kind of a note, and the fields of its front matter that have a value."""

    kind: tuple[str, ...]
    fields: frozenset[str]


def get_kind(name: str, fields: Mapping[str, object] | None) -> tuple[str, ...]:
    """Return what tells notes of different kinds apart."""
    known = {one.lower(): str(value) for one, value in (fields or {}).items()}
    kinds = (known.get(one, "") for one in _KIND_FIELDS)
    return (get_suffix(name), "" if fields is None else "front matter", *kinds)


def read_fields(folder: str) -> Mapping[str, NoteFields]:
    """Return the fields of the first notes of a folder by file name."""
    from kebab.parse.metadata import read_front_block

    names = sorted(name for name in list_folder(folder) if detect_media_type(name) == MARKDOWN)
    found = {}
    for name in names[:MAX_NOTES]:
        text = read_head(str(Path(folder, name)), HEAD_BYTES)
        if text is not None:
            block = read_front_block(text)
            fields = block.fields if block else None
            used = frozenset(str(one).lower() for one, value in (fields or {}).items() if value)
            found[name] = NoteFields(get_kind(name, fields), used)
    return found


_PLACE = re.compile(r"\d+")
_FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_HEADING_SIGNS = re.compile(r"^(#{1,6})[ \t]", re.MULTILINE)


def name_fault(fault: str) -> str:
    """Return a fault of front matter without its place."""
    return _PLACE.sub("", fault)


def draw_notes(root: Path, names: Iterable[str], most: int = MAX_NOTES) -> list[str]:
    """Return the paths of some of the Markdown files among many."""
    paths = sorted(name for name in names if detect_media_type(name) == MARKDOWN)
    return [f"{root}/{name}" for name in paths[:: 1 + len(paths) // most]]


def draw_linked_notes(root: Path, names: Iterable[str]) -> list[str]:
    """Return the paths of some Markdown files with images, and of some with other links."""
    paths = draw_notes(root, names, 10 * MAX_NOTES)
    texts = {path: read_head(path, HEAD_BYTES) or "" for path in paths}
    images = [path for path, text in texts.items() if "![" in text or "<img" in text]
    links = [path for path, text in texts.items() if "](" in text]
    drawn = (found[:: 1 + len(found) // MAX_NOTES] for found in (images, links))
    return list(dict.fromkeys(chain.from_iterable(drawn)))


def read_faults(root: Path, names: Iterable[str]) -> list[str]:
    """Return the fault of the front matter of Markdown files that have one; "" is none.

    Of many files not all are read.
    """
    from kebab.parse.metadata import read_front_block

    blocks = (
        read_front_block(read_head(path, HEAD_BYTES) or "") for path in draw_notes(root, names)
    )
    return [name_fault(block.fault) for block in blocks if block]


def read_jumps(root: Path, names: Iterable[str]) -> Mapping[str, frozenset[tuple[int, int]]]:
    """Return the levels of headings in a row that leave one out, of some Markdown files.

    Of many files not all are read.
    """
    found = {}
    for path in draw_notes(root, names):
        text = _FENCE.sub("", read_head(path, HEAD_BYTES) or "")
        levels = list(map(len, _HEADING_SIGNS.findall(text)))
        if levels:
            found[path] = frozenset(one for one in pairwise(levels) if one[1] > one[0] + 1)
    return found


_PAGE_SUFFIXES = (".md", ".mdx", ".markdown", ".html", ".astro", ".tsx", ".jsx", ".js", ".ipynb")
_COVERS = ("index", "_index", "readme")
_ORDER = re.compile(r"\A\d+[-_.]")
_ROUTE_FIELDS = frozenset(
    {"slug", "permalink", "url", "aliases", "id", "redirect_from", "redirects"}
)


def read_routes(root: str) -> frozenset[str]:
    """Return the names of the pages of a site, and of the addresses in their front matter."""
    from kebab.parse.metadata import read_front_block

    found: set[str] = set()
    for path in _list_files(Path(root)):
        folder, _, name = path.rpartition("/")
        if get_suffix(name) in _PAGE_SUFFIXES:
            stem, whole = name.partition(".")[0].lower(), name.rpartition(".")[0].lower()
            page = folder.rpartition("/")[2].lower() if stem in _COVERS else stem
            found.update((page, whole, _ORDER.sub("", page)))
        if detect_media_type(path) != MARKDOWN:
            continue
        text = read_head(f"{root}/{path}", HEAD_BYTES) or ""
        block = read_front_block(text) if any(one in text for one in _ROUTE_FIELDS) else None
        for field, value in block.fields.items() if block else ():
            if field.lower() in _ROUTE_FIELDS:
                for one in value if isinstance(value, list) else [value]:
                    found.add(str(one).rstrip("/").rpartition("/")[2].lower())
    return frozenset(found)
