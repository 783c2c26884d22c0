"""Finds contradictions between a claim and its evidence: one denies what the other affirms.

Sentences are compared clause by clause; `western_clauses` and `eastern_clauses` have the rules.
"""

import re
from collections.abc import Iterable

from kebab.rag.checking.clauses import Clause
from kebab.rag.checking.eastern_clauses import split_eastern
from kebab.rag.checking.western_clauses import split_western

_DENSE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


_MAY_DENY = re.compile(
    r"\b(?:no|not|never|cannot|none|neither|nor|nobody|nothing|nowhere|fail|refus|reject|forbid|prohib"
    r"|deni|disabl|option|un|im|drop|nicht|kein|nie|pas|jamais|aucun|nunca|sin|ning|nadie|non|mai|не)"
    r"|n['\u2019]t\b|[없않못안마말]|아[니닙]|불가|금지|선택|[不没沒无無未非禁选選]|ない|な[くか]|ませ|ず",
    re.IGNORECASE,
)


def may_deny(sentence: str) -> bool:
    """Return whether a sentence may deny something, without splitting it."""
    return _MAY_DENY.search(sentence) is not None


def split_clauses(sentences: Iterable[str]) -> tuple[Clause, ...]:
    """Return the clauses of normalized sentences in order."""
    return tuple(
        clause
        for sentence in sentences
        for clause in (split_eastern if _DENSE.search(sentence) else split_western)(sentence)
    )
