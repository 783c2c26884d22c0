"""Contains the rules about headings, sections, anchors, footnotes and front matter."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, FootnoteUse, Heading, ReviewText, Surroundings
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


_CHARACTER_CLASS = re.compile(r"[A-Za-z0-9]-[A-Za-z0-9]|\\|[^\w-]")
_DEFINED = re.compile(r"\[\^((?:(?!\[\^)[^\]\s])+)\]:")
_USED = re.compile(r"\[\^((?:(?!\[\^)[^\]\s])+)\](?!:)")
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


_FIRST_LINE = re.compile(r"\S[^\n]*")
_COVER_NAMES = frozenset({"readme", "index", "_index", "changelog", "license", "contributing"})
_FRAGMENT_FOLDERS = frozenset({"includes", "_includes", "partials", "_partials", "snippets"})


class MalformedFrontMatter:
    """The front matter cannot be read.

    Programs then ignore its fields or show it as text. The usual causes are a value with a colon
    and no quotation marks, and a missing `---` at the end.
    """

    id: ClassVar[str] = "malformed-front-matter"
    kind: ClassVar[str] = "front_matter"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "---\ntitle: Plan: the costs\n---\n\nText\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the front matter when it is damaged."""
        del surroundings
        front = document.markup.front_matter
        if front and front.fault:
            line_end = document.text.find("\n", front.start, front.end)
            end = line_end if line_end > front.start else front.end
            yield build_finding(self, front.start, end, front.fault)


class MissingFrontMatterField:
    """The front matter lacks a field that nearly all other notes of the folder have.

    Lists and searches by that field leave the note out. Nearly all means 9 of 10, in a folder with
    at least 5 other notes. Notes such as `README.md` and `index.md` are not checked. Neither are
    texts without front matter that other pages include, such as `_part.md` and those in `includes`.
    """

    id: ClassVar[str] = "missing-front-matter-field"
    kind: ClassVar[str] = "front_matter"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "---\nauthor: Kim\n---\n\nText\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield one finding that names the missing fields."""
        source, front = document.source, document.markup.front_matter
        is_cover = source.file.stem.lower() in _COVER_NAMES
        if (
            is_cover
            or (front is None and _is_fragment(source))
            or source.media != MARKDOWN
            or (front and front.fault)
        ):
            return
        own = {name.lower() for name, _ in front.fields} if front else set()
        missing = sorted(surroundings.list_usual_fields(source) - own)
        if missing:
            line = _FIRST_LINE.search(document.text)
            reason = f"the other notes of the folder have these fields: {', '.join(missing)}"
            yield build_finding(self, *(line.span() if line else (0, 0)), reason)


def _is_fragment(source: ReviewText) -> bool:
    """Return whether the path of a document tells that other pages include its text."""
    path = source.file.relative_to(source.root)
    return path.name.startswith("_") or not _FRAGMENT_FOLDERS.isdisjoint(path.parts[:-1])
