"""Declares what a rule is, and tells the texts that rules leave out."""

import re
from collections.abc import Iterable
from typing import Protocol

from kebab.core.review import Finding, Fix, Surroundings
from kebab.review.document import ReviewDocument
from kebab.wire.review import EditName, SeverityName


class Rule(Protocol):
    """A check of one document without a language model.

    The docstring of a rule is its explanation: the first paragraph says in one sentence what it
    finds, the others say why that is a fault, what is not, and what to do. `example` is Markdown
    with exactly one finding of the rule.
    """

    @property
    def id(self) -> str:
        """The name of the rule."""

    @property
    def kind(self) -> str:
        """The kind of its findings."""

    @property
    def severity(self) -> SeverityName:
        """The severity of its findings."""

    @property
    def example(self) -> str:
        """Markdown with exactly one finding."""

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterable[Finding]:
        """Yield the findings in any order."""


def build_finding(
    rule: Rule,
    start: int,
    end: int,
    reason: str,
    *,
    edit: EditName = "note",
    fix: Fix | None = None,
) -> Finding:
    """Return a finding of a rule at [start, end)."""
    return Finding(
        kind=rule.kind,
        severity=rule.severity,
        reason=reason,
        start=start,
        end=end,
        edit=edit,
        rule_id=rule.id,
        fix=fix,
    )


_RECORD = re.compile(
    r"(?:^|[/_.-])(?:change-?log|changes|history|news|releases?|release-?notes?|blog|posts?|archives?"
    r"|minutes|meetings?|licen[cs]e|copying|notice|journal|diary|daily)(?:[/_.-]|$)"
    r"|(?:19|20)\d\d[-_/]?\d\d",
    re.IGNORECASE,
)
"""Paths of texts that record what was true on a day."""

_DATE_FIELDS = frozenset({"date", "published", "publishdate", "publish_date", "pubdate", "created"})


def is_record(document: ReviewDocument) -> bool:
    """Return whether a text says what was true on its own date."""
    front = document.markup.front_matter
    if front is not None and any(name.lower() in _DATE_FIELDS for name, _ in front.fields):
        return True
    return bool(_RECORD.search(document.source.doc_path))


_GENERATED = re.compile(
    r"@generated\b|\bDO NOT EDIT\b"
    r"|\b[Aa]uto(?:matically)?[ -]?generated (?:by|from|with|file|document|page|content)\b",
)
_HEAD = 1_500
"""How much of the beginning of a text may tell that a program wrote it."""


def is_generated(document: ReviewDocument) -> bool:
    """Return whether a text says that a program wrote it."""
    return _GENERATED.search(document.text, 0, _HEAD) is not None
