"""Applies the rules to documents, and decides which findings count.

Comments ignore findings, and a review of changes leaves out other lines.

`<!-- kebab-ignore RULE, RULE: reason -->` means its own line, and the next one when nothing else
stands in its line; `kebab-ignore-file` means the whole file. A rule of a linter has its id, such as
`rumdl:MD011`; a blank follows the colon before a reason. Without a rule all findings are meant.
Comments of MDX (`{/* … */}`) and Obsidian (`%% … %%`) count too, and in text without Markdown those
that begin a line with `#`, `//`, `%`, `;`, `--` or `..`.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.media import MARKDOWN
from kebab.core.review import Span, Unit, UnitResult
from kebab.core.spelling import find_likely_name
from kebab.errors.catalog import ConfigInvalid, InvalidInput
from kebab.review.document import ReviewDocument
from kebab.review.links import BrokenAnchor, BrokenLink, MissingImage, MissingNote, list_doubtful
from kebab.review.linters import Linter, Report, Rumdl, Typos
from kebab.review.rules import Rule, Surroundings, build_items, locate_item
from kebab.review.run import UnitWorker, needs_model
from kebab.review.statements import NearDuplicate, StaleDate
from kebab.wire.review import AgentItem

RULES: tuple[Rule, ...] = (
    BrokenAnchor(),
    BrokenLink(),
    MissingImage(),
    MissingNote(),
    NearDuplicate(),
    StaleDate(),
)
"""Every rule of kebab, sorted by its id."""

LINTERS: tuple[type[Linter], ...] = (Rumdl, Typos)
"""The programs that check what kebab does not."""


def select_rules(
    named: Collection[str] | None,
    disabled: Collection[str] = (),
    files: Sequence[str] = (),
    report: Report = lambda _: None,
) -> list[Rule]:
    """Return the rules with these names, or all that are not disabled when none is named.

    Linters check the files of a review, and report what they do not check.

    Raises:
        InvalidInput: A name is no rule.
        ConfigInvalid: The settings disable something that is no rule.
    """
    rules = [*RULES, *(one(files, report=report) for one in LINTERS)]
    known = sorted(rule.id for rule in rules)
    if fault := _explain_unknown(disabled, known):
        raise ConfigInvalid(path="review.disable", cause=fault)
    if named is None:
        return [rule for rule in rules if rule.id not in disabled]
    if fault := _explain_unknown(named, known):
        raise InvalidInput(field="$.rules", cause=fault)
    return [rule for rule in rules if rule.id in named]


def _explain_unknown(names: Collection[str], known: Collection[str]) -> str | None:
    """Return what is wrong with the first name that is no rule."""
    name = next((one for one in names if one not in known), None)
    if name is None:
        return None
    near = find_likely_name(name, known)
    return f"unknown rule `{name}`" + (f", did you mean `{near}`?" if near else "")


class RulesWorker(Struct, frozen=True):
    """Plans one unit for all rules over a document; without a rule it has no items."""

    _rules: Sequence[Rule]
    _surroundings: Surroundings

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the unit of kind `rules`."""
        return [Unit("rules", (0, 0), 0, len(document.text))]

    def work(self, document: ReviewDocument, unit: Unit) -> UnitResult:
        """Return the findings of all rules, sorted by their place."""
        del unit
        findings = [
            finding for rule in self._rules for finding in rule.check(document, self._surroundings)
        ]
        findings.sort(key=lambda one: (one.start, one.end, one.rule_id or ""))
        items = build_items(document, findings)
        names = list_doubtful(document, findings)
        doubtful = tuple(one.uid for one in items if one.rule_id in names)
        return UnitResult(items=tuple(items), doubtful=doubtful)


class SelectingWorker(Struct, frozen=True, kw_only=True):
    """Works as another worker does, and keeps the findings that count.

    Attributes:
        inner: The other worker.
        list_changed: Returns the changed lines of a file as [first, last] from 1, in order; None
            when all of its lines count.
        keep_doubtful: Whether findings count that are probably no mistakes.
    """

    inner: UnitWorker
    list_changed: Callable[[ReviewDocument], Sequence[Span] | None] = lambda _: None
    keep_doubtful: bool = False

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units of a document; those of the model only where lines count."""
        units = self.inner.plan(document)
        changed = self.list_changed(document)
        if changed is None:
            return units
        return [
            unit
            for unit in units
            if not needs_model(unit) or _touches(document, (unit.start, unit.end), changed)
        ]

    def work(self, document: ReviewDocument, unit: Unit) -> UnitResult:
        """Return the result of one unit with the items that count."""
        result = self.inner.work(document, unit)
        if not result.items:
            return result
        comments = read_ignores(document)
        changed = self.list_changed(document)
        kept, ignored = [], 0
        for item in result.items:
            span = locate_item(document, item)
            if any(one.covers(item, _find_lines(document, span)) for one in comments):
                ignored += 1
            elif changed is None or _touches(document, span, changed):
                kept.append(item)
        doubtful = () if self.keep_doubtful else result.doubtful
        return replace(
            result,
            items=tuple(one for one in kept if one.uid not in doubtful),
            doubtful=tuple(one.uid for one in kept if one.uid in doubtful),
            ignored=ignored,
        )


def name_finding(item: AgentItem) -> str:
    """Return the rule of a finding, or the kind of one that no rule found."""
    return item.rule_id if isinstance(item.rule_id, str) else item.k


def _touches(document: ReviewDocument, span: Span, lines: Sequence[Span]) -> bool:
    """Return whether [start, end) has a character in one of the lines."""
    first, last = _find_lines(document, span)
    return any(low <= last and high >= first for low, high in lines)


def _find_lines(document: ReviewDocument, span: Span) -> Span:
    start, end = span
    return document.find_line(start)[0], document.find_line(max(start, end - 1))[0]


_WORD = "kebab-ignore"
_END = r"(?:-->|\*/\}|%%)"
_BODY = rf"kebab-ignore(?P<file>-file)?(?![\w-])(?P<names>(?:(?!:(?:\s|$)|:?{_END})[^\n])*+)"
_IN_MARKDOWN = re.compile(rf"(?:<!--|\{{/\*|%%)\s*+{_BODY}(?:(?!{_END})[^\n])*+{_END}")
"""Comments of HTML, MDX and Obsidian."""
_IN_TEXT = re.compile(rf"^[ \t]*+(?:#++|//++|%++|;++|--|\.\.)[ \t]*+{_BODY}.*", re.MULTILINE)
_NAME = re.compile(r"[^\s,]+")
_ONLY_SIGNS = re.compile(r"[\s>*+|-]*")
"""What may stand beside a comment that is alone in its line."""


class IgnoreComment(NamedTuple):
    """A comment that ignores findings in the lines [first, last], from 1.

    `names` are rules or kinds; without one every finding is ignored.
    """

    names: frozenset[str]
    first: int
    last: int

    def covers(self, item: AgentItem, lines: Span) -> bool:
        """Return whether a finding in some lines is ignored."""
        is_near = lines[0] <= self.last and lines[1] >= self.first
        return is_near and (not self.names or not self.names.isdisjoint({item.rule_id, item.k}))


def read_ignores(document: ReviewDocument) -> list[IgnoreComment]:
    """Return the comments of a document that ignore findings, in order."""
    text = document.text
    if _WORD not in text:
        return []
    is_markdown = document.source.media == MARKDOWN
    comments = []
    for found in (_IN_MARKDOWN if is_markdown else _IN_TEXT).finditer(text):
        if is_markdown and _is_code(document, *found.span()):
            continue
        names = frozenset(_NAME.findall(found["names"]))
        first, last = _find_lines(document, found.span())
        if found["file"]:
            first, last = 1, len(document.lines)
        else:
            before = text[document.line_starts[first - 1] : found.start()]
            after = text[found.end() :].partition("\n")[0]
            if all(map(_ONLY_SIGNS.fullmatch, (before, after))):
                lines = enumerate(document.lines[last:], last + 1)
                following = next((number for number, line in lines if line.strip()), last)
                first, last = last, following
        comments.append(IgnoreComment(names, first, last))
    return comments


def _is_code(document: ReviewDocument, start: int, end: int) -> bool:
    """Return whether a comment is shown as code, such as in the documentation of comments."""
    markup, text = document.markup, document.text
    return any(low <= start and end <= high for low, high in markup.code_blocks) or any(
        low < start and end <= high and text[low] == "`" for low, high in markup.code
    )
