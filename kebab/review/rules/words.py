"""Contains the rules about single words: repeated ones, marks of unfinished work, the glossary."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import ClassVar, NamedTuple

from kebab.core.review import Finding, Fix, GlossaryTerm, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding
from kebab.wire.review import SeverityName

_CANDIDATES = tuple(
    re.compile(re.escape(sign) + r"(?=(\w\w)\w*+[ \n][ \t>]*(?i:\1))") for sign in ' \n("*_'
)
"""Two words with the same start; patterns that begin with fixed text are fast."""

_TWICE = re.compile(
    r"([^\W\d_]{2,}+)( |[ \t]?\n[ \t>]*)(?=((?i:\1))(?![\w'\u2019/=(*<>+-]|[.:]\w))"
)
_ALLOWED = frozenset(
    {
        *("blah", "bla", "bye", "ha", "had", "is", "in", "on", "la", "na", "no", "so", "that"),
        *("very", "very", "really", "many", "much", "long", "far", "more", "yes", "so"),
        *("vous", "nous", "die", "der", "das", "sie", "si", "muy", "que", "nos", "ver"),
    }
)
"""Words that are often repeated on purpose, or that two clauses share."""

_REDUPLICATING = frozenset({"id", "jv", "mi", "ms", "su", "th", "tl", "vi", "haw"})
"""Languages that repeat words as part of their grammar."""

_FIRST_OTHER_SCRIPT = "\u0e00"
"""From here on, scripts have words that are repeated on purpose, or no blanks between words."""

_LEAST_WRAPPED = 24
"""The fewest characters before a line break that is inside a sentence."""


class RepeatedWord:
    """A word is written twice in a row.

    This is almost always left over from editing. Words that are repeated on purpose, such as
    `had had`, names, a word that stands there three times, and languages that form words by
    repetition are not reported, nor is a word at the border of two sentences, list items or cells.
    Delete one of the two.
    """

    id: ClassVar[str] = "repeated-word"
    kind: ClassVar[str] = "repetition"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Open the the settings."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the words that repeat the word before them."""
        del surroundings
        prose = document.prose
        starts = [found.end() for pattern in _CANDIDATES for found in pattern.finditer(prose)]
        for start in (0, *sorted(starts)):
            found = _TWICE.match(prose, start)
            if found and not _is_on_purpose(document, found):
                if (document.lang or "").partition("-")[0] in _REDUPLICATING:
                    return
                reason = f"the word is repeated: {found[1]}"
                yield build_finding(
                    self, found.start(2), found.end(3), reason, edit="delete", fix=Fix("")
                )


def _is_on_purpose(document: ReviewDocument, found: re.Match[str]) -> bool:
    """Return whether a word may stand twice."""
    first, gap, second = found.groups()
    if first.lower() in _ALLOWED or first >= _FIRST_OTHER_SCRIPT or second[0].isupper():
        return True
    if first != second and first.lower() != second:
        return True
    text, start, end = document.text, found.start(1), found.end(3)
    if gap != text[found.start(2) : found.end(2)] or text.startswith((";\n", "{\n"), end):
        return True  # code stands between the two, or this is code that is not marked
    if "\n" in gap:
        line = text.rfind("\n", 0, start) + 1
        if start - line < _LEAST_WRAPPED or text[line:start].lstrip().startswith(("#", "|")):
            return True
    before, after = text[max(0, start - len(first) - 1) : start], text[end : end + len(first) + 1]
    if before.lower() == f"{first.lower()} " or after.lower() == f" {first.lower()}":
        return True
    return before[-1:] in tuple("\"'`\u201c\u2018") and after[:1] in tuple("\"'`\u201d\u2019")


_MARK = re.compile(r"\b(?:TODO|FIXME|XXX|TBD)\b(?![-_/.]\w|\w)")
_OPENS = re.compile(r"(?:^|[\n|(\[*_:>]|<!--|[-*+]|\d[.)]|\[[ xX]\])[ \t*_>#(\[-]*\Z")
_CALLED = re.compile(r"(?:\([^()\n]{1,40}\))?[*_\]]*:")
_CLOSES = re.compile(r"[*_)\].]*[ \t]*(?:\n|\||-->|\Z)")
_NOUN = re.compile(
    r"[ \t]+(?:lists?|apps?|applications?|items?|comments?|files?|tasks?|notes?|marks?|markers?"
    r"|tags?|tools?|example|examples|entries|entry|MVC|EL|LO|LA|s\b)",
)
_TOTAL = frozenset({"es", "gl", "it", "pt"})
"""Languages in which `TODO` is the word for everything."""


class Todo:
    """A mark says that the text is unfinished.

    A mark in capitals, as in the example, is a note to the author, also in a comment, and a reader
    can do nothing with it. A word that only speaks about such marks, a task list `- [ ]` and code
    are not reported. Do what the mark says, or move it to where tasks are kept.
    """

    id: ClassVar[str] = "todo"
    kind: ClassVar[str] = "unfinished"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "TODO: describe the options"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the marks."""
        del surroundings
        text = document.text
        if not any(mark in text for mark in ("TODO", "FIXME", "XXX", "TBD")):
            return
        for found in _MARK.finditer(text):
            if _is_mark(document, found) and _is_visible(document, found.start()):
                reason = f"the text is unfinished: {found[0]}"
                yield build_finding(self, *found.span(), reason)


def _is_mark(document: ReviewDocument, found: re.Match[str]) -> bool:
    """Return whether a word is a mark and not the name of one."""
    text, start, end = document.text, found.start(), found.end()
    if found[0] == "TODO" and document.lang in _TOTAL:
        return bool(_CALLED.match(text, end))
    opens = bool(_OPENS.search(text[max(0, start - 24) : start])) or start == 0
    if _CALLED.match(text, end):
        return opens or found[0] != "XXX"
    if _NOUN.match(text, end):
        return False
    closes = bool(_CLOSES.match(text, end))
    if found[0] == "XXX":
        return opens and not closes and text[end : end + 1] == " "
    return opens or (closes and found[0] == "TBD")


def _is_visible(document: ReviewDocument, offset: int) -> bool:
    """Return whether an offset is in prose or in a comment, not in code."""
    if not document.prose[offset].isspace():
        return True
    spans = document.markup.code
    index = bisect_right(spans, (offset, len(document.text))) - 1
    return index >= 0 and document.text.startswith("<!--", spans[index][0])


class _Glossary(NamedTuple):
    pattern: re.Pattern[str]
    preferred: dict[str, str]
    """The preferred term by the forbidden one; those without capitals stand for any case."""


_DENSE = re.compile(
    r"[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af]"
)


class ForbiddenTerm:
    """A term is used for which the glossary has another one.

    The settings name the terms under `review.glossary`. A forbidden term without capitals is found
    in any case, one with capitals only as it is written. Terms are whole words, except in scripts
    without blanks between words. Code, addresses, and forbidden words inside a preferred term are
    not reported. Use the preferred term.
    """

    id: ClassVar[str] = "forbidden-term"
    kind: ClassVar[str] = "terminology"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Send an e-mail to the list."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the forbidden terms."""
        terms = tuple(surroundings.glossary)
        glossary = _compile_glossary(terms, document.lang or "") if terms else None
        if glossary is None:
            return
        for found in glossary.pattern.finditer(document.prose):
            if found["form"] is None:
                continue
            form = " ".join(found["form"].split())
            preferred = glossary.preferred.get(form) or glossary.preferred.get(form.lower())
            if preferred is not None and preferred != form:
                text = _adapt_case(preferred, form)
                yield build_finding(
                    self,
                    *found.span(),
                    f"the glossary has another term: {text}",
                    edit="replace",
                    fix=Fix(text),
                )


@lru_cache(maxsize=32)
def _compile_glossary(terms: tuple[GlossaryTerm, ...], lang: str) -> _Glossary | None:
    """Return the terms for a language; None without any."""
    primary = lang.partition("-")[0].lower()
    chosen = [
        term for term in terms if not term.lang or term.lang.partition("-")[0].lower() == primary
    ]
    preferred = {form: term.preferred for term in chosen for form in term.forbidden}
    if not preferred:
        return None
    kept = {term.preferred for term in chosen} - preferred.keys()
    forms = sorted(preferred, key=len, reverse=True)
    pattern = "|".join(
        [
            *(_write_pattern(term) for term in sorted(kept, key=len, reverse=True)),
            f"(?P<form>{'|'.join(map(_write_pattern, forms))})",
        ]
    )
    return _Glossary(re.compile(pattern), preferred)


def _write_pattern(term: str) -> str:
    """Return the pattern of a term as a whole word; blanks stand for line breaks too."""
    pattern = r"[ \t]*[ \n][ \t]*".join(map(re.escape, term.split()))
    if term == term.lower():
        pattern = f"(?i:{pattern})"
    before = "" if _DENSE.match(term[0]) else r"(?<!\w)"
    after = "" if _DENSE.match(term[-1]) else r"(?![^\W\u0e00-\uffff])"
    return before + pattern + after


def _adapt_case(preferred: str, form: str) -> str:
    """Return the preferred term with a capital where the form has one at its start."""
    if form[:1].isupper() and preferred == preferred.lower():
        return preferred[:1].upper() + preferred[1:]
    return preferred
