"""Drafts golden questions from the notes."""

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
    list_all_documents,
    sample_passages,
)
from kebab.text.normalize import escape_undecodable
from kebab.wire.golden import EvalDraft, GoldenQuery

_SYLLABLES = re.findall(
    r"\w+",
    "bra ce di fo gu ka lem mor ni pla qui ra sto tu vex wi xor yan zel trop nim dag fel hov",
)
_RARE = {"ko": (0xAC00, 11_172), "ja": (0x30A1, 80), "zh": (0x4E00, 20_900)}
"""By language, where its letters begin and how many there are."""


def generate_word(language: str | None, seed: int, number: int) -> str:
    """Return a word that looks like one of a language; the same lots give the same word."""
    letters = range(4)
    if language in _RARE:
        start, count = _RARE[language]
        return "".join(chr(start + compute_draw(seed, number, at) % count) for at in letters)
    return "".join(_SYLLABLES[compute_draw(seed, number, at) % len(_SYLLABLES)] for at in letters)


_POOL = 3
"""How many passages are looked at for each question."""
_KEPT = 0.7
"""The share of a sentence's words that are kept."""
_LONGEST, _FEWEST, _TELLING = 8, 4, 3
_NOTHING = 5
"""One question that nothing answers comes on so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftOptions:
    """How many questions, and what they are drawn by."""

    count: int = 50
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Questions, and what is told of them."""

    queries: list[GoldenQuery]
    report: EvalDraft


@dataclass(frozen=True, slots=True)
class _QueryWriter:
    """What questions are made with."""

    rarity: TermStatistics
    seed: int

    def sentence(self, passage: Passage) -> GoldenQuery | None:
        """Return most words of a sentence, in order, the rest left out at random."""
        usable = [one for one in passage.sentences if len(self._words(one)) >= _FEWEST]
        if not usable:
            return None
        chosen = min(usable, key=lambda one: compute_draw(self.seed, passage.doc, one.text))
        words = self._words(chosen)
        keep = min(_LONGEST, len(words) - 1, math.ceil(len(words) * _KEPT))
        lots = sorted(words, key=lambda one: compute_draw(self.seed, chosen.text, one))
        kept = set(lots[:keep])
        return _query([one for one in words if one in kept], passage, chosen, "sentence")

    def rarest(self, passage: Passage) -> GoldenQuery | None:
        """Return the rarest words of the longest sentence, in order."""
        chosen = max(passage.sentences, key=lambda one: len(self._words(one)), default=None)
        if chosen is None or len(self._words(chosen)) < _FEWEST:
            return None
        words = self.rarity.rarest(self._words(chosen), _TELLING)
        return _query(words, passage, chosen, "rarest")

    def heading(self, passage: Passage) -> GoldenQuery | None:
        """Return the words of the heading and one rare word from below it."""
        title = self.rarity.telling(passage.heading)[: _FEWEST - 1]
        said = {one.lower() for one in title}
        others = [one for one in self.rarity.telling(passage.text) if one.lower() not in said]
        if not title or not others:
            return None
        whole = Sentence(passage.text, passage.first, passage.last)
        return _query([*title, *self.rarity.rarest(others, 1)], passage, whole, "heading")

    def nothing(self, number: int, lang: str | None) -> GoldenQuery:
        """Return two words that nobody wrote; every other question has one that is there, too."""
        made = (generate_word(lang, self.seed, number * _POOL + at) for at in range(1000))
        new = (one for one in made if not self.rarity.knows(one))
        words = [*islice(new, 2)]
        common = self.rarity.frequent()
        if number % 2 and common:
            words.insert(1, common[compute_draw(self.seed, number) % len(common)])
        return GoldenQuery(
            id=f"none-{number}", query=" ".join(words), answerable=False, kind="nonsense"
        )

    def _words(self, sentence: Sentence) -> list[str]:
        return self.rarity.telling(sentence.text)


def draft_golden_set(
    kebab: Kebab, path: Path, options: DraftOptions, pace: ProgressReporter
) -> Draft:
    """Return a golden set of the notes, and what is told of it.

    Raises:
        NotIndexed: There is no index.
    """
    documents = list_all_documents(kebab)
    pool = _pool(sample_passages(kebab, documents, options.seed), options.count, pace)
    maker = _QueryWriter(TermStatistics([one.text for one in pool]), options.seed)
    made = list(islice(_known(maker, pool), options.count))
    langs = [passage.lang for passage, _ in made]
    queries = [query for _, query in made]
    nothing = [
        maker.nothing(number, langs[number % len(langs)])
        for number in range(math.ceil(len(made) / _NOTHING))
    ]
    report = EvalDraft(
        path=escape_undecodable(str(path)),
        written=bool(queries),
        wanted=options.count,
        answerable=len(queries),
        unanswerable=len(nothing),
        documents=len({one.doc for one in queries}),
        by_language=dict(sorted(Counter(lang or "unknown" for lang in langs).items())),
        by_kind=dict(Counter(str(one.kind) for one in [*queries, *nothing])),
        seed=options.seed,
        corpus_revision=documents.corpus_revision,
    )
    return Draft(queries=[*queries, *nothing], report=report)


def _pool(found: Iterator[Passage], count: int, pace: ProgressReporter) -> list[Passage]:
    """Return passages with prose, more than are needed, for some give no question."""
    wanted = count * _POOL
    pool = []
    for passage in islice((one for one in found if one.sentences), wanted):
        pool.append(passage)
        pace.at("read passages", len(pool), wanted)
    return pool


def _known(maker: _QueryWriter, pool: Sequence[Passage]) -> Iterator[tuple[Passage, GoldenQuery]]:
    """Yield questions with their passages, of each kind in turn where a passage gives it."""
    kinds: tuple[Callable[[Passage], GoldenQuery | None], ...] = (
        maker.sentence,
        maker.rarest,
        maker.heading,
    )
    asked: set[str] = set()
    for passage in pool:
        turn = len(asked) % len(kinds)
        tries = (make(passage) for make in (*kinds[turn:], *kinds[:turn]))
        query = next((one for one in tries if one is not None and one.query not in asked), None)
        if query is not None:
            asked.add(query.query)
            yield passage, query


def _query(words: Sequence[str], passage: Passage, place: Sentence, kind: str) -> GoldenQuery:
    return GoldenQuery(
        id=f"{kind}-{compute_draw(passage.doc, place.text):016x}",
        query=" ".join(words),
        doc=passage.doc,
        line_start=place.first,
        line_end=place.last,
        kind=kind,
    )
