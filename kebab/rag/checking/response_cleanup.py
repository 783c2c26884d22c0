"""What models put around an answer: a fence around all of it, definitions of footnotes, sources.

Citations are made from what was checked, so a list of sources by the model says nothing.
"""

import re

from kebab.rag.checking.markers import find_fenced_blocks, find_markers, is_inside

_WHOLE = re.compile(r"\s*(`{3,}|~{3,})[ \t]*(?:markdown|md|text|plaintext)?[ \t]*\n", re.IGNORECASE)
_DEFINITION = re.compile(r"^[ \t]{0,3}\[(?P<note>\^?)[^\[\]\n]{1,40}\]:[ \t]*", re.MULTILINE)
_NUMBERED = re.compile(r"[ \t]{0,3}\[\^?(?:\d{1,9}|[^\[\]\n]{1,20} \d{1,3})\]:")
_LISTS = (
    "sources?|references?|citations?|cited passages?|bibliography|footnotes?|quellen(?:angaben)?"
    "|références?|fuentes?|referencias|fonti|bronnen"
    "|출처|참고(?: ?문헌| ?자료)?|인용"
    "|出典|参考(?:文献|資料|资料)?|引用(?:元)?"
    "|来源|來源|參考(?:文獻|資料)"
)
_LIST = re.compile(
    rf"[ \t]{{0,3}}(?:#{{1,6}}[ \t]+)?[*_]{{0,3}}(?:{_LISTS})[*_]{{0,3}}[ \t]{{0,3}}"
    r"(?P<colon>[:\uff1a]?)[*_]{0,3}(?P<rest>[^\n]*+)$",
    re.IGNORECASE | re.MULTILINE,
)
_SIGN = re.compile(
    r"[ \t]*(?P<item>[-*+\u2022\u30fb]|\d{1,3}[.)])?[ \t]*[*_]{0,3}(?:passages?|sources?)?[ \t]*",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\[\^?[^\[\]\n]{1,40}\]")


def clean_response(text: str) -> str:
    """Return an answer without what stands around it."""
    return _without_list(_without_definitions(_without_fence(text)))


def _without_fence(text: str) -> str:
    """Return what a fence holds that holds everything."""
    opened = _WHOLE.match(text)
    if opened is None:
        return text
    inner, fence, after = text[opened.end() :].rpartition("\n" + opened[1])
    return inner if fence and not after.strip() and not find_fenced_blocks(inner) else text


def _without_definitions(text: str) -> str:
    """Return a text without footnotes, and without numbers that are explained as such."""
    definitions = list(_DEFINITION.finditer(text))
    if not definitions:
        return text
    code, first = find_fenced_blocks(text), _first_labels(text)
    parts: list[str] = []
    at = 0
    for found in definitions:
        if found.start() < at or is_inside(code, found.start()):
            continue
        next_one = bool(parts) and found.start() == at
        referred = next_one or first[found[0].strip()[:-1]] < found.start()
        if found["note"] or (referred and _NUMBERED.match(found[0])):
            parts.append(text[at : found.start()])
            at = _end(text, found.end())
    return "".join([*parts, text[at:]])


def _first_labels(text: str) -> dict[str, int]:
    """Return what stands in square brackets, with where it stands first."""
    first: dict[str, int] = {}
    for label in _LABEL.finditer(text):
        first.setdefault(label[0], label.start())
    return first


def _end(text: str, place: int) -> int:
    """Return where a definition ends, the indented lines below it included."""
    while True:
        newline = text.find("\n", place)
        if newline < 0:
            return len(text)
        place = newline + 1
        if not text.startswith(("    ", "\t"), place):
            return place


def _without_list(text: str) -> str:
    """Return a text without the list of sources at its end, if there is a cited text before it."""
    code = find_fenced_blocks(text)
    heads = [one for one in _LIST.finditer(text) if not is_inside(code, one.start())]
    if not heads or not find_markers(text[: heads[-1].start()]):
        return text
    head = heads[-1]
    lines = [line for line in text[head.end() :].split("\n") if line.strip()]
    if _says(head["rest"], listed=bool(head["colon"])) or any(_says(line) for line in lines):
        return text
    return text[: head.start()].rstrip()


def _says(line: str, *, listed: bool = False) -> bool:
    """Return whether a line says something and lists no source; `listed` when it is an item."""
    sign = _SIGN.match(line)
    if sign is None or not line.strip():
        return False
    places = find_markers(line)
    return places[0].start > sign.end() if places else not (listed or sign["item"])
