"""Removes additions of models to an answer: an enclosing fence, footnotes, a list of sources.

The frame of the prompt is removed too.
Citations are built from the checked claims, so a list of sources by the model is redundant.
"""

import re

from kebab.rag.checking.markers import find_fenced_blocks, find_markers, is_inside
from kebab.rag.frame import remove_frame

_ENCLOSING_FENCE = re.compile(
    r"\s*(`{3,}|~{3,})[ \t]*(?:markdown|md|text|plaintext)?[ \t]*\n", re.IGNORECASE
)
_MARKED_FENCE = re.compile(
    r"^(?P<fence>(?P<indent>[ \t>]*)(?:`{3,}|~{3,}))[ \t]+(?P<markers>(?:\[\d{1,3}\][ \t]*)+)$",
    re.MULTILINE,
)
"""Markers on the line that closes a block, which does not close it therefore."""

_FOOTNOTE = re.compile(r"^[ \t]{0,3}\[(?P<note>\^?)[^\[\]\n]{1,40}\]:[ \t]*", re.MULTILINE)
_NUMBERED_FOOTNOTE = re.compile(r"[ \t]{0,3}\[\^?(?:\d{1,9}|[^\[\]\n]{1,20} \d{1,3})\]:")
_LIST_TITLES = (
    "sources?|references?|citations?|cited passages?|bibliography|footnotes?|quellen(?:angaben)?"
    "|références?|fuentes?|referencias|fonti|bronnen"
    "|출처|참고(?: ?문헌| ?자료)?|인용"
    "|出典|参考(?:文献|資料|资料)?|引用(?:元)?"
    "|来源|來源|參考(?:文獻|資料)"
)
_LIST = re.compile(
    rf"[ \t]{{0,3}}(?:#{{1,6}}[ \t]+)?[*_]{{0,3}}(?:{_LIST_TITLES})[*_]{{0,3}}[ \t]{{0,3}}"
    r"(?P<colon>[:\uff1a]?)[*_]{0,3}(?P<rest>[^\n]*+)$",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM_PREFIX = re.compile(
    r"[ \t]*(?P<item>[-*+\u2022\u30fb]|\d{1,3}[.)])?[ \t]*[*_]{0,3}(?:passages?|sources?)?[ \t]*",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\[\^?[^\[\]\n]{1,40}\]")


def clean_response(text: str, *, keeps_elements: bool = False) -> str:
    """Return an answer without the frame of the prompt, fence, footnotes and list of sources.

    Args:
        text: The response of the model.
        keeps_elements: Whether tags such as `<passage>` stay.
    """
    unframed = remove_frame(text, keeps_elements=keeps_elements)
    plain = text if unframed == text else unframed.strip().removesuffix("<").rstrip()
    plain = _MARKED_FENCE.sub(r"\g<fence>\n\g<indent>\g<markers>", plain)
    return _remove_source_list(_remove_footnotes(_remove_fence(plain)))


def _remove_fence(text: str) -> str:
    """Return the content of a fence that encloses the whole text."""
    opened = _ENCLOSING_FENCE.match(text)
    if opened is None:
        return text
    inner, fence, after = text[opened.end() :].rpartition("\n" + opened[1])
    return inner if fence and not after.strip() and not find_fenced_blocks(inner) else text


def _remove_footnotes(text: str) -> str:
    """Return a text without footnotes and without definitions of numbers used before."""
    footnotes = list(_FOOTNOTE.finditer(text))
    if not footnotes:
        return text
    code = find_fenced_blocks(text)
    first_use: dict[str, int] = {}
    for label in _LABEL.finditer(text):
        first_use.setdefault(label[0], label.start())
    parts: list[str] = []
    position = 0
    for found in footnotes:
        if found.start() < position or is_inside(code, found.start()):
            continue
        is_next = bool(parts) and found.start() == position
        is_used = is_next or first_use[found[0].strip()[:-1]] < found.start()
        if found["note"] or (is_used and _NUMBERED_FOOTNOTE.match(found[0])):
            parts.append(text[position : found.start()])
            position = _find_footnote_end(text, found.end())
    return "".join([*parts, text[position:]])


def _find_footnote_end(text: str, position: int) -> int:
    """Return the end of a footnote with the indented lines below it."""
    while True:
        newline = text.find("\n", position)
        if newline < 0:
            return len(text)
        position = newline + 1
        if not text.startswith(("    ", "\t"), position):
            return position


def _remove_source_list(text: str) -> str:
    """Return a text with citations without the list of sources at its end."""
    code = find_fenced_blocks(text)
    titles = [one for one in _LIST.finditer(text) if not is_inside(code, one.start())]
    if not titles or not find_markers(text[: titles[-1].start()]):
        return text
    title = titles[-1]
    lines = [line for line in text[title.end() :].split("\n") if line.strip()]
    if _is_prose(title["rest"], is_item=bool(title["colon"])) or any(map(_is_prose, lines)):
        return text
    return text[: title.start()].rstrip()


def _is_prose(line: str, *, is_item: bool = False) -> bool:
    """Return whether a line is neither blank nor an entry of a list of sources."""
    prefix = _ITEM_PREFIX.match(line)
    if prefix is None or not line.strip():
        return False
    markers = find_markers(line)
    return markers[0].start > prefix.end() if markers else not (is_item or prefix["item"])
