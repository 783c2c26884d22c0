"""Reads what the head of a page says: title, authors, date, language and keywords."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kebab.core.documents import Metadata
from kebab.parse.metadata import list_unique, read_language, split_authors, split_keywords
from kebab.text.dates import parse_date

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author")
_DATES = (
    "article:published_time",
    "dc.date",
    "dcterms.date",
    "dcterms.created",
    "dc.date.issued",
    "citation_publication_date",
    "date",
    "pubdate",
    "publish_date",
    "created",
    "changed",
)
_KEYWORDS = ("keywords", "article:tag")
_MAX_KEYWORDS = 20
_MAX_KEYWORD_CHARS = 40
_MAX_AUTHORS = 10
_MAX_AUTHOR_CHARS = 100
_SEPARATOR = re.compile(r"\s+[-|–—·:»«•]\s+|\s*[|»«]\s*|(?<=\S): ")  # noqa: RUF001 - signs of titles
_PLACEHOLDERS = frozenset({"untitled", "untitled document", "document", "new page", "index"})
_JSON_DATE = re.compile(r'"datePublished"\s*:\s*"([^"]{8,40})"')


def read_metadata(tree: "LexborHTMLParser") -> Metadata:
    """Return the metadata of a page."""
    named = dict(_list_named(tree))
    return Metadata(
        title=_find_title(tree, named) or None,
        tags=_choose_keywords(_find_all(named, _KEYWORDS)),
        lang=_find_language(tree, named),
        authors=list_unique(
            author
            for text in _find_all(named, _AUTHORS)
            for author in split_authors(text)
            if len(author) <= _MAX_AUTHOR_CHARS and "://" not in author
        )[:_MAX_AUTHORS],
        date=_find_date(tree, named),
    )


def _list_named(tree: "LexborHTMLParser") -> Iterator[tuple[str, list[str]]]:
    """Yield the names of meta elements in lower case with their contents."""
    found: dict[str, list[str]] = {}
    # Everything but the head is large, and declares nothing.
    for node in tree.head.css("meta[content]") if tree.head is not None else ():
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop")
        content = " ".join((attributes.get("content") or "").split())
        if name and content:
            found.setdefault(name.strip().lower(), []).append(content)
    yield from found.items()


def _find_all(named: dict[str, list[str]], names: tuple[str, ...]) -> list[str]:
    return [content for name in names for content in named.get(name, ())]


def shorten_title(title: str, headings: Iterable[str]) -> str:
    """Return the part of a title that is a heading of the page, without the name of the site."""
    parts = [part.casefold() for part in _SEPARATOR.split(title) if part]
    for heading in headings:
        folded = heading.casefold()
        if len(parts) > 1 and folded and (folded in parts or title.casefold().startswith(folded)):
            return heading
    return title


def _find_title(tree: "LexborHTMLParser", named: dict[str, list[str]]) -> str:
    """Return the declared title; one that names no page is none."""
    node = tree.head.css_first("title") if tree.head is not None else None
    title = " ".join(str(node.text()).split()) if node is not None else ""
    others = named.get("og:title", [])
    if not title or title.lower() in _PLACEHOLDERS:
        return others[0] if others else ""
    return shorten_title(title, others)


def _choose_keywords(keywords: list[str]) -> tuple[str, ...]:
    """Return short keywords, each once, at most a bounded number."""
    parts = (part for text in keywords for part in split_keywords(text))
    return list_unique(part for part in parts if len(part) <= _MAX_KEYWORD_CHARS)[:_MAX_KEYWORDS]


def _find_language(tree: "LexborHTMLParser", named: dict[str, list[str]]) -> str | None:
    """Return the language that the page declares, as a code of two or three letters."""
    declared: list[str | None] = []
    for node in (tree.root, tree.body):
        attributes = node.attributes if node is not None else {}
        declared += [attributes.get("lang"), attributes.get("xml:lang")]
    declared += named.get("dc.language", ())
    return next(filter(None, map(read_language, declared)), None)


def _find_date(tree: "LexborHTMLParser", named: dict[str, list[str]]) -> str | None:
    """Return the date of publication, in the head, as linked data, or of a `time` element."""
    candidates = _find_all(named, _DATES)
    html = tree.raw_html or b""
    if not candidates and b"datePublished" in html:
        for script in tree.css('script[type="application/ld+json"]')[:5]:
            candidates += _JSON_DATE.findall(script.text())
    if not candidates and b"<time" in html:
        times = tree.css("time[datetime]")[:1]
        candidates += [node.attributes.get("datetime") or "" for node in times]
    return next(filter(None, map(parse_date, candidates)), None)
