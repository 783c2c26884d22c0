"""Turns findings of the language model into findings with positions, and drops what has none."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from kebab.core.queries import StoredChunk
from kebab.core.review import Finding, Fix, Span
from kebab.review.document import ReviewDocument
from kebab.review.light_format import LightItem
from kebab.review.units import ShownSentence, find_code
from kebab.text.quotation import find_quotation
from kebab.wire.review import EditName, SeverityName

_DEFAULT_SEVERITIES: dict[str, SeverityName] = {
    "spelling": "warning",
    "grammar": "warning",
    "contradiction": "warning",
}
_HIGHEST_SEVERITIES: dict[str, SeverityName] = {
    "punctuation": "warning",
    "terminology": "warning",
    "style": "suggestion",
    "contradiction": "warning",
}
"""Findings of these kinds are no errors, whatever the model says."""
_RANKS: dict[SeverityName, int] = {"suggestion": 0, "warning": 1, "error": 2}
_MAX_FIX_CHARS = 1_000
_QUOTED_LINE = re.compile(r"\n[ \t]*>")
_PIECE = re.compile(r"(?:[^\S\n]|\n(?:[ \t]*>)*)+|\S+")
"""A word, or what is between two: white space with the signs of a quotation."""


class Normalizer:
    """Finds the places of the findings of one response.

    Args:
        document: The document.
        shown: The sentences of the request, which the model numbers from 1.
    """

    def __init__(self, document: ReviewDocument, shown: Sequence[ShownSentence]) -> None:
        self._document = document
        self._shown = shown
        self._used: set[tuple[str, Span]] = set()

    def normalize(self, item: LightItem, cites: StoredChunk | None = None) -> Finding | None:
        """Return a finding at the words that the model copied.

        None when the words have no place, when the fix changes nothing, and when it would change
        code, an address or the sign of a quotation.

        Args:
            item: The finding.
            cites: The passage that the sentence contradicts.
        """
        span = self._locate(item)
        if span is None:
            return None
        edited = self._edit(item, span)
        if edited is None:
            return None
        (start, end), edit, fix = edited
        return Finding(
            kind=item.kind,
            severity=choose_severity(item.kind, item.severity),
            reason=item.reason or item.kind,
            start=start,
            end=end,
            edit=edit,
            fix=fix,
            cites=cites,
        )

    def _locate(self, item: LightItem) -> Span | None:
        """Return the place of the words: in the named sentence, else in the nearest other one.

        Of several places it is the first that no finding of the kind has. The words of the named
        sentence are not looked for in others: a finding that stands there again is a repetition.
        """
        named = item.sentence - 1
        taken: Span | None = None
        for number, sentence in sorted(enumerate(self._shown), key=lambda one: abs(one[0] - named)):
            for place in find_quotation(sentence.text, item.words):
                span = sentence.locate(*place)
                if (item.kind, span) not in self._used:
                    self._used.add((item.kind, span))
                    return span
                taken = taken or span
            if taken and number == named:
                break
        return taken

    def _edit(self, item: LightItem, span: Span) -> tuple[Span, EditName, Fix | None] | None:
        """Return the place and the text of the edit; None when it must not be made."""
        if item.fix is None or len(item.fix) > _MAX_FIX_CHARS:
            return span, "note", None
        return build_edit(self._document, span, item.fix)


def build_edit(
    document: ReviewDocument, span: Span, text: str, note: str | None = None
) -> tuple[Span, EditName, Fix | None] | None:
    """Return the edit that puts a text in the place of a span.

    None when it changes nothing but white space at its ends, or when it would change code, an
    address or the sign of a quotation. An edit around such parts becomes smaller.
    """
    if is_same_text(document, span, text):
        return None
    before, text = document.text[slice(*span)], " ".join(text.split())
    if _touches_markup(document, span):
        smaller = _shrink(before, text)
        if smaller is None:
            return None
        start, end, text = smaller
        span = span[0] + start, span[0] + end
        if _touches_markup(document, span):
            return None
    if span[0] == span[1]:
        return span, "insert", Fix(text, note)
    return span, "replace" if text else "delete", Fix(text, note)


def is_same_text(document: ReviewDocument, span: Span, text: str) -> bool:
    """Return whether a text is that of a span but for white space and the signs of a quotation."""
    return _fold(document.text[slice(*span)]) == _fold(text)


def _fold(text: str) -> str:
    return " ".join(_QUOTED_LINE.sub("\n", text).split())


def _touches_markup(document: ReviewDocument, span: Span) -> bool:
    start, end = span
    inside = any(low < end and high > start for low, high in find_code(document, start, end))
    return inside or _QUOTED_LINE.search(document.text, start, end) is not None


def _shrink(before: str, after: str) -> tuple[int, int, str] | None:
    """Return the only part of a text that another one changes, word by word; else None."""
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    folded = [[" " if one[0].isspace() else one for one in words] for words in (old, new)]
    matcher = SequenceMatcher(None, folded[0], folded[1], autojunk=False)
    changes = [one for one in matcher.get_opcodes() if one[0] != "equal"]
    if len(changes) != 1:
        return None
    _, low, high, new_low, new_high = changes[0]
    start = sum(map(len, old[:low]))
    return start, start + sum(map(len, old[low:high])), "".join(new[new_low:new_high])


def choose_severity(kind: str, wanted: SeverityName | None) -> SeverityName:
    """Return the severity of a kind that the model wants, within the bounds of the kind."""
    chosen = wanted or _DEFAULT_SEVERITIES.get(kind, "suggestion")
    highest = _HIGHEST_SEVERITIES.get(kind, "error")
    return min(chosen, highest, key=_RANKS.__getitem__)
