"""Reads what reviews ask about the files of a folder, without an index."""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kebab.core.media import MARKDOWN, detect_media_type
from kebab.review.anchors import fold_anchor, list_anchors

_MAX_FILES = 100_000
_MAX_BYTES = 4 * 1024 * 1024
_HEADING_CHARS = 64 * 1024 * 1024
_HEADING = re.compile(r"\n {0,3}#{1,6}[ \t]++([^\n]++)")
"""What looks like a heading behind the end of a line, which is found faster than a beginning."""
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


def _read_text(path: str | Path) -> str | None:
    """Return a file as text; None when it cannot be read or is too large."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - far faster
            data = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    text = data.decode(errors="replace").removeprefix("\ufeff")
    return None if len(data) > _MAX_BYTES else text.replace("\r\n", "\n").replace("\r", "\n")


def read_headings(root: Path, files: FolderFiles) -> Mapping[str, str]:
    """Return the file of each heading of a folder; an empty text when several have it.

    There is none in a folder with too much text, because no heading is certainly the only one.
    """
    found: dict[str, str] = {}
    size = 0
    for path in files.paths:
        if detect_media_type(path) != MARKDOWN:
            continue
        text = _read_text(root / path) or ""
        size += len(text)
        if size > _HEADING_CHARS or not files.is_complete:
            return {}
        for key in {fold_anchor(one.partition("{#")[0]) for one in _HEADING.findall(f"\n{text}")}:
            found[key] = "" if key in found else path
    return found


def read_anchors(path: str) -> frozenset[str] | None:
    """Return the anchors of a Markdown file, folded; None when they are not known."""
    is_known = detect_media_type(path) == MARKDOWN and Path(path).is_file()
    text = _read_text(path) if is_known else None
    if text is None:
        return None
    from kebab.parse.text.markdown_parts import read_markup

    try:
        return list_anchors(text, read_markup(text, is_mdx=path.endswith(".mdx")))
    except RuntimeError:
        return None
