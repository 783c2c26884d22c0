"""Removes from Markdown what a reader of an excerpt does not need.

These are link targets, images, badges, HTML, comments, shortcodes, and the syntax of wiki links,
callouts and heading attributes. Code stays as it is.
"""

import re
from collections.abc import Callable

_BLOCKS = (
    " blockquote br caption center details div dd dl dt figcaption figure footer h1 h2 h3 h4 h5 h6"
    " header hr iframe li main nav ol p picture pre section summary table tbody tfoot thead tr ul "
)
_CELLS = " td th "
_INLINE = (
    " a abbr b big cite code col colgroup del em font i img ins kbd mark q s samp small source span"
    " strike strong sub sup svg tt u var video "
)
"""The elements of HTML that are removed; other names in angle brackets are placeholders."""
_BADGES = re.compile(r"shields\.io|badge|/actions/workflows/|travis-ci|codecov", re.IGNORECASE)

_TARGET = r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
_CUT_TARGET = r"\([^()\s]*\Z"
_LABEL = r"(?:[^\[\]\\`]|\\.|`[^`]*`|\[[^\[\]]*\])*"
_NOISE = re.compile(
    r"(?P<fence>^[ \t>]*(?P<mark>`{3,}|~{3,})[^\n]*$(?:.*?^[ \t>]*(?P=mark)[`~]*[ \t]*$|.*\Z))"
    r"|(?P<code>(?P<ticks>`+)(?!`)[^\n]*?[^`\n](?P=ticks)(?!`))"
    r"|(?P<comment><!--.*?(?:-->|\Z)|%%[^%\n]+%%)"
    r"|(?P<shortcode>\{\{[<%].*?(?:[%>]\}\}|\Z))"
    rf"|(?P<badge>\[!\[[^\[\]]*\]{_TARGET}\](?:{_TARGET}|\[[^\[\]]*\]))"
    rf"|(?P<image>!\[(?P<alt>[^\[\]]*)\](?P<source>{_TARGET}|{_CUT_TARGET}))"
    r"|(?P<wiki>!?\[\[(?![\s\[])(?P<page>[^\[\]|\n]+)(?:\|(?P<alias>[^\[\]\n]+))?\]\])"
    r"|(?P<definition>^ {0,3}\[(?!\^)[^\[\]\n]+\]:[ \t]+\S+[^\n]*$)"
    rf"|(?P<link>\[(?P<label>{_LABEL})\](?:{_TARGET}|{_CUT_TARGET}|\[[^\[\]\n]*\]))"
    r"|(?P<address><(?:https?|mailto|ftp):[^<>\s]+>)"
    r"|(?P<element></?(?P<tag>[A-Za-z][A-Za-z0-9]*)\b[^<>]*(?:>|\Z))"
    r"|(?P<attributes>[ \t]*\{[#:][^{}\n]*\}[ \t]*$)",
    re.MULTILINE | re.DOTALL,
)
_CALLOUT = re.compile(r"^([ \t]*>[ \t]*)\[!(\w+)\][+-]?[ \t]*([^\n]*)", re.MULTILINE)
_TEXT_OF_SHORTCODE = re.compile(r"\btext=\"([^\"]*)\"")
_EMPTY_LINES = re.compile(r"(?:[ \t]*\n){3,}")
_WORTH = re.compile(r"[\[<{]|%%")


def clean_markdown(text: str, *, emphasis: bool = True) -> str:
    """Return Markdown without noise; `emphasis` marks the kind of a callout with asterisks."""
    if not _WORTH.search(text):
        return text
    mark = "**" if emphasis else ""
    text = _CALLOUT.sub(lambda match: _format_callout(match, mark), text)
    text = _NOISE.sub(_replace, text)
    return _EMPTY_LINES.sub("\n\n", text).strip("\n")


def _format_callout(match: re.Match[str], mark: str) -> str:
    """Return the first line of a callout: its kind, its title, and a hard line break."""
    margin, kind, title = match.groups()
    name = kind.capitalize()
    label = f"{name}: {title.rstrip()}" if title.strip() else name
    goes_on = match.string.startswith("\n", match.end())
    return f"{margin}{mark}{label}{mark}" + ("\\" if mark and goes_on else "")


def _replace(match: re.Match[str]) -> str:
    """Return what remains of one piece of noise."""
    replace = _REPLACEMENTS.get(match.lastgroup or "")
    return replace(match) if replace else ""


def _keep(match: re.Match[str]) -> str:
    return match[0]


def _replace_shortcode(match: re.Match[str]) -> str:
    text = _TEXT_OF_SHORTCODE.search(match[0])
    return text[1] if text else ""


def _replace_image(match: re.Match[str]) -> str:
    return "" if _BADGES.search(match["source"]) else str(match["alt"])


def _replace_wiki_link(match: re.Match[str]) -> str:
    page = match["page"].removesuffix("\\")
    return str(match["alias"] or page.replace("#", " > ").removeprefix(" > "))


def _replace_link(match: re.Match[str]) -> str:
    """Return the text of a link; an empty one stays as it is, because it may be a checkbox."""
    label = match["label"]
    return _NOISE.sub(_replace, label) if label.strip() else match[0]


def _replace_element(match: re.Match[str]) -> str:
    """Return a line break or a space for an element of HTML; other names are placeholders."""
    name = f" {match['tag'].lower()} "
    if name in _BLOCKS:
        return "\n"
    return " " if name in _CELLS else "" if name in _INLINE else match[0]


_REPLACEMENTS: dict[str, Callable[[re.Match[str]], str]] = {
    "fence": _keep,
    "code": _keep,
    "shortcode": _replace_shortcode,
    "image": _replace_image,
    "wiki": _replace_wiki_link,
    "link": _replace_link,
    "address": lambda match: match[0][1:-1],
    "element": _replace_element,
}
"""What replaces a piece of noise, by the group that matches; other noise is removed."""
