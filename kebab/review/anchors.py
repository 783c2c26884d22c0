"""Finds the anchors of a document, which headings and ids declare.

Sites and note programs build anchors from headings in many ways: GitHub keeps the letters of every
script, others drop them, repeat hyphens or replace them. Anchors are therefore compared by their
letters and digits alone.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from kebab.core.review import Markup

_INCLUDES = re.compile(
    r"--8<--|\{!|\{%-?[ \t]*include|<!--[ \t]*@?(?:include|insert|embed|import|snippet)"
    r"|\{\{[<%]?[ \t]*#?[\w-]*(?:include|readfile|partial|snippet|content|embed|import|reference)"
    r"|\{\{[^{}<%]*\}\}|^[ \t]*!?include::|^\.\. \w+::|^import\s[^\n]+\.mdx?['\"]"
    r"|<[A-Z][\w.]*[\s/>]|</[a-z]++-[a-z]",
    re.MULTILINE,
)
"""What puts further text into a page: directives, templates and components."""

_NO_LETTER = re.compile(r"[^a-z0-9]+")
_TAG = re.compile(r"<[^<>]*+>")
_TITLE_FIELDS = ("title", "id", "slug")
_ARGUMENT = re.compile(r"\"([^\"]+)\"")
_ELSEWHERE = re.compile(
    r"\b(?:id|name)=[\"']?([\w.:-]+)|<h[1-6]\b[^<>]*+>((?:[^<]|<(?!/?h)){1,400}+)</h"
    r"|^[ \t]+#{2,6}[ \t]++([^\n]++)|[{ \t]#([A-Za-z][\w.:-]*)[^{}\n]{0,80}\}",
    re.MULTILINE,
)
"""Ids, and headings in HTML and indented text."""

_NUMBERED = "#"
"""Stands for the numbers that generators give to headings in other scripts."""

_OTHER_FRAGMENT = re.compile(
    r"0?\Z|_+\Z|top\Z|L\d+|:~:|[!/]|_?fn|cite|label-|__\w|tab[-_=]|term-|page=|slide=|readme\Z"
    r"|user-content-fn|(?:[A-Za-z_]\w*\.)++(?!md\Z|html\Z)\w+\Z|.*[{}<>$*/=]",
    re.IGNORECASE,
)
"""The fragments that name no anchor of the text: places of a program, and names of code."""


def list_anchors(text: str, markup: Markup) -> frozenset[str] | None:
    """Return the anchors of a document, folded; None when not all of them are in its text."""
    if "```{" in text or _INCLUDES.search(_drop_blocks(text, markup)):
        return None  # the first begins a directive of MyST
    return frozenset(_list_folded(text, markup))


def _drop_blocks(text: str, markup: Markup) -> str:
    """Return a text without its blocks of code, whose signs are examples."""
    starts = [0, *(end for _, end in markup.code_blocks)]
    ends = [*(start for start, _ in markup.code_blocks), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _list_folded(text: str, markup: Markup) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for heading in markup.headings:
        key = fold_anchor(heading.text)
        if counts[key]:
            yield f"{key}{counts[key]}"
        counts[key] += 1
        yield from (key, f"{key}{counts[key]}", fold_anchor(heading.anchor or ""))
        yield fold_anchor(_drop_marks(heading.text))
        yield fold_anchor(_TAG.sub("", text[heading.start : heading.end]))
        yield from map(fold_anchor, _ARGUMENT.findall(heading.text))  # those of a shortcode
        if not key.isascii():
            yield _NUMBERED
    for one in markup.anchors:
        yield fold_anchor(one.anchor.removeprefix("user-content-"))
    for found in _ELSEWHERE.finditer(text):
        yield fold_anchor(_TAG.sub("", found[found.lastindex or 0]))
    fields = markup.front_matter.fields if markup.front_matter else ()
    yield from (fold_anchor(value) for name, value in fields if name in _TITLE_FIELDS)


def _drop_marks(text: str) -> str:
    """Return a text in which letters have no accents."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def fold_anchor(anchor: str) -> str:
    """Return the letters and digits of an anchor or of a heading, in one case."""
    if anchor.isascii():
        return _NO_LETTER.sub("", anchor.lower())
    folded = unicodedata.normalize("NFKC", anchor).casefold()
    return "".join(sign for sign in folded if sign.isalnum())


def is_anchor(fragment: str) -> bool:
    """Return whether a fragment is meant to name an anchor of the text."""
    return _OTHER_FRAGMENT.match(unquote(fragment)) is None


def has_anchor(anchors: frozenset[str], fragment: str) -> bool:
    """Return whether a fragment names one of the anchors.

    Note programs name a heading below another as `Heading#Lower heading`.
    """
    decoded = unquote(fragment).removeprefix("user-content-")
    last = decoded.rpartition("#")[2]
    key = fold_anchor(last)
    return (
        not key
        or key in anchors
        or (_NUMBERED in anchors and key.isdecimal())
        or fold_anchor(decoded) in anchors
        or fold_anchor(_drop_marks(last)) in anchors
    )
