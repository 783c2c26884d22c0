"""Finds the links of a page to other files, and the styles that make headings of paragraphs."""

import re
from urllib.parse import unquote

from kebab.parse.html.tags import get_attribute
from kebab.parse.html.words import unescape

_SUFFIX = re.compile("[#?]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_STYLE_NAME = re.compile(r"\b[pP]\.(\w+)[^{}]{0,200}\{[^{}]{0,40}style-name:\s*[\"']([^\"']+)[\"']")
_OUTLINE = re.compile(r"(?:\uac1c\uc694|outline|heading|\uc81c\ubaa9)\s*([1-9])", re.IGNORECASE)


def find_target(tag: str) -> str:
    """Return the file that the tag of a link names; empty for other targets."""
    value = get_attribute(tag, "href")
    if not value or value[0] == "#" or _SCHEME.match(value):
        return ""
    return unquote(unescape(_SUFFIX.split(value, maxsplit=1)[0])).strip()


def find_heading_classes(styles: str) -> dict[str, int]:
    """Return the levels of the paragraph styles that Hangul exports as outline levels."""
    levels = {}
    for name, style in _STYLE_NAME.findall(styles):
        outline = _OUTLINE.match(style)
        if outline:
            levels[name] = int(outline[1])
    return levels
