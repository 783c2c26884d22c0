"""Declares what a rule is, and tells texts that several rules leave out."""

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

_GENERATED = re.compile(
    r"auto(?:matically|-| )?generated (?:by|from|with|file|document|page|content)"
    r"|generated automatically|@generated\b|do not edit|don't edit|file is generated"
    r"|not the primary documentation",
    re.IGNORECASE,
)
_EDGE = 1500
"""How much of the beginning and the end of a text may tell that a program wrote it."""


def is_generated(document: ReviewDocument) -> bool:
    """Return whether a text says that a program wrote it."""
    text = document.text
    edges = (text,) if len(text) <= 2 * _EDGE else (text[:_EDGE], text[-_EDGE:])
    return any(_GENERATED.search(one) for one in edges)


_PAGES = frozenset({"doc", "docs", "documentation", "content", "website", "guide", "book"})


def is_template(document: ReviewDocument) -> bool:
    """Return whether the path of a text tells that others are to be written from it."""
    *folders, name = document.source.doc_path.lower().split("/")
    if "template" in name or "{{" in document.source.doc_path:
        return True
    return "templates" in folders and _PAGES.isdisjoint(folders)


_CHANGES = re.compile(
    r"(?:^|[/_.-])(?:change-?logs?|changes|history|news|releases?|release-?notes?)(?:[/_.-]|$)",
    re.IGNORECASE,
)
_RELEASE = re.compile(r"\W*(?:\w+ )?(?:v|version |release )?\d+(?:\.\d+)+", re.IGNORECASE)
_NEW_RELEASES = 3


def find_old_releases(document: ReviewDocument) -> int:
    """Return where a list of changes tells about old releases, else the end of the text.

    Their links lead to what was there then, and nobody changes them.
    """
    if not is_list_of_changes(document):
        return len(document.text)
    starts = [one.start for one in document.markup.headings if _RELEASE.match(one.text)]
    return starts[_NEW_RELEASES - 1] if len(starts) >= _NEW_RELEASES else len(document.text)


def is_list_of_changes(document: ReviewDocument) -> bool:
    """Return whether the name of a text tells that it lists the changes of releases."""
    return _CHANGES.search(document.source.doc_path) is not None


_DATE_FIELDS = frozenset({"date", "published", "publishdate", "publish_date", "pubdate", "created"})


def is_record(document: ReviewDocument) -> bool:
    """Return whether a text says what was true on its own date."""
    front = document.markup.front_matter
    if front is not None and any(name.lower() in _DATE_FIELDS for name, _ in front.fields):
        return True
    return bool(_RECORD.search(document.source.doc_path))
