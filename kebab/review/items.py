"""Declares rules, and converts findings to items, whose positions are UTF-16 code units."""

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from msgspec import UNSET, UnsetType

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, Fix, Span
from kebab.review.document import ReviewDocument
from kebab.text.language import shorten
from kebab.wire.review import (
    MAX_NOTE_CHARS,
    MAX_REASON_CHARS,
    AgentItem,
    EditName,
    ItemFix,
    SeverityName,
)

if TYPE_CHECKING:
    from kebab.review.surroundings import Surroundings

_LONGEST = 1_000
"""How much of a reason is looked at; normalisation takes quadratic time in combining marks."""
_CONTROLS = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters that separate no words, changes of direction, and surrogates."""


class Rule:
    """A check of one document without a language model.

    The docstring of a rule is its explanation: the first paragraph says in one sentence what it
    finds, the others say why that is a fault, what is not, and what to do. `example` is Markdown
    with exactly one finding of the rule.
    """

    id: ClassVar[str]
    kind: ClassVar[str]
    severity: ClassVar[SeverityName]
    example: ClassVar[str]

    def check(self, document: ReviewDocument, surroundings: "Surroundings") -> Iterable[Finding]:
        """Yield the findings in any order."""
        raise NotImplementedError

    def build(
        self, start: int, end: int, reason: str, *, edit: EditName = "note", fix: Fix | None = None
    ) -> Finding:
        """Return a finding at [start, end)."""
        return Finding(
            kind=self.kind,
            severity=self.severity,
            reason=reason,
            start=start,
            end=end,
            edit=edit,
            rule_id=self.id,
            fix=fix,
        )


def build_items(document: ReviewDocument, findings: Iterable[Finding]) -> list[AgentItem]:
    """Return the items of findings in order, without repeated ones."""
    items: dict[str, AgentItem] = {}
    for finding in findings:
        item = build_item(document, finding)
        items.setdefault(item.uid, item)
    return list(items.values())


def build_item(document: ReviewDocument, finding: Finding) -> AgentItem:
    """Return the item of a finding; without a text for it, an edit becomes a note."""
    span = document.to_utf16(finding.start, finding.end)
    sentences = document.find_sentence_range(finding.start, finding.end)
    edit, fix = _build_fix(document, finding)
    return AgentItem(
        uid=compute_uid(finding.kind, sentences, span, finding.rule_id),
        k=finding.kind,
        s=finding.severity,
        r=_clean_line(finding.reason, MAX_REASON_CHARS) or finding.kind,
        t=edit,
        i=sentences,
        o=span,
        cid=finding.cid or UNSET,
        rule_id=finding.rule_id or UNSET,
        conf=_clamp(finding.conf),
        lang=finding.lang or UNSET,
        side=finding.side or UNSET,
        fix=fix,
    )


def locate_item(document: ReviewDocument, item: AgentItem) -> Span:
    """Return the place of an item as [start, end) code points of the text."""
    return document.from_utf16(*item.o)


def compute_uid(kind: str, sentences: Span, span: Span, rule_id: str | None = None) -> str:
    """Return the id of a finding, the same in every run over the same text."""
    key = f"{kind}|{sentences[0]},{sentences[1]}|{span[0]},{span[1]}|{rule_id or ''}"
    return hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest()


def _build_fix(document: ReviewDocument, finding: Finding) -> tuple[EditName, ItemFix | UnsetType]:
    fix = finding.fix
    if fix is None and finding.edit == "delete":
        fix = Fix("")
    if fix is None or finding.edit == "note":
        return "note", UNSET
    text = unicodedata.normalize("NFC", _CONTROLS.sub("", fix.text))
    note = _clean_line(fix.note or "", MAX_NOTE_CHARS)
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    # In other text nothing tells code from prose: a script without a suffix is text, too.
    is_safe = fix.safe and document.source.media == MARKDOWN
    return finding.edit, ItemFix(
        text=lines.replace("\n", document.line_end), note=note or UNSET, safe=is_safe or UNSET
    )


def _clean_line(text: str, limit: int) -> str:
    """Return the beginning of a text as one line of NFC without control characters."""
    line = " ".join(_CONTROLS.sub("", text[:_LONGEST]).split())
    return shorten(unicodedata.normalize("NFC", line), limit)


def _clamp(conf: float | None) -> float | UnsetType:
    if conf is None or math.isnan(conf):
        return UNSET
    return min(1.0, max(0.0, conf))
