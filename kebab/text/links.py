"""Resolves the links between documents.

Note programs link by name (`[[Weekly review]]`), other Markdown by path (`../plans/q3.md`). A link
is compared with paths first, then with titles, aliases and the names of pages, and as a date last.
Suffixes may be left out.
"""

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import unquote

from kebab.core.documents import Link, LinkTarget
from kebab.core.files import get_suffix
from kebab.core.ids import DocId
from kebab.core.media import detect_media_type
from kebab.text.dates import parse_date


def compute_link_key(target: str) -> str:
    """Return the folded name of the file that a link names, without its folder and suffix.

    The name of a day is its date.
    """
    name = _strip_suffix(fold_target(target).rstrip("/").rpartition("/")[2])
    return parse_date(target) or parse_date(name) or name


def list_link_keys(document: LinkTarget) -> list[str]:
    """Return the keys of all links that may mean a document."""
    return list(dict.fromkeys(map(compute_link_key, (document.path, *_list_names(document)))))


def _list_names(document: LinkTarget) -> list[str]:
    """Return the names of a document; Logseq writes the slashes of a page as `___` or `%2F`."""
    stem = _strip_suffix(document.path.rpartition("/")[2])
    return [document.title, *document.aliases, unquote(stem.replace("___", "/"))]


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
            names = _list_names(one)
            for name in (*map(fold_target, names), *filter(None, map(parse_date, names))):
                self._by_name.setdefault((one.source, name), one.doc_id)

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
        end = _strip_suffix(posixpath.normpath(target)).lstrip("/")
        candidates = self._by_key.get((link.source, end.rpartition("/")[2]), [])
        for path, doc_id in candidates:
            if f"/{path}".endswith(f"/{end}"):
                return doc_id
        dated = parse_date(link.target) or ""
        by_name = self._by_name
        return by_name.get((link.source, target)) or by_name.get((link.source, dated))
