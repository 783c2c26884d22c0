"""Converts items of version 1, which quote the text they are about, to findings."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from kebab.core.review import Finding, Fix, Span, UnitResult, UnitUsage
from kebab.review.document import ReviewDocument
from kebab.review.items import build_items
from kebab.text.quotation import find_quotation
from kebab.wire.review import EditName, ItemV1, SeverityName

_SEVERITIES: dict[str, SeverityName] = {
    **dict.fromkeys(("error", "critical", "fatal", "blocker", "severe", "high", "major"), "error"),
    **dict.fromkeys(("warning", "warn", "medium", "moderate"), "warning"),
}
_KINDS = {
    **dict.fromkeys(("spell", "spelling-error", "misspelling", "typo", "typos"), "spelling"),
    **dict.fromkeys(("grammatical", "grammar-error", "syntax"), "grammar"),
    **dict.fromkeys(("punct", "punctuation-error"), "punctuation"),
    **dict.fromkeys(("term", "terms", "wording", "word-choice"), "terminology"),
}
_ANY_KIND = "other"
_LONGEST_KIND = 40
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = re.compile(r"[^a-z0-9_]+")


class LocatedItems(NamedTuple):
    """The findings of older items in order; `dropped` items have no place in the text."""

    findings: list[Finding]
    dropped: int


def import_items(document: ReviewDocument, items: Iterable[ItemV1]) -> UnitResult:
    """Return the result of the unit `import`: the items of version 1 as items, sorted by place."""
    located = locate_older_items(document, items)
    findings = sorted(located.findings, key=lambda one: (one.start, one.end))
    warnings = ("items_dropped",) if located.dropped else ()
    usage = UnitUsage(dropped=located.dropped, warnings=warnings)
    return UnitResult(items=tuple(build_items(document, findings)[0]), usage=usage)


def locate_older_items(document: ReviewDocument, items: Iterable[ItemV1]) -> LocatedItems:
    """Return the findings of older items at the places of their evidence.

    Evidence that occurs several times means the first place that no finding of the same kind has.
    When all have one, the item repeats the last of them.
    """
    findings: list[Finding] = []
    used: set[tuple[str, Span]] = set()
    dropped = 0
    for item in items:
        kind = convert_kind(item.key)
        places = find_quotation(document.text, item.evidence)
        if not places:
            dropped += 1
            continue
        place = next((one for one in places if (kind, one) not in used), places[-1])
        used.add((kind, place))
        findings.append(_build_finding(document, item, kind, place))
    return LocatedItems(findings, dropped)


def _build_finding(document: ReviewDocument, item: ItemV1, kind: str, place: Span) -> Finding:
    edit: EditName = "note"
    if item.suggestion is not None and item.suggestion != document.text[slice(*place)]:
        edit = "replace" if item.suggestion else "delete"
    return Finding(
        kind=kind,
        severity=convert_severity(item.severity),
        reason=item.message,
        start=place[0],
        end=place[1],
        edit=edit,
        fix=None if edit == "note" else Fix(item.suggestion or ""),
    )


def convert_severity(word: str) -> SeverityName:
    """Return the severity for a word of another vocabulary; unknown ones mean `suggestion`."""
    return _SEVERITIES.get(word.strip().lower(), "suggestion")


def convert_kind(key: str) -> str:
    """Return a valid kind for the key of an older item, such as `word-choice` for `wordChoice`."""
    plain = unicodedata.normalize("NFKD", _CASE_CHANGE.sub("-", key.strip()))
    words = _SEPARATORS.sub("-", plain.encode("ascii", "ignore").decode().lower())
    kind = words.strip("-_").lstrip("0123456789-_")[:_LONGEST_KIND].rstrip("-_") or _ANY_KIND
    return _KINDS.get(kind, kind)
