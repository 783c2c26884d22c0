"""Contains the rules about headings, sections and anchors."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

from kebab.core.review import Finding, Heading, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding
from kebab.wire.review import SeverityName

_HTML_HEADING = re.compile(r"<h[1-6]\b", re.IGNORECASE)
_TABS = re.compile(
    r"\{\{[<%][ \t]*tab|<Tab|^=== [\"']|^:{3,}[ \t]*\{?(?:tab|code-group)|\{%[ \t]*tab",
    re.MULTILINE,
)
_VERSION = re.compile(r"\W*(?:v|version |release )?\d+(?:[.-]\d+)+|\W*unreleased", re.IGNORECASE)


_MIN_LISTED = 3
"""How many headings of one level without text between them are a list."""


class DuplicateHeading:
    """Two headings of the same section have the same text.

    Readers cannot tell them apart in a table of contents, and a link to the second one breaks when
    the first is renamed. Headings below different headings or versions are not compared, and
    neither are those of pages with tabs.
    """

    id: ClassVar[str] = "duplicate-heading"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "# A\n\n## Costs\n\n100\n\n## Costs\n\n200\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the headings that repeat one of their section."""
        del surroundings
        found = list(self._find(document))
        if found and not _TABS.search(document.text):
            yield from found

    def _find(self, document: ReviewDocument) -> Iterator[Finding]:
        seen: list[dict[str, Heading]] = [{} for _ in range(8)]
        for heading in document.markup.headings:
            is_version = _VERSION.match(heading.text) is not None
            for level in range(1 if is_version else heading.level + 1, len(seen)):
                seen[level].clear()
            key = " ".join(heading.text.casefold().split())
            first = seen[heading.level].setdefault(key, heading) if key else heading
            if first is not heading and first.anchor == heading.anchor:
                line = document.find_line(first.start)[0]
                reason = f"line {line} has the same heading: {heading.text}"
                yield build_finding(self, heading.start, heading.end, reason)


class DuplicateAnchor:
    """An anchor is declared twice.

    Links to it open the first place. Rename one of the two.
    """

    id: ClassVar[str] = "duplicate-anchor"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = '<a id="costs"></a>\n100\n\n<a id="costs"></a>\n200\n'

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the anchors that an earlier one equals."""
        del surroundings
        text = document.text
        declared = [
            (one.anchor, one.start, one.end)
            for one in document.markup.anchors
            if text[one.start] in "<^" or text.startswith(")=", one.end)
        ]
        declared += [
            (one.anchor, one.start, one.end) for one in document.markup.headings if one.anchor
        ]
        first: dict[str, int] = {}
        for anchor, start, end in sorted(declared, key=lambda one: one[1]):
            if first.setdefault(anchor, start) != start and anchor:
                line = document.find_line(first[anchor])[0]
                yield build_finding(self, start, end, f"line {line} has the same anchor: {anchor}")


class HeadingJump:
    """A heading is more than one level below the one before it.

    Readers and programs that build an outline look for the level between them. Raise the heading or
    add the missing one. The first heading may have any level. A level that is left out more often
    than it is used is reported once.
    """

    id: ClassVar[str] = "heading-jump"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "# Plan\n\n### Costs\n\n100\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the headings that skip a level."""
        del surroundings
        headings = document.markup.headings
        uses = Counter(one.level for one in headings)
        jumps = [
            (before, heading)
            for before, heading in pairwise(headings)
            if heading.level > before.level + 1
            and not _HTML_HEADING.search(document.text, before.end, heading.start)
        ]
        counts = Counter(before.level + 1 for before, _ in jumps)
        reported: set[int] = set()
        for before, heading in jumps:
            missing = before.level + 1
            reason = f"the level jumps from {before.level} to {heading.level}"
            if counts[missing] > max(1, uses[missing]):
                reason += f", here and {counts[missing] - 1} more times"
            if missing not in reported or counts[missing] <= uses[missing]:
                yield build_finding(self, heading.start, heading.end, reason)
            reported.add(missing)


class EmptySection:
    """A section has a heading and nothing else.

    It is often left over, or still to be written. A heading that is followed by a lower one is no
    empty section, and neither are the headings of versions, four and more without text that form a
    list, and those of a document that has only headings.
    """

    id: ClassVar[str] = "empty-section"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "# Plan\n\n## Costs\n\n## Time\n\nOne week.\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the headings of empty sections."""
        del surroundings
        headings, text = document.markup.headings, document.text
        ends = [one.start for one in headings[1:]] + [len(text)]
        ends = ends[: len(headings)]
        has_body = [
            bool(text[one.end : end].strip()) for one, end in zip(headings, ends, strict=True)
        ]
        following = [*headings[1:], None] if any(has_body) else []
        for index, (heading, after) in enumerate(zip(headings, following, strict=False)):
            if has_body[index] or (after is not None and after.level > heading.level):
                continue
            if not _is_name(heading, after) and not _is_listed(headings, has_body, index, text):
                reason = f"the section is empty: {heading.text}"
                yield build_finding(self, heading.start, heading.end, reason)


def _is_name(heading: Heading, after: Heading | None) -> bool:
    """Return whether a heading is that of a version, or of one of several forms of a function."""
    is_form = "(" in heading.text and after is not None and "(" in after.text
    return not heading.text or is_form or _VERSION.match(heading.text) is not None


def _is_listed(
    headings: Sequence[Heading], has_body: Sequence[bool], index: int, text: str
) -> bool:
    """Return whether a heading is one of several without text, which then are a list.

    Headings on lines that follow each other share their text.
    """
    level, first, last = headings[index].level, index, index
    least = max(0, index - _MIN_LISTED)
    most = min(len(headings) - 1, index + _MIN_LISTED)
    while first > least and not has_body[first - 1] and headings[first - 1].level == level:
        first -= 1
    while last < most and not has_body[last] and headings[last + 1].level == level:
        last += 1
    shares = last > index and text.count("\n", headings[index].end, headings[index + 1].start) == 1
    return shares or last - first >= _MIN_LISTED
