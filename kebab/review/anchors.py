"""Lists the anchors of a document, and compares the fragments of links with them.

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
    r"--8<--|\{!|\{%-?[ \t]*\w*(?:include|render|partial)\w*"
    r"|\{\{[<%]?[ \t]*#?[\w-]*(?:include|readfile|partial)|\{\{[^{}<%]*\}\}"
    r"|(?m:^:::[ \t]+(?:\w+\.\w|mkdocs-)|^```\{(?:include|eval-rst|auto\w+)|^[ \t]*!?include::)"
    r"|(?m:^import\s[^\n]+\.mdx?['\"]|^\.\. \w+::)|<[A-Z]\w*[^<>]*/>"
)
"""What puts further text, and so further anchors, into a page."""

_INCLUDE_SIGNS = ("--8<--", "{!", "{%", "{{", ":::", "```{", "include::", "import ", ".. ", "/>")

_SHORTCODE_NAME = re.compile(r"\{\{[<%][^{}]*\b(?:name|id|anchor)\s*=\s*\"([^\"{}]+)\"")
_SHORTCODE_ARGUMENT = re.compile(r"\"([^\"]+)\"")
_COMMON_TITLES = ("beforeyoubegin", "whatsnext", "seealso", "cleaningup", "cleanup", "objectives")
"""The anchors of headings that sites write as shortcodes, for translation."""

_TRANSLATED = "*"
"""Stands for the anchors of titles that a site writes in another script."""

_MAX_TABS = 12

_OTHER_FRAGMENT = re.compile(
    r"\Z|top\Z|L\d+|:~:|[!/]|fn|cite|__tabbed|tab[-_=]|term-|page=|slide=|user-content-fn|.*[{}<>$*]|.*=",
    re.IGNORECASE,
)
"""The fragments that name no anchor of the text."""


def list_anchors(text: str, markup: Markup) -> frozenset[str] | None:
    """Return the anchors of a document, folded; None when not all of them are in its text."""
    if any(sign in text for sign in _INCLUDE_SIGNS) and _INCLUDES.search(text):
        return None
    found = frozenset(_list_folded(markup))
    return found.union(_list_generated(text, markup)) if "{{" in text else found


def _list_folded(markup: Markup) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for heading in markup.headings:
        key = fold_anchor(heading.text)
        yield key
        if heading.anchor:
            yield fold_anchor(heading.anchor)
        if counts[key]:
            yield f"{key}{counts[key]}"
        counts[key] += 1
        yield f"{key}{counts[key]}"
    for one in markup.anchors:
        yield fold_anchor(one.anchor)


def _list_generated(text: str, markup: Markup) -> Iterator[str]:
    """Yield the anchors that shortcodes may generate: those of tabs and of translated headings."""
    for shortcode in _SHORTCODE_NAME.finditer(text):
        key = fold_anchor(shortcode[1])
        yield key
        yield from (f"{key}{number}" for number in range(_MAX_TABS))
    for heading in markup.headings:
        if "{{" in heading.text:
            yield _TRANSLATED
            yield from _COMMON_TITLES
            yield from (fold_anchor(one) for one in _SHORTCODE_ARGUMENT.findall(heading.text))


def fold_anchor(anchor: str) -> str:
    """Return the letters and digits of an anchor or of a heading, in one case."""
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
    if not key or (_TRANSLATED in anchors and not key.isascii()):
        return True
    return key in anchors or fold_anchor(decoded) in anchors
