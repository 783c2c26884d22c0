"""Reads EPUB books: the chapters in reading order, with the metadata of the book."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.limits.deadline import build_refusal
from kebab.parse.archive import (
    Archive,
    find_all,
    find_child,
    get_attribute,
    get_local_tag,
    join_text,
    list_children,
    read_tree,
)
from kebab.parse.blocks import TextBuilder
from kebab.parse.metadata import list_unique, read_language
from kebab.parse.web.html import add_fragment, list_anchors
from kebab.parse.web.html_page import decode_html
from kebab.text.dates import parse_date

_CONTAINER = "META-INF/container.xml"
_ISBN = re.compile(r"isbn|97[89](?:-?\d){10}\Z", re.IGNORECASE)
_ENCRYPTION = "META-INF/encryption.xml"
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#rc")
_PAGES = {"application/xhtml+xml", "text/html", "text/x-oeb1-document", "image/svg+xml"}
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^<>]*>", re.DOTALL)
_HEADING = re.compile("<h[1-6][ >]", re.IGNORECASE)
_MANY_WARNINGS = 20


class _Item(NamedTuple):
    name: str
    media: str
    properties: str


class EpubParser:
    """Parses a book: its chapters as sections."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        archive = Archive(data)
        _refuse_protection(archive)
        name = _find_package(archive)
        root = read_tree(archive.read(name), name)
        folder = posixpath.dirname(name)
        items = {
            get_attribute(element, "id"): _Item(
                _resolve(folder, get_attribute(element, "href")),
                get_attribute(element, "media-type").lower(),
                get_attribute(element, "properties"),
            )
            for element in list_children(find_child(root, "manifest"))
        }
        spine = list_children(find_child(root, "spine"))
        order = list(dict.fromkeys(get_attribute(element, "idref") for element in spine))
        titles = dict(_list_titles(archive, items.values()))
        builder = TextBuilder()
        warnings: list[str] = []
        contents: list[str] = []
        # Pages that no list of chapters names stand at the end.
        listed = [*(items[name] for name in order if name in items), *items.values()]
        for item in dict.fromkeys(one for one in listed if one.media in _PAGES):
            if "nav" in item.properties.split():
                text = (archive.find(item.name) or b"").decode("utf-8", "replace")
                contents.append(_TAG.sub(" ", text))
                continue
            warning = _add_chapter(builder, archive, item, titles.get(item.name, ""))
            if warning and len(warnings) < _MANY_WARNINGS:
                warnings.append(warning)
        builder.leave_out_unknown("tables of contents", contents)
        fields = find_child(root, "metadata")
        metadata = _read_metadata(fields)
        rest = list_children(fields, "rights", "source", "relation", "coverage")
        builder.leave_out("fields of the book", " ".join(one.text or "" for one in rest))
        return builder.build(path, metadata, warnings=warnings)


def _refuse_protection(archive: Archive) -> None:
    """Raise `ParseFailed` when more than the fonts of a book is encrypted."""
    for element in find_all(archive.find_tree(_ENCRYPTION), "EncryptedData"):
        method = find_child(element, "EncryptionMethod")
        algorithm = get_attribute(method, "Algorithm") if method is not None else ""
        if algorithm.lower() not in _FONT_ALGORITHMS:
            raise build_refusal("the book is protected (DRM)")


def _find_package(archive: Archive) -> str:
    for element in find_all(archive.find_tree(_CONTAINER), "rootfile"):
        return _resolve("", get_attribute(element, "full-path"))
    for name in archive.names:
        if name.lower().endswith(".opf"):
            return name
    raise build_refusal("not an EPUB book: it has no package document")


def _read_metadata(element: Element | None) -> Metadata:
    found: dict[str, list[str]] = {}
    for child in list_children(element):
        text = join_text(child)
        if text:
            found.setdefault(get_local_tag(child.tag), []).append(text)
    return Metadata(
        title=found.get("title", [None])[0],
        tags=list_unique(found.get("subject", []))[:20],
        lang=next(filter(None, map(read_language, found.get("language", []))), None),
        authors=list_unique(found.get("creator", []))[:10],
        date=next(filter(None, map(parse_date, found.get("date", []))), None),
        properties=tuple(
            (
                "isbn" if _ISBN.search(text) else name,
                text.removeprefix("urn:").removeprefix("isbn:"),
            )
            for name in ("identifier", "publisher", "contributor", "series", "description")
            for text in found.get(name, [])[:10]
        ),
    )


def _list_titles(archive: Archive, items: Iterable[_Item]) -> Iterator[tuple[str, str]]:
    """Yield files of a book with their titles in its table of contents, the best title last."""
    entries: list[tuple[str, str]] = []
    for item in items:
        folder = posixpath.dirname(item.name)
        try:
            if item.media == "application/x-dtbncx+xml":
                root = read_tree(archive.read(item.name), item.name)
                for point in find_all(root, "navPoint"):
                    content = find_child(point, "content")
                    label = find_child(find_child(point, "navLabel"), "text")
                    if content is not None and label is not None:
                        link, title = get_attribute(content, "src"), label.text or ""
                        entries.append((_resolve(folder, link), title.strip()))
            elif "nav" in item.properties.split():
                text = decode_html(archive.read(item.name)).text
                entries += [(_resolve(folder, link), title) for link, title in list_anchors(text)]
        except (ParseFailed, ValueError):
            continue
    yield from reversed(entries)


def _add_chapter(builder: TextBuilder, archive: Archive, item: _Item, title: str) -> str | None:
    """Add a chapter, below its title where it has no heading itself; return a warning."""
    name = posixpath.basename(item.name)
    try:
        data = archive.find(item.name)
        if data is None:
            return f"a chapter is missing: {name}"
        text = decode_html(data).text
        if title and not _HEADING.search(text):
            builder.add_heading(1, title)
        add_fragment(builder, text, hidden=True)
    except (ParseFailed, ValueError):
        return f"a chapter is unreadable: {name}"
    return None


def _resolve(folder: str, link: str) -> str:
    """Return the name of the file that a link within the book names."""
    target = unquote(link.partition("#")[0])
    return posixpath.normpath(posixpath.join(folder, target)).lstrip("/")
