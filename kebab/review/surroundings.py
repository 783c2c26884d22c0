"""Answers what rules ask about the world around a document.

Files, anchors, notes, and passages of other notes that are nearly the same. It needs no index.
Every answer is cached for one run, and every cache is bounded.
"""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from kebab.core.documents import Link, LinkTarget
from kebab.core.ids import DocId
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.core.review import ReviewText, SimilarParagraph
from kebab.review.document import fold_anchor
from kebab.text.links import LinkResolver

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


def read_text(path: str | Path) -> str | None:
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
        text = read_text(root / path) or ""
        size += len(text)
        if size > _HEADING_CHARS or not files.is_complete:
            return {}
        for key in {fold_anchor(one.partition("{#")[0]) for one in _HEADING.findall(f"\n{text}")}:
            found[key] = "" if key in found else path
    return found


FindSimilar = Callable[[ReviewText, str], SimilarParagraph | None]
"""Returns the most similar passage of another note for a paragraph of a document."""


class Surroundings:
    """What rules may ask about the file system, the date, and the index if there is one.

    With `stale_days` 0 no statement is stale. Without `find_similar` there are no passages of
    other notes.
    """

    def __init__(
        self,
        *,
        today: date,
        stale_days: int = 0,
        load_documents: Callable[[], Iterable[LinkTarget]] = tuple,
        read_anchors: Callable[[str], frozenset[str] | None] = lambda _: None,
        find_similar: FindSimilar | None = None,
    ) -> None:
        self.today = today
        self.stale_days = stale_days
        self._load_documents = load_documents
        self._find_similar = find_similar
        self.has_index = find_similar is not None
        self._list_folder = lru_cache(4096)(list_folder)
        self._list_anchors = lru_cache(2048)(read_anchors)
        self._load_files = lru_cache(4)(load_files)
        self._load_resolver = lru_cache(4)(self._build_resolver)
        self._load_headings = lru_cache(4)(lambda root: read_headings(root, self._load_files(root)))

    def exists(self, path: Path | str) -> bool:
        """Return whether a file or a folder exists; the case of its name must be right."""
        folder, name = os.path.split(path)
        if not name:
            return True
        names = self._list_folder(folder)
        return name in names or unicodedata.normalize("NFC", name) in names

    def list_anchors(self, path: Path) -> frozenset[str] | None:
        """Return the anchors of a Markdown file, folded; None when they are not known."""
        return self._list_anchors(str(path))

    def find_heading(self, document: ReviewText, key: str) -> Path | None:
        """Return the only Markdown file of the same source with this heading."""
        found = self._load_headings(document.root).get(key)
        return document.root / found if found else None

    def find_note(self, document: ReviewText, target: str) -> Path | None:
        """Return the file of the same source with this path, name, title or alias.

        In a source with very many files it is the root, because nothing is certainly missing.
        """
        path = os.path.relpath(document.file, document.root).replace(os.sep, "/")
        found = self._load_resolver(document.root).resolve(Link(DocId(""), "", path, target))
        if found is None:
            return None if self._load_files(document.root).is_complete else document.root
        return document.root / str(found)

    def list_namesakes(self, document: ReviewText, name: str) -> list[Path]:
        """Return the files of the same source whose name is this one; their case may differ."""
        found = self._load_files(document.root).by_name.get(fold_name(name), ())
        return [document.root / path for path in found]

    def find_similar(self, document: ReviewText, paragraph: str) -> SimilarParagraph | None:
        """Return the most similar passage of another note when it is nearly the same."""
        return self._find_similar(document, paragraph) if self._find_similar else None

    @cached_property
    def _documents(self) -> Mapping[str, LinkTarget]:
        return {one.path: one for one in self._load_documents()}

    def _build_resolver(self, root: Path) -> LinkResolver:
        """Return the resolver of links to the files below a root, by path, title and alias."""
        targets = []
        for path in self._load_files(root).paths:
            known = self._documents.get(path)
            title, aliases = (known.title, known.aliases) if known else (path, ())
            targets.append(LinkTarget(DocId(path), "", path, title, aliases))
        return LinkResolver(targets)
