"""Extracts the key terms of a claim: its content words as index terms.

Stop words, words about the passages themselves, and numbers (which are compared by value) are left
out. Scripts without blanks give bigrams; bigrams of Hiragana alone and of Korean endings are
grammar and are left out too.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from kebab.rag.checking.quantities import is_number_word
from kebab.search.query_parser import strip_stop_words
from kebab.text.scripts import DENSE, is_dense
from kebab.text.tokenizer import build_query_terms

_STOP_WORDS = (
    "but also not no nor never none neither only just even still yet very more most much many some"
    " any each every such other others another both either all same own too own per it you them"
    " him us we themselves itself himself herself while after before during between through about"
    " against over under within without again further once here because since until although"
    " though whereas however therefore thus hence moreover furthermore additionally instead"
    " specifically namely overall finally first second do don doesn didn isn aren wasn weren"
    " being having will can cannot may one ones yes according based mentioned mention stated"
    " states state said says described describes called known used use using note notes passage"
    " passages source sources text document documents provided given context answer question"
    " near unlike despite among upon along throughout across towards toward beyond per unless"
    " whether given today later earlier similarly likewise both meanwhile nevertheless consequently"
    " indeed perhaps include includes including well like e.g i.e etc via out up down off around"
    " nicht kein keine keinen einem einer auch nur noch aber oder als sich es er sie wir ihr hat"
    " haben hatte bei nach aus um am zum zur durch über wenn weil dass daß"
    " ne pas il elle ils elles on nous vous se ce cette ces sur par pour avec plus au"
    " no se su sus con por para como más lo al fue"
)
_STOP = frozenset(_STOP_WORDS.split())
PUNCTUATION = ".,;:!?\"'()[]{}*_`\u201c\u201d\u2018\u2019\u00ab\u00bb\u2026"
_GRAMMAR = re.compile(
    "[\u3041-\u309f]+|습니|니다|입니|됩니|합니|[었았였했됐되]다"
    "|[되하]었|었습|았습|였습|했습|있다|있습|이다|한다|된다"
    "|에서|으로|까지|부터"
)
_DENSE = re.compile(f"[{DENSE}]")
_RUN = re.compile(
    "[\u3400-\u9fff\u3005\uf900-\ufaff]{2,}|[\u30a1-\u30fa\u30fc]{2,}|[\uac00-\ud7a3]+"
    "|[^\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uffef\\W]{2,}"
)
_PARTICLE = re.compile(
    "(?<=[가-힣]{2})(?:은|는|이|가|을|를|에|의|도|와|과|로|만|에서|으로|까지|부터|에게|이다|입니다"
    "|했다|하였다|했습니다|합니다|한다|된다|됩니다|되었다|되었습니다|였다|였습니다|이었다|하는|되는)$"
)
_DIGITS = re.compile(r"[\d.,:]+(?:st|nd|rd|th|s)?")
_ANCHOR = "\u00a7x"
"""A content word before the tested word, because the last remaining word is never removed."""


def extract_key_words(text: str) -> dict[str, tuple[str, ...]]:
    """Return the content words of a text in order, each with its key terms."""
    words = (part for word in text.split() for part in _split_content_words(word))
    return {word: terms for word in dict.fromkeys(words) if (terms := _build_terms(word))}


def _split_content_words(word: str) -> Iterable[str]:
    if _DENSE.search(word):
        return (_PARTICLE.sub("", run) for run in _RUN.findall(word))
    return (word.strip(PUNCTUATION),) if is_content_word(word) else ()


def extract_key_terms(text: str) -> tuple[str, ...]:
    """Return the distinct key terms of a text in order."""
    return tuple(
        dict.fromkeys(term for terms in extract_key_words(text).values() for term in terms)
    )


@lru_cache(maxsize=4096)
def is_content_word(word: str) -> bool:
    """Return whether a word is neither a stop word nor a number."""
    bare = word.strip(PUNCTUATION).lower()
    if bare in _STOP or is_number_word(bare):
        return False
    return len(strip_stop_words(f"{_ANCHOR} {bare}").split()) > 1


def compute_bigram_share(terms: tuple[str, ...]) -> float:
    """Return the share of bigrams among the terms."""
    return sum(map(is_dense, terms)) / (len(terms) or 1)


def _build_terms(word: str) -> tuple[str, ...]:
    terms = (term.text for term in build_query_terms(word))
    return tuple(
        term for term in terms if not _GRAMMAR.fullmatch(term) and not _DIGITS.fullmatch(term)
    )
