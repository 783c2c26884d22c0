"""Samples passages of the notes, their sentences and terms."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kebab.app.facade import Kebab
from kebab.text.layout import LayoutKind
from kebab.text.sentences import find_sentences
from kebab.wire.library import (
    DocList,
    DocSummary,
    FetchChunkRequest,
    InspectDocRequest,
    ListRequest,
    NotFound,
)

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


def find_prose_sentences(text: str, first: int) -> Iterator[Sentence]:
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


T = TypeVar("T")

_BYTES = 8


def compute_draw(*what: object) -> int:
    """Return the lot of a thing; `what` names it, and the seed."""
    named = "\0".join(map(str, what)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(named).digest()[:_BYTES])


def shuffle(things: Iterable[T], seed: int, name: Callable[[T], object]) -> list[T]:
    """Return things in the order of their lots."""
    return sorted(things, key=lambda one: compute_draw(seed, name(one)))


_ROUNDS = 20
"""The most passages of one document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One passage with its sentences."""

    doc: str
    lang: str | None
    first: int
    last: int
    heading: str
    sentences: list[Sentence]

    @property
    def text(self) -> str:
        """All that it says."""
        return "\n".join(one.text for one in self.sentences)


def sample_passages(kebab: Kebab, documents: DocList, seed: int) -> Iterator[Passage]:
    """Yield passages: of each language in turn, of each of its documents in turn.

    A document whose file has changed is left out, for its lines are others now.
    """
    for rotation in range(_ROUNDS):
        for document in _in_turn(documents, seed):
            chosen = _nth(kebab, document, rotation, seed)
            if chosen is not None:
                yield chosen


def _in_turn(documents: DocList, seed: int) -> list[DocSummary]:
    """Return documents in the order of their lots, no language before the others had one."""
    places: dict[str | None, int] = {}
    ranked = []
    for one in shuffle(documents.documents, seed, lambda one: one.doc_path):
        if one.freshness == "fresh" and one.chunk_count:
            place = places[one.lang] = places.get(one.lang, 0) + 1
            ranked.append((place, one))
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def _nth(kebab: Kebab, document: DocSummary, rotation: int, seed: int) -> Passage | None:
    """Return the passage of a document whose turn it is, None when it has no more or no prose."""
    if rotation >= document.chunk_count:
        return None
    seen = kebab.inspect_doc(InspectDocRequest(name=document.doc_id))
    if isinstance(seen, NotFound) or rotation >= len(seen.chunks):
        return None
    chunk = shuffle(seen.chunks, seed, lambda one: f"{document.doc_path} {one.ordinal}")[rotation]
    lines = kebab.fetch_chunk(FetchChunkRequest(name=chunk.chunk_id))
    if isinstance(lines, NotFound):
        return None
    found = list(find_prose_sentences(lines.text, lines.start_line))
    return Passage(
        doc=document.doc_path,
        lang=document.lang,
        first=lines.start_line,
        last=lines.end_line,
        heading=chunk.heading_path[-1] if chunk.heading_path else "",
        sentences=found,
    )


def list_all_documents(kebab: Kebab) -> DocList:
    """Return the whole list of documents."""
    return kebab.list(ListRequest(limit=None))


_HAN, _KANA, _HANGUL = "\u4e00-\u9fff\u3005", "\u30a1-\u30fa\u30fc", "\uac00-\ud7a3"
_HIRAGANA = "\u3041-\u3096"
_LETTER = rf"[^\W_{_HAN}{_KANA}{_HANGUL}{_HIRAGANA}]"
_TERM = re.compile(
    rf"[{_HAN}]+|[{_KANA}]{{2,}}|[{_HANGUL}]{{2,}}|{_LETTER}{{2,}}(?:['\u2019_.-]{_LETTER}+)*"
)
_BINDING = re.compile("[的了和是在与及而对为就都也有这那其被把从到等之所以并或]")
_PARTICLE = re.compile(
    "(?<=..)(?:에서는|에서|에게|까지|부터|으로|이며|하고|하는|합니다|은|는|이|가|을|를|에|의|로|과|와|도|만)$"
)
_LONGEST_HAN = 6
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
about after all also an and any are as at be been before being but by can could did do does during
each for from had has have he her his how if in into is it its may more most must no not of on one
only or other our out over she should so some such than that the their them then there these they
this those through to under until up was we were what when where which while who why will with
would you your
""",
    )
)


def extract_terms(sentence: str) -> list[str]:
    """Return the words of a sentence that may mean something, in order, each once."""
    found = (piece for match in _TERM.finditer(sentence) for piece in _pieces(match[0]))
    return list(dict.fromkeys(one for one in found if one.lower() not in _COMMON))


def _pieces(word: str) -> Iterable[str]:
    if re.match(f"[{_HAN}]", word):
        return [run[:_LONGEST_HAN] for run in _BINDING.split(word) if len(run) > 1]
    return [_PARTICLE.sub("", word)]


class TermStatistics:
    """How rare words are among the passages that were looked at."""

    _FREQUENT = 0.2
    _ENOUGH = 20
    """Fewer passages cannot tell which words are in every other one."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._size = len(passages)
        self._count = Counter(
            word for text in passages for word in {one.lower() for one in extract_terms(text)}
        )

    def telling(self, sentence: str) -> list[str]:
        """Return the words of a sentence without those that are nearly everywhere."""
        few = self._size < self._ENOUGH
        limit = self._size * self._FREQUENT
        return [one for one in extract_terms(sentence) if few or self._count[one.lower()] <= limit]

    def rarest(self, words: Sequence[str], count: int) -> list[str]:
        """Return the rarest words, in the order in which they stand; of equals the longer."""
        ranked = sorted(words, key=lambda one: (self._count[one.lower()], -len(one)))
        kept = set(ranked[:count])
        return [one for one in words if one in kept]

    def knows(self, word: str) -> bool:
        """Return whether a word occurs."""
        return word.lower() in self._count

    def frequent(self) -> list[str]:
        """Return the words that are in several passages, the commonest first."""
        return [word for word, count in self._count.most_common() if count > 1]
