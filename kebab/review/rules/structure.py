"""Contains the rules about headings, sections, anchors, footnotes and front matter."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, FootnoteUse, Heading, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import (
    build_finding,
    is_generated,
    is_list_of_changes,
    is_record,
    is_template,
)
from kebab.review.rules.targets import is_fragment, is_site
from kebab.wire.review import SeverityName

_WRAPPER = re.compile(
    r"</?(?:[A-Z][\w.]*|h[1-6]|details|div|section|aside|template|table|td|tr|summary|figure|dd|dl)\b"
    r"|^[ \t]*(?::{3,}|!!!|\?\?\?|=== [\"']|\{\{[<%]|\{%|--8<--|<!--@include|\{!)",
    re.MULTILINE,
)
"""What begins or ends a component, a tab or another part, whose headings have their own levels."""

_TABS = re.compile(
    r"\{\{[<%][ \t]*tab|<Tab|^=== [\"']|^:{3,}[ \t]*\{?(?:tab|code-group)|\{%[ \t]*tab"
    r"|^<!--[ \t]*tabs",
    re.MULTILINE,
)
_VERSION = re.compile(r"\W*(?:v|version |release )?\W?\d+(?:[.-]\d+)+|\W*unreleased", re.IGNORECASE)


_RELEASE = re.compile(r"[\w-]+ v?\d+(?:\.\d+)+")
"""The name and the version of a package."""

_FEW_JUMPS = 2
_MIN_LISTED = 3
"""How many headings of one level without text between them are a list."""


class DuplicateHeading:
    """Two headings of the same section have the same text.

    Readers cannot tell them apart in a table of contents, and a link to the second one breaks when
    the first is renamed. Headings below different headings or versions, or in different components
    are not compared, and neither are those of slides, of pages with tabs, and of texts that say
    that a program wrote them. Names of code, as overloads have them, headings that repeat three
    times, and several that repeat in the same order are a form and are not reported.
    """

    id: ClassVar[str] = "duplicate-heading"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "# A\n\n## Costs\n\n100\n\n## Costs\n\n200\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the headings that repeat one of their section."""
        del surroundings
        front = document.markup.front_matter
        if front and not _SLIDE_FIELDS.isdisjoint(name.lower() for name, _ in front.fields):
            return
        found = list(self._find(document))
        if found and not _TABS.search(document.text) and not is_generated(document):
            counts = Counter(one for one, _ in found)
            pairs = {(first, second) for first, second in found if counts[first] == 1}
            for first, second in sorted(pairs):
                steps = ((first - 1, second - 1), (first + 1, second + 1))
                if pairs.isdisjoint(steps):  # else several are repeated in order, as in a form
                    yield self._build(document, first, second)

    def _build(self, document: ReviewDocument, first: int, second: int) -> Finding:
        before, heading = document.markup.headings[first], document.markup.headings[second]
        line = document.find_line(before.start)[0]
        reason = f"line {line} has the same heading: {heading.text}"
        return build_finding(self, heading.start, heading.end, reason)

    def _find(self, document: ReviewDocument) -> Iterator[tuple[int, int]]:
        """Yield the positions of equal headings, the first one of its section and another."""
        seen: list[dict[str, int]] = [{} for _ in range(8)]
        headings = document.markup.headings
        for index, heading in enumerate(headings):
            is_version = _VERSION.match(heading.text) is not None
            for level in range(1 if is_version else heading.level + 1, len(seen)):
                seen[level].clear()
            key = " ".join(heading.text.split())
            first = seen[heading.level].setdefault(key, index) if key else index
            is_same = first != index and headings[first].anchor == heading.anchor
            if not is_same or _is_nested(document, heading):
                continue
            if _is_in_container(document, heading):
                continue
            source = document.text[heading.start : heading.end]
            between = document.text[headings[first].end : heading.start]
            if not _is_form(heading, source) and not _crosses_block(between):
                yield first, index


_SLIDE_FIELDS = frozenset({"marp", "revealoptions", "revealjs", "slidev", "slides", "paginate"})
_BLOCK_TAG = re.compile(
    r"<(/?)([A-Z][\w.]*|details|div|section|aside|template|table|td|th|tr|dl|dd|li|ul|ol|blockquote)"
    r"\b([^<>]*+)>"
)


def _crosses_block(text: str) -> bool:
    """Return whether a component or block begins or ends within a text, and not both."""
    opened: list[str] = []
    for end, name, attributes in _BLOCK_TAG.findall(text):
        if attributes.endswith("/"):
            continue
        if not end:
            opened.append(name)
        elif name not in opened:
            return True
        else:
            opened.remove(name)
    return bool(opened)


_FORM = re.compile(
    r"(?:call signatures?|type param(?:eter)?s?|param(?:eter)?s?|returns?|examples?|throws|syntax"
    r"|(?:request|response)(?: body)?|query parameters|inherited from|overrides)\Z"
    r"|`[^`]+`\Z"
    r"|[a-z]+[A-Z_]\w*\Z|(?:[A-Z][a-z0-9]+){2,}\Z|\S*[.()_<>:]\S*\Z",
)
"""Headings of references, and names of code."""


_TAG = re.compile(r"<[^<>]*+>")
_FORM_BELOW = re.compile(
    r"(?:(?:bad|good|correct|incorrect|invalid|valid|problematic|non-?compliant|compliant)"
    r"(?: codes?| examples?)?|before|after|input|output|notes?|see also|options|arguments"
    r"|attributes|properties|methods|events|errors?|signature|default|solution|answer|description|usage"
    r"|linux|macos|windows|unix|(?:windows )?powershell|bash)\Z",
    re.IGNORECASE,
)
"""Headings of a form, which a section may have for each of its parts."""


def _is_form(heading: Heading, source: str) -> bool:
    title = _TAG.sub("", source).strip("# \t")
    forms = (heading.text, heading.text.lower(), title)
    is_part = heading.level > 2 and _FORM_BELOW.match(heading.text) is not None  # noqa: PLR2004
    return is_part or any(_FORM.match(one) for one in forms)


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
    add the missing one. The first heading may have any level, and so may the first one in a
    component, a tab or another part of the page. A level that is left out more than twice, or more
    often than it is used, is reported once. What most documents of the folder do is not reported,
    and neither is a level that the page never uses and leaves out twice. Documents that say that a
    program wrote them, and lists of changes with several such levels, are not checked.
    """

    id: ClassVar[str] = "heading-jump"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "# Plan\n\n### Costs\n\n100\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the headings that skip a level."""
        headings = [one for one in document.markup.headings if not _is_quoted(document, one)]
        uses = Counter(one.level for one in headings)
        jumps = [
            (before, heading)
            for before, heading in pairwise(headings)
            if heading.level > before.level + 1
            and not _WRAPPER.search(document.text, before.end, heading.start)
        ]
        is_habitual = len(jumps) > _FEW_JUMPS and is_list_of_changes(document)
        if jumps and (is_habitual or is_generated(document)):
            return
        usual = surroundings.list_usual_jumps(document.source) if jumps else ()
        jumps = [one for one in jumps if (one[0].level, one[1].level) not in usual]
        counts = Counter(before.level + 1 for before, _ in jumps)
        # A page that never uses a level leaves it out on purpose.
        jumps = [one for one in jumps if counts[one[0].level + 1] < 2 or uses[one[0].level + 1]]  # noqa: PLR2004 - once is a slip
        reported: set[int] = set()
        for before, heading in jumps:
            missing = before.level + 1
            is_habit = counts[missing] > min(_FEW_JUMPS, max(1, uses[missing]))
            reason = f"the level jumps from {before.level} to {heading.level}"
            if is_habit:
                reason += f", here and {counts[missing] - 1} more times"
            if missing not in reported or not is_habit:
                yield build_finding(self, heading.start, heading.end, reason)
            reported.add(missing)


def _is_code_name(document: ReviewDocument, heading: Heading) -> bool:
    """Return whether a heading begins a list of names of code, which may have the same level."""
    return document.text[heading.start : heading.end].lstrip("# ").startswith("`")


def _is_nested(document: ReviewDocument, heading: Heading) -> bool:
    """Return whether a heading stands in a list item or a quotation."""
    text = document.text
    return text.rfind("\n", 0, heading.start) + 1 != heading.start


_CONTAINER = re.compile(r"^[ \t]*:{3,}[ \t]*(\S*)", re.MULTILINE)


def _is_in_container(document: ReviewDocument, heading: Heading) -> bool:
    """Return whether a heading stands between lines of colons, as an example of markup does."""
    if ":::" not in document.text:
        return False
    depth = 0
    for line in _CONTAINER.finditer(document.text, 0, heading.start):
        depth = depth + 1 if line[1] else max(0, depth - 1)
    return depth > 0


def _is_quoted(document: ReviewDocument, heading: Heading) -> bool:
    text = document.text
    return ">" in text[text.rfind("\n", 0, heading.start) + 1 : heading.start]


class EmptySection:
    """A section has a heading and nothing else.

    It is often left over, or still to be written. A heading that is followed by a lower one is no
    empty section, and neither are the headings of versions, headings with a link or above names of
    code, names of code such as types and functions, four and more without text that form a list,
    and those of a document that has only headings. Changelogs, templates, pages under construction,
    and what a program wrote are not checked.
    """

    id: ClassVar[str] = "empty-section"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "# Plan\n\n## Costs\n\n## Time\n\nOne week.\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the headings of empty sections."""
        del surroundings
        found = list(self._find(document))
        is_form = found and (
            is_record(document)
            or is_template(document)
            or "under construction" in document.lower_text
            or is_generated(document)
        )
        is_part = bool(found) and is_fragment(document.source)
        last = document.markup.headings[-1].start if is_part else -1
        questions = [one for one in found if "?" in one.reason]
        dropped = questions if len(questions) > 1 else []  # a form to fill in
        yield from (
            () if is_form else (one for one in found if one.start != last and one not in dropped)
        )

    def _find(self, document: ReviewDocument) -> Iterator[Finding]:
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
            if _is_quoted(document, heading) or (after and _is_code_name(document, after)):
                continue
            if index == 0 and after and after.level == heading.level == 1:
                continue  # the title of the document
            if _is_in_container(document, heading):
                continue
            source = text[heading.start : heading.end]
            if _is_name(heading, after) or _is_symbol(source) or _SETEXT.match(source):
                continue
            if not _is_listed(headings, has_body, index, text):
                reason = f"the section is empty: {heading.text}"
                yield build_finding(self, heading.start, heading.end, reason)


_LONGEST_SYMBOL = 300
_SYMBOL = re.compile(
    r"#+[ \t]+(?:[`*_\\]+[^\n]*[`*_]+|\S*[a-z0-9][A-Z.:_]\S*|\S*[^\w\s.!?…'’)-]\S*|None|N/?A|Void"
    r"|[a-z]\S*|[^\n]*\][(\[][^\n]*|[^\n]*[.!;,]|[*+-][ ][^\n]*|[^\n]*<[\w ]+>[^\n]*"
    r"|[^\n]*\w\.(?:md|txt|ya?ml|json)\b[^\n]*"
    r"|\d+[.)](?:(?:[ \t]+\S+){4,}|[^\n]*[ ](?:--|[–—])[^\n]*))[ \t#]*"
)
"""A heading of one word of code, as references have it for members, a link, a step or a sentence.
"""


def _is_symbol(source: str) -> bool:
    return len(source) <= _LONGEST_SYMBOL and _SYMBOL.fullmatch(source) is not None


_SETEXT = re.compile(r"(?!#)[^\n]*\n[^\n]*\n|(?!#)[\w-]+:[ \t]")
"""Several lines above a line of dashes, such as front matter that does not begin the file."""


def _is_name(heading: Heading, after: Heading | None) -> bool:
    """Return whether a heading is that of a version, or of one of several forms of a function."""
    is_form = "(" in heading.text and after is not None and "(" in after.text
    is_release = _RELEASE.fullmatch(heading.text) is not None
    return not heading.text or is_form or is_release or _VERSION.match(heading.text) is not None


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
        indented = _list_labels(document, _DEFINED) if uses else ()
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
        used |= _list_labels(document, _USED) if uses else set()
        for one in uses:
            if one.is_definition and _fold_label(one) not in used:
                reason = f"the footnote is not used: {one.label}"
                yield build_finding(self, one.start, one.end, reason)


def _fold_label(use: FootnoteUse) -> str:
    return use.label.casefold()


def _list_labels(document: ReviewDocument, pattern: re.Pattern[str]) -> set[str]:
    """Return the labels anywhere in the text; in admonitions they are indented like code."""
    if "^" not in document.text:
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
_HIDDEN_FIELDS = frozenset({"draft", "published", "unlisted", "redirect_to", "redirect"})
_KIND_FIELDS = frozenset({"type", "layout", "kind", "template", "content_type"})
_NOTE_FIELDS = frozenset({"tags", "date", "created"})
_PAGE_FIELDS = frozenset(
    {
        *("title", "description", "summary", "type", "content_type", "layout", "author", "authors"),
        *("category", "lang", "language", "status"),
    }
)
_OPTIONAL_FIELDS = frozenset(
    {
        *("aliases", "weight", "reviewers", "reviewer", "sections_weight", "linktitle", "menu"),
        *("cssclass", "cssclasses", "lastmod", "updated", "modified", "publishdate", "image", "id"),
        *(
            "redirect_from",
            "slug",
            "permalink",
            "url",
            "keywords",
            "hide",
            "toc",
            "sidebar_position",
            "draft",
        ),
    }
)
_COVER_NAMES = frozenset(
    {"readme", "index", "_index", "changelog", "license", "contributing", "template", "summary"}
)


_TEMPLATE = re.compile(r"\{\{|\{%|<%")


class MalformedFrontMatter:
    """The front matter cannot be read.

    Programs then ignore its fields or show it as text. The usual causes are a value with a colon
    and no quotation marks, and a missing `---` at the end. Templates such as `{{ title }}` are not
    checked, and what most files of the source have is the way of their program.
    """

    id: ClassVar[str] = "malformed-front-matter"
    kind: ClassVar[str] = "front_matter"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "---\ntitle: Plan: the costs\n---\n\nText\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the front matter when it is damaged."""
        front = document.markup.front_matter
        if (
            front
            and front.fault
            and not _TEMPLATE.search(document.text, 0, front.end)
            and not surroundings.is_usual_fault(document.source, front.fault)
        ):
            line_end = document.text.find("\n", front.start, front.end)
            end = line_end if line_end > front.start else front.end
            yield build_finding(self, front.start, end, front.fault)


class MissingFrontMatterField:
    """The front matter lacks a field that nearly all other notes of the folder have.

    Lists and searches by that field leave the note out. Nearly all means 19 of 20 of the other
    notes of the same kind, which is that of the suffix, of a field such as `type` or `layout`, and
    of front matter at all; there must be at least 5. Fields that pages have by chance, such as
    `weight` and `aliases`, do not count. Only common fields such as `title`, `tags` and `date` do
    unless the note names its kind, and in a site only those that tell what a page is.
    A heading of the first level is a title. Notes such as `README.md` and `index.md` are not
    checked. Neither are texts that other pages include: `_part.md`, and those in `includes` without
    front matter.
    """

    id: ClassVar[str] = "missing-front-matter-field"
    kind: ClassVar[str] = "front_matter"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "---\nauthor: Kim\n---\n\nText\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield one finding that names the missing fields."""
        source, front = document.source, document.markup.front_matter
        is_cover = source.file.stem.lower() in _COVER_NAMES or is_template(document)
        if (
            is_cover
            or (is_fragment(source) and (front is None or source.file.name.startswith("_")))
            or source.media != MARKDOWN
            or (front and front.fault)
        ):
            return
        in_site = is_site(source, surroundings)
        headings = document.markup.headings
        if front is None and in_site and not (headings and headings[0].level == 1):
            return
        own = {name.lower() for name, _ in front.fields} if front else set()
        if not _HIDDEN_FIELDS.isdisjoint(own):
            return
        usual = surroundings.list_usual_fields(source) - own - _OPTIONAL_FIELDS
        if headings and headings[0].level == 1:
            usual -= {"title"}  # programs take the heading
        if in_site:
            usual &= _PAGE_FIELDS
        elif _KIND_FIELDS.isdisjoint(own):
            usual &= _PAGE_FIELDS | _NOTE_FIELDS
        missing = sorted(usual)
        if missing:
            line = _FIRST_LINE.search(document.text)
            reason = f"the other notes of the folder have these fields: {', '.join(missing)}"
            yield build_finding(self, *(line.span() if line else (0, 0)), reason)
