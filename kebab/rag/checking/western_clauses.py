"""Splits sentences of European languages into clauses, each with what it denies.

Clauses end at punctuation and at conjunctions. One with `if`, `unless` or `without` is a condition
of the others. A negation denies the next content word. Two negations cancel each other, and a word
such as `refuse` is `not accept`. `Not only`, `not more than` and `not until` deny nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kebab.rag.checking.clauses import Clause, Mode
from kebab.rag.checking.key_terms import is_content_word
from kebab.text.tokenizer import tokenize


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEGATIONS = _split(
    "not no never cannot none neither nor nobody nothing nowhere nicht kein keine keinen keinem"
    " keiner nie niemals niemand nichts pas jamais aucun aucune nunca sin ningún ninguna nadie non"
    " mai не"
)
_OBJECTS = _split("nobody none nothing nowhere nichts niemand nadie")
"""As an object, they deny the verb before them."""

_FAILURES = _split("fail fails failed refuse refuses refused unable impossible")
"""With `to` after them, they deny the verb."""

_BOUNDARIES = _split(
    "but and or nor because so whereas which who although though while before after where however"
    " then therefore aber und oder sondern denn weil da obwohl dass mais et ou car donc pero sino y"
    " o porque e ma"
)
_CONDITIONS = _split(
    "if unless until when whenever once whether without except instead"
    " wenn falls ohne bis sobald solange ob außer si sans lorsque quand jusqu sauf"
    " cuando hasta salvo sin senza quando finché"
)
_ONLY = _split(
    "only just merely simply least necessarily nur bloß seulement solo sólo solamente soltanto"
)
_BOUNDS = _split("more less fewer later longer further mehr weniger plus moins más menos")
_NEEDS = _split(
    "need needs needed must required require requires necessary have has should mandatory"
    " obligatory muss müssen erforderlich nötig notwendig braucht nécessaire doit necesario debe"
)
_CANS = _split(
    "can could may might able possible allowed permitted kann können darf möglich peut possible"
    " puede posible"
)
_PROHIBITING = _split("must should may soll darf")
_OPPOSITES = {
    **dict.fromkeys(("refuse", "refuses", "refused", "reject", "rejects", "rejected"), "accept"),
    **dict.fromkeys(("forbid", "forbids", "forbidden", "prohibited", "denied"), "allow"),
    **dict.fromkeys(("disable", "disables", "disabled"), "enable"),
    **dict.fromkeys(("optional", "unnecessary"), "required"),
    **dict.fromkeys(("fail", "fails", "failed"), "pass"),
    **dict.fromkeys(("unencrypted",), "encrypted"),
    **dict.fromkeys(("unsupported", "dropped"), "supported"),
    **dict.fromkeys(("unavailable",), "available"),
    **dict.fromkeys(("unlimited",), "limit"),
}
_PRONOUNS = _split("it they he she this these that those er sie es il elle ils elles")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W\d_]+)?|[,.;:!?()\"\u2014]")
_PREPOSITIONS = _split("by in on at for with from since as under auf bei für seit von en por dans")
_MAX_ADVERBIAL = 4
_MAX_DISTANCE = 5
"""The most words between a negation and the word that it denies, that word included."""


@dataclass(slots=True)
class _Draft:
    """The words of a clause; a condition is none of its own."""

    words: list[str] = field(default_factory=list)
    is_condition: bool = False


def split_western(sentence: str) -> list[Clause]:
    """Return the clauses of a sentence that say something without `only`."""
    drafts = [draft for draft in _cut(sentence) if draft.words]
    context = _list_terms([word for draft in drafts for word in draft.words])
    condition = _list_terms(
        [word for draft in drafts if draft.is_condition for word in draft.words]
    )
    plain = [draft.words for draft in drafts if not draft.is_condition]
    found = (_read(words, context, condition) for words in plain)
    return [clause for clause in found if clause is not None]


def _cut(sentence: str) -> Iterator[_Draft]:
    """Yield the words between punctuation and conjunctions."""
    draft = _Draft()
    for found in _WORD.finditer(sentence):
        word = found[0].replace("\u2019", "'")
        lower = word.lower()
        if word == "," and _is_adverbial(draft):
            continue
        if not word[0].isalnum() or lower in _BOUNDARIES or lower in _CONDITIONS:
            yield draft
            draft = _Draft(is_condition=lower in _CONDITIONS)
            if lower == "nor":
                draft.words.append(word)
        else:
            draft.words.append(word)
    yield draft


def _is_adverbial(draft: _Draft) -> bool:
    """Return whether a short beginning belongs to what follows, as in `By default, it runs`."""
    words = draft.words
    is_short = 0 < len(words) <= _MAX_ADVERBIAL and not draft.is_condition
    return is_short and words[0].lower() in _PREPOSITIONS


def _read(
    words: Sequence[str], context: frozenset[str], condition: frozenset[str]
) -> Clause | None:
    """Return the clause of some words; none when it is about what is so only of them."""
    lower = [word.lower() for word in words]
    cues = [index for index in range(len(words)) if _is_negation(lower, index)]
    if not _ONLY.isdisjoint(lower) or not _list_terms(words):
        return None
    denied: dict[str, str] = {}
    for index in cues:
        target = _find_target(words, index)
        for term in _list_terms([target] if target else []):
            denied[term] = target
    opposites = [word for word in lower if _is_opposite(lower, word)]
    for word in opposites:
        term = _stem(word)
        denied.pop(term, None) if term in denied else denied.setdefault(term, word)
    first = min(cues, default=len(words))
    is_denied = (len(cues) + len(opposites)) % 2 == 1
    mode = _find_mode(lower, cues)
    if not denied and mode is Mode.NEED:
        subject = next(word for word in words if _list_terms([word]))
        denied = dict.fromkeys(_list_terms([subject]), subject)
    return Clause(
        terms=_list_terms(words),
        is_denied=is_denied,
        mode=mode,
        denied=frozenset(denied) if is_denied else frozenset(),
        scope=_list_terms(words[first:]) if is_denied else frozenset(),
        condition=condition,
        context=context,
        is_pronominal=lower[0] in _PRONOUNS,
        word=next(iter(denied.values()), ""),
    )


def _is_negation(words: Sequence[str], index: int) -> bool:
    """Return whether a word is a negation that denies something of its clause."""
    word, after = words[index], words[index + 1 : index + 2]
    if word in _FAILURES:
        return after == ["to"]
    if word not in _NEGATIONS and not word.endswith("n't"):
        return False
    rest = words[index + 1 :]
    if word == "no" and after == ["longer"]:
        return True
    return bool(rest) and rest[0] not in _ONLY and _BOUNDS.isdisjoint(rest)


def _is_opposite(words: Sequence[str], word: str) -> bool:
    if word not in _OPPOSITES:
        return False
    return not (word in _FAILURES and words[words.index(word) + 1 :][:1] == ["to"])


def _find_target(words: Sequence[str], index: int) -> str:
    """Return the content word that a negation denies."""
    if index and words[index].lower() in _OBJECTS:
        return ""
    after = words[index + 1 : index + 1 + _MAX_DISTANCE]
    return next((word for word in after if _list_terms([word])), "")


def _find_mode(words: Sequence[str], cues: Sequence[int]) -> Mode:
    if any(words[index - 1] in _PROHIBITING for index in cues if index):
        return Mode.CAN
    if not _NEEDS.isdisjoint(words) and ({"have", "has"}.isdisjoint(words) or "to" in words):
        return Mode.NEED
    if "required" in map(_OPPOSITES.get, words):
        return Mode.NEED
    return Mode.PLAIN if _CANS.isdisjoint(words) and "cannot" not in words else Mode.CAN


def _list_terms(words: Sequence[str]) -> frozenset[str]:
    return frozenset(term for word in words if (term := _stem(word.lower())))


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """Return the index term of a content word, of its opposite if it is a negative one."""
    known = _OPPOSITES.get(word)
    if known is None:
        is_grammar = word in _NEGATIONS or word in _NEEDS or word in _CANS or word == "longer"
        if is_grammar or word in _FAILURES or word.endswith("n't") or not is_content_word(word):
            return ""
    tokens = tokenize(known or word)
    return tokens[0] if tokens else ""
