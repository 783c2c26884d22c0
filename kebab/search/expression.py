"""Questions as FTS5 expressions: every token quoted, so that no token is an operator."""

from collections.abc import Iterable

from kebab.search.parse import Phrase
from kebab.text.tokenizer import Term


def quoted(term: Term) -> str:
    """Return one token as an FTS5 string, with a star when it is a prefix."""
    return _string(term.text) + (" *" if term.prefix else "")


def phrase(asked: Phrase) -> str:
    """Return tokens that stand side by side, in their column when one is named."""
    text = _string(" ".join(term.text for term in asked.terms))
    star = " *" if asked.terms[-1].prefix else ""
    return f"{asked.column} : {text}{star}" if asked.column else text + star


def any_of(parts: Iterable[str]) -> str:
    """Return the alternative of expressions, or nothing of none."""
    return " OR ".join(parts)


def all_of(phrases: Iterable[Phrase]) -> str:
    """Return the conjunction of phrases, or nothing of none."""
    return " AND ".join(f"({phrase(one)})" for one in phrases)


def match(terms: Iterable[Term], required: Iterable[Phrase], excluded: Iterable[Phrase]) -> str:
    """Return the expression: all that is required, better with any of the terms, nothing excluded.

    A required phrase stands in both branches, for a branch that holds counts towards bm25.
    """
    words, must = any_of(map(quoted, terms)), all_of(required)
    wanted = f"(({must}) AND ({words})) OR ({must})" if must and words else must or words
    out = any_of(f"({phrase(one)})" for one in excluded)
    return f"({wanted}) NOT ({out})" if out and wanted else wanted


def _string(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
