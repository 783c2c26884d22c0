"""The sentences of running text in a passage, each with its lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"\s*(```|~~~)")
_NO_PROSE = re.compile(r"\s*(#|\||<|={3}|-{3}|\+{3}|\[[^\]]+\]:|\{[{%]|\w[\w-]*:\s*\S*$)|\s{4}|\t")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?|\s*>+\s?")
_SENTENCE = re.compile(r"\S.*?(?:[.!?]+(?=\s)|[。！？]+|\Z)", re.DOTALL)  # noqa: RUF001 - the full-width ones are meant
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<[^<>]*>", re.DOTALL)
_ADDRESS = re.compile(r"\w+://\S+|\S+@\S+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without its markup, and the lines on which it stands, inclusive."""

    text: str
    first: int
    last: int


def sentences(text: str, first: int) -> Iterator[Sentence]:
    """Yield the sentences of a passage whose first line has this number."""
    for start, lines in _paragraphs(text, first):
        whole = "\n".join(lines)
        for found in _SENTENCE.finditer(whole):
            line = start + whole.count("\n", 0, found.start())
            plain = _ADDRESS.sub(" ", _TAG.sub(" ", _LINK.sub(r"\1", found[0])))
            yield Sentence(plain, line, line + found[0].rstrip().count("\n"))


def _paragraphs(text: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield runs of lines of prose, each with the number of its first line."""
    run: list[str] = []
    fenced = False
    lines = [*text.split("\n"), ""]
    head = _head(lines) if first == 1 else 0
    for number, line in enumerate(lines[head:], first + head):
        fenced ^= bool(_FENCE.match(line))
        prose = not (fenced or _FENCE.match(line) or _NO_PROSE.match(line)) and line.strip()
        item = _ITEM.match(line)
        if run and (not prose or item):
            yield number - len(run), run
            run = []
        if prose:
            run.append(line[item.end() :] if item else line)


def _head(lines: list[str]) -> int:
    """Return how many lines the front matter of a file takes."""
    mark = lines[0].rstrip()
    if mark not in ("---", "+++"):
        return 0
    ends = (place for place, line in enumerate(lines) if place and line.rstrip() == mark)
    return next(ends, -1) + 1
