"""The sentences of running text in a passage, each with its lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kebab.text.layout import LayoutKind
from kebab.text.sentences import find_sentences

_NO_PROSE = re.compile(r"\s*(#|\||<|={3}|-{3}|\+{3}|\[[^\]]+\]:|\{[{%]|\w[\w-]*:\s*\S*$)|\s{4}|\t")
_PROSE = frozenset({LayoutKind.PROSE, LayoutKind.ITEM})
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<[^<>]*>", re.DOTALL)
_ADDRESS = re.compile(r"\w+://\S+|\S+@\S+")
_QUOTE = re.compile(r"\n[ \t]*>+[ \t]?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without its markup, and the lines on which it stands, inclusive."""

    text: str
    first: int
    last: int


def sentences(text: str, first: int) -> Iterator[Sentence]:
    """Yield the sentences of prose of a passage whose first line has this number."""
    prose = _blank_other_lines(text, at_start=first == 1)
    for start, end, kind in find_sentences(prose):
        if kind in _PROSE:
            line = first + prose.count("\n", 0, start)
            found = prose[start:end]
            yield Sentence(_strip_markup(found), line, line + found.count("\n"))


def _strip_markup(sentence: str) -> str:
    """Return a sentence with the text of its links, and without addresses, tags and quote signs."""
    plain = _LINK.sub(r"\1", _QUOTE.sub("\n", sentence))
    return _ADDRESS.sub(" ", _TAG.sub(" ", plain))


def _blank_other_lines(text: str, *, at_start: bool) -> str:
    """Return a text with empty lines for front matter and for lines that are no prose."""
    lines = text.split("\n")
    head = _head(lines) if at_start else 0
    return "\n".join(
        "" if number < head or _NO_PROSE.match(line) else line for number, line in enumerate(lines)
    )


def _head(lines: list[str]) -> int:
    """Return how many lines the front matter of a file takes."""
    mark = lines[0].rstrip()
    if mark not in ("---", "+++"):
        return 0
    ends = (place for place, line in enumerate(lines) if place and line.rstrip() == mark)
    return next(ends, -1) + 1
