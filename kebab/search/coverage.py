"""Computes the share of a query's keywords that a passage holds.

A passage such as `## Requirements` with one line of text has every term of the title above it, and
answers nothing. So in a short passage its title and the headings above its own count less. A long
passage need not repeat what it is about.
"""

import math
import re
from collections.abc import Collection, Mapping

from kebab.core.ids import Key
from kebab.core.queries import StoredChunk
from kebab.search.snippet import PassageCache
from kebab.text.scripts import is_dense
from kebab.text.tokenizer import collect_tokens

_QUESTION_BIGRAMS_BY_LANGUAGE = {
    "Korean": (
        "얼마 마나 무엇 엇을 엇이 엇인 어디 디서 디에 언제 제인 누가 누구 구인 어떻 떻게 어떤 며칠"
        " 나요 까요 니까 인가 가요 뭐야 은가 는가 였나 했나 한가 느냐 을까 일까"
    ),
    "Japanese": (
        "何で 何が 何を 何と 何年 は何 誰が 誰で は誰 です すか ます どこ いつ だれ なに なぜ どの"
        " どん はど のか たか たの るか はい のは"
    ),
    "Chinese": (
        "什么 什麼 多少 哪里 哪裡 哪个 哪個 哪些 怎么 怎麼 怎样 为什 為什 是谁 是誰 谁是 几个 幾個"
        " 何时 何時 是什 么是 如何"
    ),
}
QUESTION_BIGRAMS = frozenset(
    gram for grams in _QUESTION_BIGRAMS_BY_LANGUAGE.values() for gram in grams.split()
)
_is_hiragana = re.compile("[\u3041-\u309f]+").fullmatch
_HIRAGANA_WEIGHT = 0.3
"""The weight of a bigram of Hiragana alone: particles and endings, seldom a name."""

_DENSE_DISCOUNT = 0.3
"""The share of a query in bigrams that no passage repeats: they overlap word borders."""

_BEGINNING = 4
_COMMON_SHARE = 0.65
"""Forms of one word share so many first letters, and such a share of the longer one."""

_LONG_BODY = 20
"""A body with so many tokens counts in full."""

_LONG_TEXT = 240
"""A longer text has so many tokens in any script; it is not counted."""

_READ_LIMIT = 30
"""How many of the best candidates are read: the same section recurs in many documents."""

_LOSS = 0.8
"""The share of its score that an empty passage loses when its terms are all inherited."""


def weigh_keywords(rarities: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of the terms without question words, unless nothing else is left."""
    weights = {
        term: weight * (_HIRAGANA_WEIGHT if _is_hiragana(term) else 1.0)
        for term, weight in rarities.items()
        if term not in QUESTION_BIGRAMS
    }
    return weights or dict(rarities)


def compute_coverage(keywords: Mapping[str, float], tokens: Collection[str]) -> float:
    """Return the weighted share of keywords that some tokens hold, from 0 to 1.

    A share of the bigrams is not expected, because no passage repeats them.
    """
    held = sum(weight for term, weight in keywords.items() if term in tokens)
    dense = sum(weight for term, weight in keywords.items() if is_dense(term))
    expected = sum(keywords.values()) - _DENSE_DISCOUNT * dense
    return min(1.0, held / (expected or 1.0))


def compute_own_coverage(
    keywords: Mapping[str, float], chunk: StoredChunk, passages: PassageCache
) -> float:
    """Return the coverage of a passage, in which a short body gives inherited terms less weight.

    A term is inherited when only the title or the headings above the passage's own have it. Another
    form of a keyword counts as the keyword.
    """
    held = select_held(keywords, passages.tokenize_passage(chunk))
    share = compute_inherited_share(keywords, chunk, passages)
    return compute_coverage(keywords, held) * (1 - share)


def select_held(keywords: Mapping[str, float], tokens: Collection[str]) -> set[str]:
    """Return the keywords that some tokens hold, as they are or in another inflected form.

    Forms of one word share their beginning. English words are stems already; in other languages a
    right passage often has another form than the question.
    """
    held = {term for term in keywords if term in tokens}
    for term in keywords.keys() - held:
        if len(term) > _BEGINNING and term.isalpha() and not is_dense(term):
            start = term[:_BEGINNING]
            if any(_is_form(term, token) for token in tokens if token.startswith(start)):
                held.add(term)
    return held


def _is_form(left: str, right: str) -> bool:
    """Return whether two words with a common beginning are forms of one word."""
    longest = max(len(left), len(right))
    needed = math.ceil(_COMMON_SHARE * longest)
    return left[:needed] == right[:needed]


def compute_inherited_share(
    keywords: Mapping[str, float], chunk: StoredChunk, passages: PassageCache
) -> float:
    """Return the share of a passage's coverage that is inherited, from 0 for a long body to 1."""
    if len(chunk.text) > _LONG_TEXT:
        return 0.0
    whole = compute_coverage(keywords, passages.tokenize_passage(chunk))
    body = passages.tokenize_body(chunk)
    heading = chunk.heading_path[-1] if chunk.heading_path else chunk.title
    own = compute_coverage(keywords, collect_tokens(heading).union(body))
    return (1 - own / whole) * max(0.0, 1 - len(body) / _LONG_BODY) if whole else 0.0


def compute_heading_penalty(
    scores: Mapping[Key, float], rarities: Mapping[str, float], passages: PassageCache
) -> dict[Key, float]:
    """Return what passages lose because their terms are inherited.

    Args:
        scores: The scores of the candidates, the best first.
        rarities: The rarity of every term of the query.
        passages: Reads the passages.
    """
    keywords = weigh_keywords(rarities)
    shares = {
        chunk.key: compute_inherited_share(keywords, chunk, passages)
        for chunk in passages.load_chunks([*scores][:_READ_LIMIT])
    }
    return {key: -_LOSS * share * scores[key] for key, share in shares.items() if share}
