"""Declares what a rule is, and tells texts that several rules leave out."""

import re
from collections.abc import Iterable
from typing import Protocol

from kebab.core.media import MARKDOWN
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

_COPIED = re.compile(
    r"(?:^|/)(?:licen[cs]es?|copying|copyright|notice|(?:third|3rd)[-_]?part(?:y|ies)[-_]?\w*)"
    r"(?:[/._-]|$)",
    re.IGNORECASE,
)
"""Paths of texts that nobody may change."""

_GENERATED = re.compile(
    r"@generated\b|\bDO NOT EDIT\b"
    r"|(?:<!--|^(?:#|//|\.\.|%))[^\n]{0,120}\b[Dd]o(?: not|n't) (?:edit|modify)\b"
    r"|\b[Aa]uto(?:matically)?[ -]?generated (?:by|from|with|file|document|page|content)\b"
    r"|\b[Gg]enerated automatically\b|\b[Ff]ile is generated\b|\bnot the primary documentation\b"
    r"|\b[Tt]his (?:\w+[ ]){1,3}(?:is|was|has been) (?:auto(?:matically)?[ -]?)?generated\b",
    re.MULTILINE,
)
_HEAD, _TAIL = 1_500, 500
"""How much of the beginning and the end of a text may tell that a program wrote it."""


def is_generated(document: ReviewDocument) -> bool:
    """Return whether a text says that a program wrote it."""
    text = document.text
    ends = text[:_HEAD], text[-_TAIL:] if len(text) > _HEAD else ""
    return any(map(_GENERATED.search, ends))


_PAGES = frozenset({"doc", "docs", "documentation", "content", "website", "guide", "book"})


_PLACEHOLDER_TITLE = re.compile(r"#+ [^\n{]*\{\{(?![<%])")
_FORMS = frozenset({"templates", "skeleton", "skeletons", "scaffold", "archetypes", "boilerplate"})


def is_template(document: ReviewDocument) -> bool:
    """Return whether the path or the title of a text tells that others are written from it."""
    *folders, name = document.source.doc_path.lower().split("/")
    if "template" in name or "{{" in document.source.doc_path:
        return True
    return _PLACEHOLDER_TITLE.match(document.text) is not None or (
        not _FORMS.isdisjoint(folders) and _PAGES.isdisjoint(folders)
    )


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


def is_copied(document: ReviewDocument) -> bool:
    """Return whether the words of a text are those of others: of a licence or of a program."""
    return bool(_COPIED.search(document.source.doc_path)) or is_generated(document)


_TITLE = re.compile(
    r"^[ \t]*[-*+][ \t]+(?:\[?(?:bug|feature|issue|support)[ ]#?\d{2,}\b|\[?#\d{2,}\b"
    r"|\[[A-Z]{2,}-\d+\]"
    r"|[^\n]{1,400}(?:\(\[?@[\w-]+(?:\]\([^()\s]+\))?\)\s*$"
    r"|[ ]by[ ]\[?@[\w-]+(?:\]\([^()\s]+\))?,?[ ]in[ ]\S+\s*$"
    r"|/commit/[0-9a-f]{7}|\(`?[0-9a-f]{7,40}`?\)))",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST_LINE = 1_000


def is_title_of_change(document: ReviewDocument, offset: int) -> bool:
    """Return whether a line is the title of an issue, a commit or a pull request in a list."""
    text = document.text
    start, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    end = end if end >= 0 else len(text)
    return end - start <= _LONGEST_LINE and _TITLE.match(text, start, end) is not None


_CUT = re.compile(r"(?:\.\.\.|…)[ \t]*(?:</t[dh]>|\||$)", re.MULTILINE)


def is_cut_cell(document: ReviewDocument, offset: int) -> bool:
    """Return whether a line is a cell or a row whose text was cut, as programs print tables."""
    text = document.text
    start, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    line = text[start : end if end >= 0 else len(text)].lstrip()
    is_cell = line.startswith(("<td", "<th"))
    return (is_cell and '<table border="1"' in text) or (
        (is_cell or line.startswith("|")) and _CUT.search(line) is not None
    )


def is_literal(document: ReviewDocument, offset: int) -> bool:
    """Return whether an offset is in code of reStructuredText, which stands in two backticks."""
    text = document.text
    return (
        document.source.media != MARKDOWN
        and text.count("``", text.rfind("\n", 0, offset) + 1, offset) % 2 == 1
    )
