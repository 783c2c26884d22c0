"""Drafts a golden set from the notes: questions made of their words, and some without an answer."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kebab.app.facade import Kebab
from kebab.evals.run import ProgressReporter
from kebab.evals.sampling import (
    Passage,
    Sentence,
    TermStatistics,
    compute_draw,
    sample_passages,
)
from kebab.text.normalize import escape_undecodable
from kebab.wire.golden import EvalDraft, GoldenQuery
from kebab.wire.library import ListRequest

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


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftOptions:
    """The number of answerable questions, and the seed of every random choice."""

    count: int = 50
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A golden set and the report on it."""

    queries: list[GoldenQuery]
    report: EvalDraft


@dataclass(frozen=True, slots=True)
class _QueryWriter:
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
    documents = kebab.list(ListRequest(limit=None))
    pool = _collect_pool(sample_passages(kebab, documents, options.seed), options.count, progress)
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


def _collect_pool(
    passages: Iterator[Passage], count: int, progress: ProgressReporter
) -> list[Passage]:
    """Return more passages with prose than needed, because some give no question."""
    wanted = count * _PASSAGES_PER_QUESTION
    pool = []
    for passage in islice((passage for passage in passages if passage.sentences), wanted):
        pool.append(passage)
        progress.report("read passages", len(pool), wanted)
    return pool


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
