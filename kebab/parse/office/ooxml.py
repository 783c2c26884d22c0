"""Reads what Word, PowerPoint and Excel files have in common: parts, relations and properties."""

import posixpath
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from kebab.core.documents import Metadata
from kebab.parse.archive import Archive
from kebab.parse.metadata import list_unique, read_language, split_authors, split_keywords
from kebab.parse.xml_events import get_local_tag, list_children, read_tree
from kebab.text.dates import parse_date

_PROGRAMS = frozenset(
    {"python-docx", "openpyxl", "python-pptx", "apache poi", "docx4j", "pptxgenjs", "un-named"}
    | {"microsoft office user", "windows user", "user", "admin", "administrator", "author"}
)
"""Creators that name a program or nobody."""

_NO_TITLE = re.compile(
    r"(?i)microsoft (?:word|powerpoint|excel) - .*|(?:powerpoint|word) (?:presentation|document)"
    r"|powerpoint .{0,12}|untitled.*|(?:document|presentation|book|slide) ?\d*|제목 없음|無題.*"
)
"""Titles that a program sets by itself."""

_KINDS = {
    "document": "a Word document",
    "presentation": "a PowerPoint presentation",
    "workbook": "an Excel workbook",
}
_SCHEME = re.compile(r"(?i)[a-z][a-z0-9+.-]+:")


class Relation(NamedTuple):
    """A link from a part to another part, or to something `external`; `kind` is e.g. `slide`."""

    kind: str
    target: str
    external: bool = False


class Package:
    """The parts of an office file, and how they relate."""

    def __init__(self, data: bytes, path: str, parser: str, kind: str) -> None:
        """Open a file whose main part has the root element `kind`, e.g. `document`.

        Raises:
            ParseFailed: The file is damaged or encrypted, expands too much, or is of another kind.
        """
        self.archive = Archive(data, path, parser)
        roots = self.read_relations("").values()
        mains = [one.target for one in roots if one.kind == "officeDocument" and not one.external]
        if not mains:
            raise self.archive.refuse("damaged: it has no main part")
        self.main = mains[0]
        self._check_kind(kind)

    def read_relations(self, part: str) -> Mapping[str, Relation]:
        """Return the relations of a part by id; `""` is the file as a whole."""
        folder, _, name = part.rpartition("/")
        root = self.find_tree(posixpath.join(folder, "_rels", f"{name}.rels"))
        return {one.get("Id", ""): _read_relation(one, folder) for one in list_children(root)}

    def find_related(self, part: str, kind: str) -> str | None:
        """Return the name of the first part of a kind to which a part is related."""
        for relation in self.read_relations(part).values():
            if relation.kind == kind and not relation.external:
                return relation.target
        return None

    def find_tree(self, name: str | None) -> Element | None:
        """Return the root of a part; None when there is no such part.

        Raises:
            ParseFailed: The part is damaged or too large.
        """
        data = self.archive.find(name) if name else None
        return None if data is None else read_tree(data, str(name), self.archive.refuse)

    def read_metadata(self) -> Metadata:
        """Return the properties of the file that people see in its information."""
        root = self.find_tree(self.find_related("", "core-properties"))
        fields = {get_local_tag(one.tag): (one.text or "").strip() for one in list_children(root)}
        return build_metadata(
            title=fields.get("title", ""),
            authors=fields.get("creator", ""),
            keywords=fields.get("keywords", ""),
            lang=fields.get("language", ""),
            dates=(fields.get("modified", ""), fields.get("created", "")),
        )

    def _check_kind(self, kind: str) -> None:
        """Refuse a file of another program, by the name of its main part."""
        found = self.main.rpartition("/")[2].partition(".")[0].casefold()
        if found in _KINDS and found != kind:
            raise self.archive.refuse(f"it is {_KINDS[found]}, not {_KINDS[kind]}")


def build_metadata(
    *, title: str, authors: str, keywords: str, lang: str, dates: tuple[str, ...]
) -> Metadata:
    """Return the properties of an office file; the first date that is one counts."""
    names = split_authors(authors)
    heading = title.strip()
    return Metadata(
        title=None if _NO_TITLE.fullmatch(heading) else heading or None,
        tags=list_unique(split_keywords(keywords)),
        lang=read_language(lang),
        authors=list_unique(name for name in names if name.casefold() not in _PROGRAMS),
        date=next(filter(None, map(parse_date, dates)), None),
    )


def is_file_link(target: str) -> bool:
    """Return whether the target of a link is a file beside the document."""
    return bool(target) and not target.startswith(("#", "//")) and not _SCHEME.match(target)


def _read_relation(element: Element, folder: str) -> Relation:
    kind = element.get("Type", "").rpartition("/")[2]
    target = element.get("Target", "")
    if element.get("TargetMode") == "External":
        return Relation(kind, unquote(target), external=True)
    # A target is relative to the folder of the part; `..` beyond the root stays at the root.
    return Relation(kind, posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/"))
