"""Resolves the links between documents: relative paths, paths below the root, and names.

Note programs link by name (`[[Weekly review]]`), other Markdown by path (`../plans/q3.md`). A link
is compared with paths first, and with titles and aliases last. Suffixes may be left out.
"""

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from kebab.core.files import get_suffix
from kebab.core.ids import DocId
from kebab.core.media import detect_media_type


class LinkTarget(NamedTuple):
    """A document with the names by which links may call it; `path` is below `source`."""

    doc_id: DocId
    source: str
    path: str
    title: str
    aliases: tuple[str, ...] = ()


class Link(NamedTuple):
    """A link of the document at `path` of `source` to the file that `target` names."""

    doc_id: DocId
    source: str
    path: str
    target: str


def compute_link_key(target: str) -> str:
    """Return the folded name of the file that a link names, without its folder and suffix."""
    return _strip_suffix(fold_target(target).rstrip("/").rpartition("/")[2])


def list_link_keys(document: LinkTarget) -> list[str]:
    """Return the keys of all links that may mean a document."""
    names = (document.path, document.title, *document.aliases)
    return list(dict.fromkeys(map(compute_link_key, names)))


def fold_target(target: str) -> str:
    """Return a path or a name in the form in which links are compared."""
    return unicodedata.normalize("NFC", target).casefold().strip()


def _strip_suffix(path: str) -> str:
    """Return a path without the suffix of a format that kebab reads."""
    return path.removesuffix(get_suffix(path)) if detect_media_type(path) else path


class LinkResolver:
    """Finds the documents that links name, each below the source of its own document."""

    def __init__(self, documents: Iterable[LinkTarget]) -> None:
        self._by_path: dict[tuple[str, str], DocId] = {}
        self._by_name: dict[tuple[str, str], DocId] = {}
        self._by_key: defaultdict[tuple[str, str], list[tuple[str, DocId]]] = defaultdict(list)
        ordered = sorted(documents, key=lambda one: (len(one.path), one.path))
        for one in ordered:
            path = fold_target(one.path)
            plain = _strip_suffix(path)
            self._by_key[one.source, plain.rpartition("/")[2]].append((plain, one.doc_id))
            for form in (path, plain):
                self._by_path.setdefault((one.source, form), one.doc_id)
            for name in (one.title, *one.aliases):
                self._by_name.setdefault((one.source, fold_target(name)), one.doc_id)

    def resolve(self, link: Link) -> DocId | None:
        """Return the document that a link names, None when there is none.

        Among several documents of one name, the one with the shortest path wins.
        """
        target = fold_target(link.target)
        folder = posixpath.dirname(fold_target(link.path))
        for base in (folder, ""):
            path = posixpath.normpath(posixpath.join(base, target.lstrip("/")))
            for form in (path, _strip_suffix(path)):
                if found := self._by_path.get((link.source, form)):
                    return found
        return self._find_ending(link.source, target) or self._by_name.get((link.source, target))

    def _find_ending(self, source: str, target: str) -> DocId | None:
        end = _strip_suffix(posixpath.normpath(target)).lstrip("/")
        candidates = self._by_key.get((source, end.rpartition("/")[2]), [])
        return next((doc_id for path, doc_id in candidates if f"/{path}".endswith(f"/{end}")), None)
