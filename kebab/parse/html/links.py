"""Finds the links of a page to other files, and the styles that make headings of paragraphs."""

import re
from urllib.parse import unquote

from kebab.parse.html.words import unescape

_LINK = re.compile(r'\bhref="([^"#?]+)')
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_STYLE_NAME = re.compile(r"\b[pP]\.(\w+)[^{}]{0,200}\{[^{}]{0,40}style-name:\s*[\"']([^\"']+)[\"']")
_OUTLINE = re.compile(r"(?:\uac1c\uc694|outline|heading|\uc81c\ubaa9)\s*([1-9])", re.IGNORECASE)


def find_target(attributes: str) -> str:
    """Return the file that the attributes of a link name; empty for other targets."""
    if 'href="#' in attributes:
        return ""
    found = _LINK.search(attributes)
    target = unquote(unescape(found[1])).strip() if found else ""
    return "" if _SCHEME.match(target) else target


def find_heading_classes(styles: str) -> dict[str, int]:
    """Return the levels of the paragraph styles that Hangul exports as outline levels."""
    levels = {}
    for name, style in _STYLE_NAME.findall(styles):
        outline = _OUTLINE.match(style)
        if outline:
            levels[name] = int(outline[1])
    return levels
