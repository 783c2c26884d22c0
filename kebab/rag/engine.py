"""Answers a question: retrieves evidence, decides whether it suffices, and answers or refuses.

An answer is then checked for whether it is about what was asked. A name, a code or a number of the
question that the search calls absent makes it uncertain. Otherwise a small logistic model weighs
the signs that the cited passages are about something else, such as a number of the question that
they lack, or a word that the question denies. `python -m tools.quality absence` measures it;
`docs/notes/search-quality.md` has the figures. Of a quoted sentence it is also checked whether it
has the key terms of the question, by words or by the nearest token.
"""

import dataclasses
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.answers import LanguageModel, Turn
from kebab.core.queries import Page, Query, StoredChunk
from kebab.errors.catalog import InvalidInput
from kebab.rag.passages import Stretch, find_negated
from kebab.rag.prompt import Quote, SupportingQuote, remove_markers
from kebab.rag.sessions import build_standalone_question
from kebab.rag.values import Value, ValueKind, find_facts, is_content_word
from kebab.search.answerability import FAIR
from kebab.search.query_parser import EARLY
from kebab.search.snippet import weigh_keywords
from kebab.text.language import (
    AUXILIARIES,
    is_dense,
    is_function_word,
    is_question_word,
    iter_unit_matches,
    split_units,
)
from kebab.text.normalize import normalize_for_index
from kebab.text.tokenizer import collect_all_tokens, collect_tokens, tokenize_unit
from kebab.wire.ask import AnswerUsage, AnswerWarning, DoubtCode, RefusalName
from kebab.wire.coverage import Coverage, describe_absent_words, describe_gaps

MIN_ANSWERABILITY = FAIR
"""Below this answerability a question is refused."""

EMPTY_USAGE = AnswerUsage(
    prompt_tokens=0,
    completion_tokens=0,
    latency_ms=0.0,
    first_token_ms=None,
    finish_reason=None,
    truncated=False,
    downshifts=0,
)
"""The usage of an answer before any model call."""

REFUSALS: dict[RefusalName, str] = {
    "no_chunks": "Nothing in the notes could be found for this question.",
    "score_gate": "What was found in the notes is too weak to answer this question.",
    "llm_self_judge": "The notes do not answer this question.",
    "unsupported_claims": "An answer was withheld because the notes do not support it.",
    "llm_stream_aborted": "The answer was interrupted.",
    "empty_answer": "The model gave no answer.",
}
"""The sentences of refusals; they are English, like all messages."""

NOT_COVERED = "The files that are read so far do not answer this question."
"""The sentence of a refusal while the index does not cover all files."""


class DraftAnswer(Struct, frozen=True, kw_only=True):
    """An answer with its citations, or a refusal.

    `used` is the number of passages that the writer worked from. With `uncertain` the cited
    passages may be about something else than the question.
    """

    text: str = ""
    refusal: RefusalName | None = None
    citations: tuple[SupportingQuote, ...] = ()
    warnings: tuple[AnswerWarning, ...] = ()
    usage: AnswerUsage = EMPTY_USAGE
    used: int = 0
    uncertain: bool = False


AnswerWriter: TypeAlias = Callable[[str, Page, Sequence[Turn]], DraftAnswer]
"""Writes an answer to a question from the hits of a search and the turns before it."""


class AskOutcome(NamedTuple):
    """The question that was searched for, what was found, and the answer."""

    question: str
    page: Page
    draft: DraftAnswer


def answer_question(
    query: Query,
    search: Callable[[Query], Page],
    write: AnswerWriter,
    *,
    history: Sequence[Turn] = (),
    model: LanguageModel | None = None,
) -> AskOutcome:
    """Return an answer with checked claims, or a refusal.

    The text of the query is the question; a model completes it from the turns before. Errors of
    `LanguageModel.chat` propagate; `ContextOverflow` only when even the shortest prompt does not
    fit.

    Raises:
        InvalidInput: The question is empty.
    """
    if not query.text.strip():
        raise InvalidInput(field="$.question", cause="it is empty")
    started = time.perf_counter()
    question = build_standalone_question(query.text, history, model)
    page = search(dataclasses.replace(query, text=question))
    if not page.hits:
        draft = DraftAnswer(refusal="no_chunks")
    elif page.answerability < MIN_ANSWERABILITY:
        draft = DraftAnswer(refusal="score_gate")
    else:
        draft = write(question, page, history)
    if draft.refusal is None:
        draft = check_answer_terms(query.text, draft, page)
    latency_ms = round((time.perf_counter() - started) * 1000, 3)
    return AskOutcome(
        question,
        page,
        replace(
            draft,
            text=draft.text or (REFUSALS[draft.refusal] if draft.refusal else ""),
            usage=replace(draft.usage, latency_ms=latency_ms),
        ),
    )


_MESSAGES: Mapping[DoubtCode, str] = {
    "absent_term": "not in the notes",
    "name_not_cited": "not in the cited passages",
    "name_not_found": "in none of the passages that were found",
    "names_not_together": "not together in any passage that was found",
    "number_not_cited": "not in the cited passages",
    "number_not_found": "in none of the passages that were found",
    "negation_not_cited": "the question denies what the cited sentence affirms",
    "term_not_cited": "not in the cited sentence",
    "term_not_found": "in none of the passages that were found",
    "question_repeated": "the answer says nothing beyond the words of the question",
}
"""What each doubt says of its term."""


WEIGHTS: Mapping[DoubtCode, float] = {
    "name_not_cited": 2.8,
    "name_not_found": 2.6,
    "names_not_together": 2.2,
    "number_not_cited": 1.2,
    "number_not_found": 2.2,
    "negation_not_cited": 2.3,
    "absent_term": 9.0,
    "question_repeated": 9.0,
}
"""What each doubt takes from the logit; rounded from the fits with and without vectors.

The last two decide alone.
"""

START, ANSWERABILITY_WEIGHT = 0.5, 0.3
"""The logit without doubts at an answerability of .5, and the weight of that logit.

Both are set so that few answerable questions are flagged: 4 % of SQuAD 2.
"""

_MAX_LOGIT = 4.0


class Doubt(NamedTuple):
    """A doubt about an answer and the term of the question that raises it."""

    kind: DoubtCode
    term: str = ""

    def to_warning(self) -> AnswerWarning:
        """Return the doubt in words."""
        text = _MESSAGES[self.kind]
        message = f"{text}: {self.term}" if self.term else text
        return AnswerWarning(code=self.kind, message=message, marker=None, span=None)


def check_answer_terms(question: str, draft: DraftAnswer, page: Page) -> DraftAnswer:
    """Return an answer with the doubts about it from the passages that it cites.

    A name, a code or a number is absent where the search says so.
    """
    quotes = [citation.quote for citation in draft.citations]
    said = {unit.lower() for text in page.absent_terms for unit in (text, *split_units(text))}
    facts, words = find_facts(question, [hit.chunk.lang for hit in page.hits])
    names = [one.name for one in facts]
    absent = [one for one in names if not said.isdisjoint([one.lower(), *split_units(one.lower())])]
    others = [one for one in facts if one.name not in absent]
    doubts = [Doubt("absent_term", name) for name in dict.fromkeys(absent)]
    doubts += _compare_facts(others, quotes, page)
    if repeats_question(question, draft.text):
        doubts.append(Doubt("question_repeated"))
    if quotes:
        # What the question denies may be affirmed by the best quote.
        tokens = [token for word in words for token in word.tokens]
        best = max(
            quotes, key=lambda quote: sum(token in collect_tokens(quote.text) for token in tokens)
        )
        denied = find_negated(question) & collect_tokens(best.text) - find_negated(best.text)
        if denied:
            doubts.append(Doubt("negation_not_cited", min(denied)))
    probability = estimate_probability(doubts, page.answerability)
    doubted = bool(doubts and probability < MIN_PROBABILITY)
    warnings = (*draft.warnings, *(doubt.to_warning() for doubt in doubts))
    return replace(draft, warnings=warnings, uncertain=draft.uncertain or doubted)


LIST_NUMBER = re.compile(r"^[ \t>]*\d{1,2}[.)](?=\s)", re.MULTILINE)
_PAIRS = {"and", "und", "et", "y", "e", "и"}


def repeats_question(question: str, answer: str) -> bool:
    """Return whether an answer has no content word that the question does not have.

    A question without a question word, or with alternatives, may be answered so, and so may one
    that names two things when the answer selects one of them.
    """
    words, told = question.lower().split(), LIST_NUMBER.sub("", remove_markers(answer))
    # An English verb may be a question word of another language: `was`.
    opens = any(map(is_question_word, words[:EARLY])) and words[0] not in AUXILIARIES["en"].split()
    if not opens or not {"or", "oder", "ou", "или", "vs", "vs.", "versus"}.isdisjoint(words):
        return False
    # A model may say no more than that there is an answer in a passage.
    asked, held = collect_tokens(f"{question} answer passage"), collect_tokens(told)
    for at, word in enumerate(words):
        pair = [*filter(is_content_word, split_units(" ".join(words[at - 1 : at + 2 : 2])))]
        if word in _PAIRS and len(pair) > 1 and not held.issuperset(collect_all_tokens(pair)):
            return False
    said = filter(is_content_word, split_units(told))
    return all(asked.issuperset(tokenize_unit(normalize_for_index(word))) for word in said)


def estimate_probability(doubts: Sequence[Doubt], answerability: float) -> float:
    """Return the probability that an answer is about what was asked."""
    sure = 1 / (1 + math.exp(-_MAX_LOGIT))
    likely = min(max(answerability, 1 - sure), sure)
    kinds = {doubt.kind for doubt in doubts}
    logit = START + ANSWERABILITY_WEIGHT * math.log(likely / (1 - likely))
    logit -= sum(weight for kind, weight in WEIGHTS.items() if kind in kinds)
    return 1 / (1 + math.exp(-logit))


def _compare_facts(facts: Sequence[Value], quotes: Sequence[Quote], page: Page) -> list[Doubt]:
    """Return the names, numbers and codes that the cited passages lack, or no passage has all."""
    if not facts:
        return []
    cited = _join_texts(quote.chunk for quote in quotes)
    lacking = [one for one in facts if not cited.holds_asked(one)]
    if lacking:
        found = _join_texts(hit.chunk for hit in page.hits)
        doubts = []
        for one in lacking:
            code = f"{'name' if one.kind is ValueKind.NAME else 'number'}_not_"
            code += "cited" if found.holds_asked(one) else "found"
            doubts.append(Doubt(cast("DoubtCode", code), one.name))
        return doubts
    names = [one for one in facts if one.kind is ValueKind.NAME]
    if not names[1:]:
        return []
    chunks = (*(quote.chunk for quote in quotes), *(hit.chunk for hit in page.hits))
    for chunk in dict.fromkeys(chunks):
        if all(map(_join_texts([chunk]).holds_asked, names)):
            return []
    return [Doubt("names_not_together", ", ".join(one.name for one in names))]


MIN_PROBABILITY = 0.5
"""Below this probability an answer is uncertain."""

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
    return (Doubt("term_not_cited", next(words_of_term, "")),)


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


def _join_texts(chunks: Iterable[StoredChunk]) -> Stretch:
    """Return the text of some passages with their titles, headings and paths."""
    texts = (text for one in chunks for text in (one.text, one.title, *one.heading_path, one.path))
    return Stretch("\n".join(dict.fromkeys(texts)))


def explain_coverage(
    draft: DraftAnswer, coverage: Coverage | None, *, by_words: bool
) -> DraftAnswer:
    """Return an answer that states no absence that the index does not cover."""
    gaps = describe_gaps(coverage, "convincing", by_words=by_words)
    # These refusals say that the notes do not answer a question.
    if draft.refusal not in {"no_chunks", "score_gate", "llm_self_judge"} or not gaps:
        warnings = list(draft.warnings)
        for number, one in enumerate(warnings):
            if one.code == "absent_term":  # a file that is not searched may hold it
                term = one.message.partition(": ")[2]
                message = describe_absent_words(term, coverage, "the notes")
                warnings[number] = replace(one, message=message)
        return replace(draft, warnings=(*warnings,))
    message = f"not everything is searched: {gaps}"
    warning = AnswerWarning(code="incomplete_coverage", message=message, marker=None, span=None)
    return replace(draft, text=NOT_COVERED, warnings=(*draft.warnings, warning))
