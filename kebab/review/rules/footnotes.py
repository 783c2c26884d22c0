"""Contains the rules about footnotes."""

import re
from collections.abc import Iterator
from typing import ClassVar

from kebab.core.review import Finding, FootnoteUse, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding
from kebab.wire.review import SeverityName

_CHARACTER_CLASS = re.compile(r"[A-Za-z0-9]-[A-Za-z0-9]|\\|[^\w-]")
_DEFINED = re.compile(r"\[\^([^\]\s]+)\]:")
_USED = re.compile(r"\[\^([^\]\s]+)\](?!:)")
_CODE_SIGNS = "(/\\|[+*^?"


class UndefinedFootnote:
    """A footnote is used but not defined.

    Its mark is then shown as text. Write the footnote, `[^1]: text`, or remove the mark. Character
    classes of regular expressions, such as `[^a-z]`, are not reported.
    """

    id: ClassVar[str] = "undefined-footnote"
    kind: ClassVar[str] = "footnote"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "It costs 100.[^1]\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the uses of footnotes that are not defined."""
        del surroundings
        uses = document.markup.footnotes
        defined = {_fold_label(one) for one in uses if one.is_definition}
        indented = _list_labels(document, _DEFINED)
        for one in uses:
            label = _fold_label(one)
            if one.is_definition or label in defined or label in indented:
                continue
            if _is_code(document.text, one):
                continue
            if defined or one.label.isdecimal() or len(one.label) > len("abc"):
                reason = f"the footnote is not defined: {one.label}"
                yield build_finding(self, one.start, one.end, reason)


class UnusedFootnote:
    """A footnote is defined but not used.

    Sites do not show it. Refer to it in the text or remove it.
    """

    id: ClassVar[str] = "unused-footnote"
    kind: ClassVar[str] = "footnote"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "It costs 100.\n\n[^1]: As of May.\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the definitions of footnotes that nothing uses."""
        del surroundings
        uses = document.markup.footnotes
        used = {_fold_label(one) for one in uses if not one.is_definition}
        used |= _list_labels(document, _USED)
        for one in uses:
            if one.is_definition and _fold_label(one) not in used:
                reason = f"the footnote is not used: {one.label}"
                yield build_finding(self, one.start, one.end, reason)


def _fold_label(use: FootnoteUse) -> str:
    return use.label.casefold()


def _list_labels(document: ReviewDocument, pattern: re.Pattern[str]) -> set[str]:
    """Return the labels anywhere in the text; in admonitions they are indented like code."""
    if "[^" not in document.text:
        return set()
    return {label.casefold() for label in pattern.findall(document.text)}


def _is_code(text: str, use: FootnoteUse) -> bool:
    """Return whether a mark looks like a character class."""
    before, behind = text[max(use.start - 1, 0) : use.start], text[use.end : use.end + 1]
    is_class = _CHARACTER_CLASS.search(use.label) is not None
    return (
        is_class or (before != "" and before in _CODE_SIGNS) or (behind != "" and behind in "*+?{/")
    )
