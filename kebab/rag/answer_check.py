"""Checks whether an answer is about what was asked.

Two things are looked for. A key term of the question that occurs nowhere in the notes is absent:
the notes cannot answer about it. Otherwise a small logistic model weighs the signs that the cited
passages are about something else, such as a number of the question that they lack, or a word that
the question denies. `python -m tools.quality absence` measures it;
`docs/notes/search-quality.md` has the figures.

Of a quoted sentence it is also checked whether it has the key terms of the question, by words or by
the nearest token.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from kebab.core.answers import Quote
from kebab.core.queries import Page, StoredChunk
from kebab.rag.checking.passages import find_negated
from kebab.rag.question_terms import EvidenceWords, QuestionTerm, TermKind
from kebab.search.snippet import weigh_keywords
from kebab.text.language import is_dense, iter_unit_matches, split_units
from kebab.text.normalize import normalize_for_index
from kebab.text.stop_words import is_function_word
from kebab.text.tokenizer import collect_all_tokens, collect_tokens, tokenize, tokenize_unit


class DoubtKind(StrEnum):
    """Why an answer may not be about what was asked; the value is the code of its warning."""

    ABSENT_TERM = "absent_term"
    """A key term of the question occurs nowhere in the notes."""
    NAME_NOT_CITED = "name_not_cited"
    """A name of the question is not in the cited passages, only in others that were found."""
    NAME_NOT_FOUND = "name_not_found"
    """A name of the question is in none of the passages that were found."""
    NAMES_APART = "names_not_together"
    """No passage that was found has all names and codes of the question, though each occurs."""
    NUMBER_NOT_CITED = "number_not_cited"
    """A number or code of the question is not in the cited passages, only in others."""
    NUMBER_NOT_FOUND = "number_not_found"
    """A number or code of the question is in none of the passages that were found."""
    NEGATION = "negation_not_cited"
    """The question denies a word that the cited sentence affirms."""
    TERM_NOT_CITED = "term_not_cited"
    """A key term of the question is not in the best quote, nor near a word of it."""
    TERM_NOT_FOUND = "term_not_found"
    """A rare word of the question is in none of the passages that were found, nor near a quote."""


_MESSAGES: Mapping[DoubtKind, str] = {
    DoubtKind.ABSENT_TERM: "not in the notes",
    DoubtKind.NAME_NOT_CITED: "not in the cited passages",
    DoubtKind.NAME_NOT_FOUND: "in none of the passages that were found",
    DoubtKind.NAMES_APART: "not together in any passage that was found",
    DoubtKind.NUMBER_NOT_CITED: "not in the cited passages",
    DoubtKind.NUMBER_NOT_FOUND: "in none of the passages that were found",
    DoubtKind.NEGATION: "the question denies what the cited sentence affirms",
    DoubtKind.TERM_NOT_CITED: "not in the cited sentence",
    DoubtKind.TERM_NOT_FOUND: "in none of the passages that were found",
}


_LACKS = {
    (TermKind.NAME, True): DoubtKind.NAME_NOT_CITED,
    (TermKind.NAME, False): DoubtKind.NAME_NOT_FOUND,
    (TermKind.NUMBER, True): DoubtKind.NUMBER_NOT_CITED,
    (TermKind.NUMBER, False): DoubtKind.NUMBER_NOT_FOUND,
    (TermKind.CODE, True): DoubtKind.NUMBER_NOT_CITED,
    (TermKind.CODE, False): DoubtKind.NUMBER_NOT_FOUND,
}
"""The doubt about a term that the cited passages lack; True when another passage has it."""


WEIGHTS: Mapping[DoubtKind, float] = {
    DoubtKind.NAME_NOT_CITED: 2.8,
    DoubtKind.NAME_NOT_FOUND: 2.6,
    DoubtKind.NAMES_APART: 2.2,
    DoubtKind.NUMBER_NOT_CITED: 1.2,
    DoubtKind.NUMBER_NOT_FOUND: 2.2,
    DoubtKind.NEGATION: 2.3,
}
"""What each doubt takes from the logit; rounded from the fits with and without vectors."""

START, ANSWERABILITY_WEIGHT = 0.5, 0.3
"""The logit without doubts at an answerability of .5, and the weight of that logit.

Both are set so that few answerable questions are flagged: 4 % of SQuAD 2.
"""

_MAX_LOGIT = 4.0


class Doubt(NamedTuple):
    """A doubt about an answer and the term of the question that raises it."""

    kind: DoubtKind
    term: str = ""

    @property
    def message(self) -> str:
        """The doubt in words."""
        text = _MESSAGES[self.kind]
        return f"{text}: {self.term}" if self.term else text


class AnswerCheck(NamedTuple):
    """The doubts about an answer, and the probability that it is about what was asked."""

    doubts: tuple[Doubt, ...]
    probability: float

    @property
    def uncertain(self) -> bool:
        """Whether the answer should be shown as uncertain."""
        absent = any(doubt.kind is DoubtKind.ABSENT_TERM for doubt in self.doubts)
        return absent or (bool(self.doubts) and self.probability < MIN_PROBABILITY)


CountOccurrences = Callable[[Collection[str]], Mapping[str, int]]
"""Returns in how many passages of the notes each index token occurs."""


def find_absent_terms(
    terms: Sequence[QuestionTerm], page: Page, count_occurrences: CountOccurrences
) -> list[QuestionTerm]:
    """Return the key terms that occur nowhere in the notes, also not misspelt in the hits.

    The search says what is absent; of that, a plain word counts only when it looks like the name of
    a product, not like a paraphrase. Of a name, the absent words are returned.
    """
    said = {unit.lower() for text in page.absent_terms for unit in (text, *split_units(text))}
    parts = [part for term in terms for part in term.split_words() if part.text.lower() in said]
    roots = {
        part: _list_roots(part)
        for part in parts
        if part.kind is not TermKind.WORD or _is_rare(part, page)
    }
    counts = count_occurrences({token for tokens in roots.values() for token in tokens})
    absent = [part for part, tokens in roots.items() if not any(counts[one] for one in tokens)]
    if not absent:
        return []
    found = EvidenceWords(_list_texts(hit.chunk for hit in page.hits))
    return [part for part in absent if not found.contains(part)]


def is_decisive(terms: Sequence[QuestionTerm], absent: Collection[QuestionTerm]) -> bool:
    """Return whether a question about absent terms has no answer: a whole name or a code is absent.

    A number may be an example of the person who asks, and a plain word a paraphrase.
    """
    for term in terms:
        is_long = len(term.text) >= _LONG_ACRONYM or not term.text.isupper()
        is_name = term.kind is TermKind.NAME and is_long
        is_code = term.kind is TermKind.CODE and len(term.text) >= _LONG_CODE
        if (is_name or is_code) and all(part in absent for part in term.split_words()):
            return True
    return False


def check_answer_terms(
    question: str,
    terms: Sequence[QuestionTerm],
    absent: Sequence[QuestionTerm],
    quotes: Sequence[Quote],
    page: Page,
) -> AnswerCheck:
    """Return the doubts about an answer from the passages that it cites.

    `terms` are the key terms of the question, `absent` those that occur nowhere in the notes.
    """
    doubts = [Doubt(DoubtKind.ABSENT_TERM, term.text) for term in absent]
    others = [term for term in terms if not any(part in absent for part in term.split_words())]
    doubts += _compare_terms(others, quotes, page)
    if quotes:
        # What the question denies may be affirmed by the best quote.
        tokens = [token for term in others for word in term.words for token in word]
        best = max(
            quotes, key=lambda quote: sum(token in collect_tokens(quote.text) for token in tokens)
        )
        denied = find_negated(question) & collect_tokens(best.text) - find_negated(best.text)
        if denied:
            doubts.append(Doubt(DoubtKind.NEGATION, min(denied)))
    return AnswerCheck(tuple(doubts), estimate_probability(doubts, page.answerability))


def estimate_probability(doubts: Sequence[Doubt], answerability: float) -> float:
    """Return the probability that an answer is about what was asked."""
    kinds = {doubt.kind for doubt in doubts}
    logit = START + ANSWERABILITY_WEIGHT * compute_logit(answerability)
    logit -= sum(weight for kind, weight in WEIGHTS.items() if kind in kinds)
    return 1 / (1 + math.exp(-logit))


def compute_logit(probability: float) -> float:
    """Return the logit of a probability within limits."""
    if probability <= 0:
        return -_MAX_LOGIT
    if probability >= 1:
        return _MAX_LOGIT
    return max(-_MAX_LOGIT, min(_MAX_LOGIT, math.log(probability / (1 - probability))))


def _compare_terms(
    terms: Sequence[QuestionTerm], quotes: Sequence[Quote], page: Page
) -> list[Doubt]:
    """Return the names, numbers and codes that the cited passages lack, or no passage has all."""
    facts = [term for term in terms if term.kind is not TermKind.WORD]
    if not facts:
        return []
    cited = EvidenceWords(_list_texts(quote.chunk for quote in quotes))
    lacking = [term for term in facts if not cited.contains(term)]
    if lacking:
        found = EvidenceWords(_list_texts(hit.chunk for hit in page.hits))
        return [Doubt(_LACKS[term.kind, found.contains(term)], term.text) for term in lacking]
    names = [term for term in facts if term.kind is not TermKind.NUMBER]
    if not names[1:]:
        return []
    chunks = (*(quote.chunk for quote in quotes), *(hit.chunk for hit in page.hits))
    for chunk in dict.fromkeys(chunks):
        words = EvidenceWords([*_list_texts(iter([chunk])), chunk.path])
        if all(map(words.contains, names)):
            return []
    return [Doubt(DoubtKind.NAMES_APART, ", ".join(term.text for term in names))]


MIN_PROBABILITY = 0.5
"""Below this probability an answer is uncertain."""

_STARTS = ("un", "in", "im", "dis", "mis", "non", "re", "over", "under", "out", "pre", "de")
_ORDINARY_ENDS = (
    "ing ed est ly ness ity ance ence ism ship hood ful less able ible ous ive ise ize ify"
)
_ENDS = tuple(_ORDINARY_ENDS.split())
"""The ends of words that a question often says otherwise than the notes.

Nouns in `ion` and `ment` name things: `deceleration` or `regression` that occurs nowhere is asked
for, not reworded. None of 1,000 answerable questions of SQuAD 2 has such a word.
"""

_MIN_RARE = 4
"""Shorter words are neither names of products nor roots."""

_MIN_RARITY = 6.5
"""A word that occurs nowhere is so rare in notes of about 1,000 passages.

In fewer notes ordinary words are missing too, so there only names, codes and numbers are absent.
"""

_LONG_ACRONYM, _LONG_CODE = 6, 4
"""Shorter ones, such as `RAM` and `2FA`, may be written out in the notes."""


_QUOTE_START, _SHARE_WEIGHT = -3.4, 1.5
_RAREST_WEIGHT, _RAREST_WEIGHT_BY_WORDS = 0.6, 0.42
"""A logistic model; above 0 a quote does not give what is asked for.

It weighs the share of the key terms that is not covered, and the rarity of the least covered one
(with and without vectors). The weights are rounded from fits on one half of the questions; the
start is set so that at most .05 of those with an answer are marked.
"""


def check_quote(
    question: str, rarities: Mapping[str, float], quote: Quote, nearness: Mapping[str, float] | None
) -> tuple[Doubt, ...]:
    """Return why a quote does not give what a question asks for; nothing when it may give it.

    A word that the quote lacks counts as covered as far as a token of the quote is near it.
    `rarities` are those of the terms of the question, `nearness` the best cosine of each term with
    a token of the quote; None without vectors.
    """
    chunk, keywords = quote.chunk, weigh_keywords(rarities)
    tokens = collect_all_tokens((quote.text, chunk.title, *chunk.heading_path, chunk.context))
    gaps = {
        term: weight * (1 - max(0.0, (nearness or {}).get(term, 0.0)))
        for term, weight in keywords.items()
        if term not in tokens and not is_function_word(term)
    }
    # Pairs of characters overlap the borders of words, so a single one that is lacking says little.
    words = {term: gap for term, gap in gaps.items() if not is_dense(term)}
    least = max(words, key=words.__getitem__, default="")
    rarest_weight = _RAREST_WEIGHT_BY_WORDS if nearness is None else _RAREST_WEIGHT
    logit = (
        _QUOTE_START
        + _SHARE_WEIGHT * sum(gaps.values()) / (sum(keywords.values()) or 1.0)
        + rarest_weight * words.get(least, 0.0)
    )
    if logit <= 0 or not gaps:
        return ()
    term = least or max(gaps, key=gaps.__getitem__)
    words_of_term = (
        question[start:end] for one, start, end in locate_terms(question) if one == term
    )
    return (Doubt(DoubtKind.TERM_NOT_CITED, next(words_of_term, "")),)


def locate_terms(question: str) -> Iterator[tuple[str, int, int]]:
    """Yield the index terms of a question with the [start, end) of the words that they stand for.

    Of a script without blanks each pair of characters is a term.
    """
    for unit in iter_unit_matches(question):
        start, end = unit.span()
        parts = [(start, end)]
        if is_dense(unit[0]):
            parts = [
                (place, min(place + 2, end)) for place in range(start, max(start + 1, end - 1))
            ]
        for first, last in parts:
            for term in tokenize_unit(normalize_for_index(question[first:last])):
                yield term, first, last


def _list_texts(chunks: Iterator[StoredChunk]) -> list[str]:
    return [text for chunk in chunks for text in (chunk.text, chunk.title, *chunk.heading_path)]


def _list_roots(term: QuestionTerm) -> Sequence[str]:
    """Return the index tokens of which one occurs when a term is not absent.

    The parts of a code say nothing. Of a plain word its root counts too: `trained` for `untrained`.
    """
    tokens = term.words[0]
    if term.kind is TermKind.CODE:
        return [max(tokens, key=len)]
    if term.kind is not TermKind.WORD:
        return tokens
    lower = term.text.lower()
    starts = (lower[len(start) :] for start in _STARTS if lower.startswith(start))
    return [*tokens, *(tokenize(rest)[0] for rest in starts if len(rest) >= _MIN_RARE)]


def _is_rare(word: QuestionTerm, page: Page) -> bool:
    """Return whether a plain word may be the name of a product that the notes do not mention."""
    lower = word.text.lower()
    if len(lower) < _MIN_RARE or "'" in lower or lower.endswith(_ENDS):
        return False
    return min(page.term_rarities.get(token, 0.0) for token in word.words[0]) >= _MIN_RARITY
