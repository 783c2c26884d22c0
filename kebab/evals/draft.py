"""Drafts a golden set from samples of the notes.

Questions made of their words, and some without an answer.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from kebab.app.facade import Kebab
from kebab.evals.run import ProgressReporter
from kebab.text.normalize import escape_undecodable
from kebab.text.sentences import LayoutKind, find_sentences
from kebab.wire.evals import EvalDraft, GoldenQuery
from kebab.wire.library import (
    DocList,
    DocSummary,
    FetchChunkRequest,
    InspectDocRequest,
    ListRequest,
)
from kebab.wire.record import NotFound

T = TypeVar("T")

_NO_PROSE = re.compile(r"\s*(#|\||<|={3}|-{3}|\+{3}|\[[^\]]+\]:|\{[{%]|\w[\w-]*:\s*\S*$)|\s{4}|\t")
_PROSE = frozenset({LayoutKind.PROSE, LayoutKind.ITEM})
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_TAG = re.compile(r"\{\{.{0,200}?\}\}|\{%.{0,200}?%\}|<[^<>]*>", re.DOTALL)
_URL = re.compile(r"(?<!\w)\w+://\S+|(?<!\S)[^\s@]++@\S+")
_QUOTE = re.compile(r"\n[ \t]*>+[ \t]?")

_HAN, _KANA, _HANGUL = "\u4e00-\u9fff々", "ァ-\u30faー", "가-힣"
_HIRAGANA = "ぁ-\u3096"
_LETTER = rf"[^\W_{_HAN}{_KANA}{_HANGUL}{_HIRAGANA}]"
_TERM = re.compile(
    rf"[{_HAN}]+|[{_KANA}]{{2,}}|[{_HANGUL}]{{2,}}|{_LETTER}{{2,}}(?:['’_.-]{_LETTER}+)*"
)
_FUNCTION_CHARACTER = re.compile("[的了和是在与及而对为就都也有这那其被把从到等之所以并或]")
_PARTICLE = re.compile(
    "(?<=..)(?:에서는|에서|에게|까지|부터|으로|이며|하고|하는|합니다|은|는|이|가|을|를|에|의|로|과|와|도|만)$"
)
_MAX_HAN_LENGTH = 6
_STOP_WORDS = frozenset(
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

_MAX_PASSAGES_PER_DOCUMENT = 20
_DRAW_BYTES = 8


class Sentence(Struct, frozen=True):
    """A sentence without its markup, and its lines, first and last inclusive."""

    text: str
    first: int
    last: int


class Passage(Struct, frozen=True, kw_only=True):
    """A passage with its sentences."""

    doc: str
    lang: str | None
    first: int
    last: int
    heading: str
    sentences: list[Sentence]

    @property
    def text(self) -> str:
        """The text of all sentences."""
        return "\n".join(sentence.text for sentence in self.sentences)


def compute_draw(*parts: object) -> int:
    """Return a number that depends on nothing but the parts, such as a seed and a name."""
    joined = "\0".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(joined).digest()[:_DRAW_BYTES])


def shuffle(items: Iterable[T], seed: int, get_name: Callable[[T], object]) -> list[T]:
    """Return items in an order that depends on the seed and their names alone."""
    return sorted(items, key=lambda item: compute_draw(seed, get_name(item)))


def sample_passages(kebab: Kebab, documents: DocList, seed: int) -> Iterator[Passage]:
    """Yield passages of each language in turn, and of each of its documents in turn.

    Documents whose file has changed are left out, because their line numbers may be wrong.
    """
    # Shuffled documents; the languages take turns.
    counts: Counter[str | None] = Counter()
    ranked = []
    for one in shuffle(documents.documents, seed, lambda one: one.doc_path):
        if one.freshness in ("fresh", "published") and one.chunk_count:
            counts[one.lang] += 1
            ranked.append((counts[one.lang], one))
    ordered = [one for _, one in sorted(ranked, key=lambda pair: pair[0])]
    for rotation in range(_MAX_PASSAGES_PER_DOCUMENT):
        for document in ordered:
            passage = _fetch_passage(kebab, document, rotation, seed)
            if passage is not None:
                yield passage


def _fetch_passage(kebab: Kebab, document: DocSummary, rotation: int, seed: int) -> Passage | None:
    """Return the next passage of a document, or None when it has no more."""
    if rotation >= document.chunk_count:
        return None
    inspection = kebab.run(InspectDocRequest(name=document.doc_id))
    if isinstance(inspection, NotFound) or rotation >= len(inspection.chunks):
        return None
    chunks = shuffle(inspection.chunks, seed, lambda one: f"{document.doc_path} {one.ordinal}")
    chunk = chunks[rotation]
    lines = kebab.run(FetchChunkRequest(name=chunk.chunk_id))
    if isinstance(lines, NotFound):
        return None
    return Passage(
        doc=document.doc_path,
        lang=document.lang,
        first=lines.start_line,
        last=lines.end_line,
        heading=chunk.heading_path[-1] if chunk.heading_path else "",
        sentences=list(find_prose_sentences(lines.text, lines.start_line)),
    )


def find_prose_sentences(text: str, first: int) -> Iterator[Sentence]:
    """Yield the sentences of prose of a passage; `first` is the number of its first line."""
    prose = _blank_other_lines(text, at_start=first == 1)
    for start, end, kind in find_sentences(prose):
        if kind in _PROSE:
            line = first + prose.count("\n", 0, start)
            sentence = prose[start:end]
            yield Sentence(_strip_markup(sentence), line, line + sentence.count("\n"))


def _strip_markup(sentence: str) -> str:
    """Replace links by their text, and remove URLs, tags and quote marks."""
    plain = _LINK.sub(r"\1", _QUOTE.sub("\n", sentence))
    return _URL.sub(" ", _TAG.sub(" ", plain))


def _blank_other_lines(text: str, *, at_start: bool) -> str:
    """Replace front matter and lines that are no prose by empty lines."""
    lines = text.split("\n")
    head = _count_frontmatter_lines(lines) if at_start else 0
    return "\n".join(
        "" if number < head or _NO_PROSE.match(line) else line for number, line in enumerate(lines)
    )


def _count_frontmatter_lines(lines: list[str]) -> int:
    mark = lines[0].rstrip()
    if mark not in ("---", "+++"):
        return 0
    ends = (number for number, line in enumerate(lines) if number and line.rstrip() == mark)
    return next(ends, -1) + 1


def extract_terms(sentence: str) -> list[str]:
    """Return the content words of a sentence, in order, each once."""
    found = (piece for match in _TERM.finditer(sentence) for piece in _split_word(match[0]))
    return list(dict.fromkeys(one for one in found if one.lower() not in _STOP_WORDS))


def _split_word(word: str) -> Iterable[str]:
    if re.match(f"[{_HAN}]", word):
        return [run[:_MAX_HAN_LENGTH] for run in _FUNCTION_CHARACTER.split(word) if len(run) > 1]
    return [_PARTICLE.sub("", word)]


class TermStatistics:
    """Document frequencies of terms in a sample of passages."""

    _MAX_SHARE = 0.2
    _MIN_PASSAGES = 20
    """Fewer passages do not show which words are common."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._size = len(passages)
        self._count = Counter(
            word for text in passages for word in {one.lower() for one in extract_terms(text)}
        )

    def select_keywords(self, sentence: str) -> list[str]:
        """Return the terms of a sentence without those of more than a fifth of the passages."""
        words = extract_terms(sentence)
        if self._size < self._MIN_PASSAGES:
            return words
        limit = self._size * self._MAX_SHARE
        return [word for word in words if self._count[word.lower()] <= limit]

    def select_rarest(self, words: Sequence[str], count: int) -> list[str]:
        """Return the rarest words in their original order; of equals the longer ones."""
        ranked = sorted(words, key=lambda one: (self._count[one.lower()], -len(one)))
        chosen = set(ranked[:count])
        return [word for word in words if word in chosen]

    def __contains__(self, word: str) -> bool:
        return word.lower() in self._count

    def list_repeated(self) -> list[str]:
        """Return the words of at least two passages, the most frequent first."""
        return [word for word, count in self._count.most_common() if count > 1]


_SYLLABLES = re.findall(
    r"\w+",
    "bra ce di fo gu ka lem mor ni pla qui ra sto tu vex wi xor yan zel trop nim dag fel hov",
)
_LETTERS = {"ko": (0xAC00, 11_172), "ja": (0x30A1, 80), "zh": (0x4E00, 20_900)}
"""By language, the code point of its first letter and how many letters there are."""
_WORD_PARTS = 4
_PASSAGES_PER_QUESTION = 3
_SENTENCE_SHARE = 0.7
"""The share of a sentence's words that a question has."""
_MAX_WORDS, _MIN_WORDS, _RARE_WORDS = 8, 4, 3
_ANSWERABLE_PER_UNANSWERABLE = 5
_WORD_CANDIDATES = 1000


def generate_word(language: str | None, seed: int, number: int) -> str:
    """Return a made-up word in the script of a language; the same seed gives the same word."""
    draws = [compute_draw(seed, number, part) for part in range(_WORD_PARTS)]
    if language in _LETTERS:
        start, count = _LETTERS[language]
        return "".join(chr(start + draw % count) for draw in draws)
    return "".join(_SYLLABLES[draw % len(_SYLLABLES)] for draw in draws)


class DraftOptions(Struct, frozen=True, kw_only=True):
    """The number of answerable questions, and the seed of every random choice."""

    count: int = 50
    seed: int = 1


class Draft(Struct, frozen=True, kw_only=True):
    """A golden set and the report on it."""

    queries: list[GoldenQuery]
    report: EvalDraft


class _QueryWriter(Struct, frozen=True):
    """Writes questions from passages."""

    statistics: TermStatistics
    seed: int

    def write_from_sentence(self, passage: Passage) -> GoldenQuery | None:
        """Return most words of a sentence, in order, the rest left out at random."""
        usable = [
            sentence
            for sentence in passage.sentences
            if len(self._select_words(sentence)) >= _MIN_WORDS
        ]
        if not usable:
            return None
        chosen = min(usable, key=lambda one: compute_draw(self.seed, passage.doc, one.text))
        words = self._select_words(chosen)
        count = min(_MAX_WORDS, len(words) - 1, math.ceil(len(words) * _SENTENCE_SHARE))
        drawn = sorted(words, key=lambda one: compute_draw(self.seed, chosen.text, one))[:count]
        return _build_query([word for word in words if word in drawn], passage, chosen, "sentence")

    def write_from_rare_words(self, passage: Passage) -> GoldenQuery | None:
        """Return the rarest words of the longest sentence, in order."""
        chosen = max(passage.sentences, key=lambda one: len(self._select_words(one)), default=None)
        if chosen is None or len(self._select_words(chosen)) < _MIN_WORDS:
            return None
        words = self.statistics.select_rarest(self._select_words(chosen), _RARE_WORDS)
        return _build_query(words, passage, chosen, "rarest")

    def write_from_heading(self, passage: Passage) -> GoldenQuery | None:
        """Return the words of the heading and one rare word from the text below it."""
        title = self.statistics.select_keywords(passage.heading)[: _MIN_WORDS - 1]
        used = {one.lower() for one in title}
        below = self.statistics.select_keywords(passage.text)
        others = [one for one in below if one.lower() not in used]
        if not title or not others:
            return None
        whole = Sentence(passage.text, passage.first, passage.last)
        words = [*title, *self.statistics.select_rarest(others, 1)]
        return _build_query(words, passage, whole, "heading")

    def write_unanswerable(self, number: int, lang: str | None) -> GoldenQuery:
        """Return two made-up words; every other question also has a word of the notes."""
        first = number * _PASSAGES_PER_QUESTION
        candidates = (
            generate_word(lang, self.seed, first + offset) for offset in range(_WORD_CANDIDATES)
        )
        words = [
            *islice((candidate for candidate in candidates if candidate not in self.statistics), 2)
        ]
        repeated = self.statistics.list_repeated()
        if number % 2 and repeated:
            words.insert(1, repeated[compute_draw(self.seed, number) % len(repeated)])
        return GoldenQuery(
            id=f"none-{number}", query=" ".join(words), answerable=False, kind="nonsense"
        )

    def _select_words(self, sentence: Sentence) -> list[str]:
        return self.statistics.select_keywords(sentence.text)


def draft_golden_set(
    kebab: Kebab, path: Path, options: DraftOptions, progress: ProgressReporter
) -> Draft:
    """Return a golden set of the notes, and the report on it.

    Raises:
        NotIndexed: There is no index.
    """
    documents = kebab.run(ListRequest(limit=None))
    # More passages with prose than needed, because some give no question.
    passages = sample_passages(kebab, documents, options.seed)
    wanted = options.count * _PASSAGES_PER_QUESTION
    pool = []
    for passage in islice((passage for passage in passages if passage.sentences), wanted):
        pool.append(passage)
        progress.report("read passages", len(pool), wanted)
    writer = _QueryWriter(TermStatistics([one.text for one in pool]), options.seed)
    answerable = list(islice(_write_answerable(writer, pool), options.count))
    langs = [passage.lang for passage, _ in answerable]
    queries = [query for _, query in answerable]
    unanswerable = [
        writer.write_unanswerable(number, langs[number % len(langs)])
        for number in range(math.ceil(len(queries) / _ANSWERABLE_PER_UNANSWERABLE))
    ]
    report = EvalDraft(
        path=escape_undecodable(str(path)),
        written=bool(queries),
        wanted=options.count,
        answerable=len(queries),
        unanswerable=len(unanswerable),
        documents=len({query.doc for query in queries}),
        by_language=dict(sorted(Counter(lang or "unknown" for lang in langs).items())),
        by_kind=dict(Counter(str(one.kind) for one in [*queries, *unanswerable])),
        seed=options.seed,
        corpus_revision=documents.corpus_revision,
    )
    return Draft(queries=[*queries, *unanswerable], report=report)


def _write_answerable(
    writer: _QueryWriter, pool: Sequence[Passage]
) -> Iterator[tuple[Passage, GoldenQuery]]:
    """Yield questions with their passages; the kinds take turns where a passage allows it."""
    kinds: tuple[Callable[[Passage], GoldenQuery | None], ...] = (
        writer.write_from_sentence,
        writer.write_from_rare_words,
        writer.write_from_heading,
    )
    written: set[str] = set()
    for passage in pool:
        turn = len(written) % len(kinds)
        tries = (write(passage) for write in (*kinds[turn:], *kinds[:turn]))
        query = next((one for one in tries if one and one.query not in written), None)
        if query is not None:
            written.add(query.query)
            yield passage, query


def _build_query(
    words: Sequence[str], passage: Passage, source: Sentence, kind: str
) -> GoldenQuery:
    return GoldenQuery(
        id=f"{kind}-{compute_draw(passage.doc, source.text):016x}",
        query=" ".join(words),
        doc=passage.doc,
        line_start=source.first,
        line_end=source.last,
        kind=kind,
    )
