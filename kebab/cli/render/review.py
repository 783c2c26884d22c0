"""Renders the findings of a review: with their lines and fixes, one per line, or as SARIF 2.1.0.

SARIF is the Static Analysis Results Interchange Format.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kebab import __version__
from kebab.cli.render.canvas import (
    Canvas,
    Column,
    clean,
    measure_width,
    render_columns,
    render_difference,
    truncate_around,
)
from kebab.cli.render.compact import format_openable_path
from kebab.cli.render.hits import render_degraded
from kebab.review.items import FileState, LocatedItem, LocatedPage
from kebab.review.selection import name_finding
from kebab.wire.coverage import pluralize
from kebab.wire.review import (
    AgentItems,
    ItemFix,
    ItemWarning,
    ReviewApplied,
    ReviewedDocument,
    SeverityName,
    TranslatedText,
)
from kebab.wire.search import DegradedChannel

_ELLIPSIS = "…"
_INDENT = "    "
_TAB = 4
_WIDTH = 80

PAINTS: Mapping[SeverityName, Callable[[Canvas, str], str]] = {
    "error": Canvas.error,
    "warning": Canvas.warning,
    "suggestion": Canvas.location,
}
"""The style of each severity, the worst first."""


def render_excerpt(located: LocatedItem, canvas: Canvas) -> Iterator[str]:
    """Yield the first line of an item with its words underlined, and what its fix does."""
    item = located.item
    if located.lines:
        number, line = str(located.start.line), located.lines[0]
        is_whole = located.start.line == located.end.line
        start = located.start.column - 1
        end = max(start, located.end.column - 1 if is_whole else len(line))
        room = (canvas.width or _WIDTH) - len(_INDENT) - len(number) - 3
        before, until, whole = (
            clean(part.expandtabs(_TAB)) for part in (line[:start], line[:end], line)
        )
        text, shift = truncate_around(whole, len(before), room)
        first, last = len(before) + shift, len(until) + shift
        bar = canvas.dim("│")
        words = canvas.paint(text[first:last], bold=True)
        yield f"{_INDENT}{canvas.dim(number)} {bar} {text[:first]}{words}{text[last:]}"
        arrows = "^" * max(1, measure_width(text[first:last])) + _ELLIPSIS * (not is_whole)
        blank = " " * measure_width(text[:first])
        margin = _INDENT + " " * len(number)
        yield f"{margin} {bar} {blank}{PAINTS[item.s](canvas, arrows)}"
    if isinstance(item.fix, ItemFix):
        note = f" ({item.fix.note})" if isinstance(item.fix.note, str) else ""
        done = item.fix.text or f"({item.t})"
        yield from canvas.wrap(clean(f"{done}{note}"), f"{_INDENT}{canvas.success('fix:')} ")


_SEVERITY_WIDTH = 10
_STATES: dict[FileState, str] = {
    "same": "",
    "changed": "the file changed since it was reviewed, so its lines are not shown",
    "unreadable": "the file cannot be read, so its lines are not shown",
}

_WARNINGS: dict[ItemWarning, str] = {
    "downshift_exhausted": "responses of the model were cut off; findings may be missing",
    "items_dropped": "findings without a place in the text were dropped",
    "no_model_text": "documents without text for the model, such as code, met rules only",
    "run_not_stored": "the run is not stored under `--read-only`",
    "unit_incomplete": "a part of the text has no complete answer of the model",
}


class ReviewTally(Struct):
    """Counts the findings of all pages of a review."""

    by_rule: Counter[tuple[SeverityName, str]] = field(default_factory=Counter)
    files: set[str] = field(default_factory=set)
    named: int = 0
    fixes: int = 0
    safe_fixes: int = 0
    doubtful: int = 0
    ignored: int = 0
    warnings: dict[ItemWarning, None] = field(default_factory=dict)
    degraded: dict[str, DegradedChannel] = field(default_factory=dict)
    unanswered_count: int = 0

    def add(self, page: AgentItems) -> None:
        """Count a page."""
        if page.document is not None:
            self.named = page.document.of
            if page.items:
                self.files.add(page.document.file)
        for item in page.items:
            self.by_rule[item.s, name_finding(item)] += 1
            if isinstance(item.fix, ItemFix):
                self.fixes += 1
                self.safe_fixes += item.fix.safe is True
        self.doubtful += page.doubtful
        self.ignored += page.ignored
        self.unanswered_count = page.unanswered_count
        self.warnings |= dict.fromkeys(page.warnings)
        for one in page.degraded:
            self.degraded[one.reason if one.channel in {"document", "lint"} else one.channel] = one

    @property
    def documents(self) -> int:
        """The number of documents that could be read."""
        unread = sum(one.channel == "document" for one in self.degraded.values())
        return max(0, self.named - unread)

    @property
    def is_whole(self) -> bool:
        """Whether the model read all the text that it was to read."""
        return "llm" not in self.degraded and not self.unanswered_count


def render_path(document: ReviewedDocument, state: FileState, canvas: Canvas) -> Iterator[str]:
    """Yield the path of a document, and why its lines are not shown."""
    path = clean(format_openable_path(document.file, document.doc_path))
    yield canvas.link(canvas.strong(canvas.location(path)), document.file)
    yield from canvas.note(_STATES[state])


def render_items(page: AgentItems, located: LocatedPage, canvas: Canvas) -> Iterator[str]:
    """Yield each item with its words in their line, and its fix."""
    file = page.document.file if page.document else None
    known = located.state == "same"
    places = [f"{one.start.line}:{one.start.column}" * known for one in located.items]
    width = max(map(len, places), default=0)
    for number, (one, place) in enumerate(zip(located.items, places, strict=True)):
        if number:
            yield ""
        item = one.item
        severity = PAINTS[item.s](canvas, item.s) + " " * (_SEVERITY_WIDTH - len(item.s))
        linked = canvas.link(place, file, one.start.line) if place else ""
        label = f"  {' ' * (width - len(place))}{linked}  {severity}  "
        reason = f"{clean(item.r)} {canvas.dim(f'[{name_finding(item)}]')}"
        yield from canvas.wrap(reason, label)
        yield from render_excerpt(one, canvas)


def render_summary(tally: ReviewTally, canvas: Canvas) -> Iterator[str]:
    """Yield the number of findings, then those of each rule."""
    place = "in" if tally.is_whole else "in the reviewed part of"
    if not tally.by_rule:
        words = f"no findings {place} {pluralize(tally.documents, 'document')}"
        shown = canvas.success(words) if tally.is_whole else canvas.warning(words)
        yield shown if tally.documents else "nothing to review"
        return
    total = pluralize(sum(tally.by_rule.values()), "finding")
    scope = pluralize(tally.documents, "document")
    if len(tally.files) < tally.documents:
        scope = f"{len(tally.files)} of {scope}"
    yield canvas.strong(f"{total} {place} {scope}")
    order = [*PAINTS]
    found = sorted(
        tally.by_rule.items(), key=lambda row: (order.index(row[0][0]), -row[1], row[0][1])
    )
    rows = [
        (f"{count:,}", rule, PAINTS[severity](canvas, severity))
        for (severity, rule), count in found
    ]
    yield from render_columns((Column(right=True), Column(), Column()), rows, canvas, "  ")


def render_review_notes(tally: ReviewTally, canvas: Canvas) -> Iterator[str]:
    """Yield what was not available, and what else limits the result."""
    lost = {
        "document": "not reviewed",
        "files": "not reviewed",
        "lint": "not all was checked",
        "llm": "not all was reviewed by the model",
    }
    if tally.ignored:
        yield from canvas.note(f"left out: {tally.ignored:,} ignored by comments")
    if tally.doubtful:
        links = pluralize(tally.doubtful, "link")
        yield from canvas.note(
            f"not shown: {links} to missing places; so many are missing that a build may make them"
            " (`--rules broken-link,broken-anchor,missing-image` shows them)"
        )
    for one in tally.degraded.values():
        yield from render_degraded(one, canvas, lost.get(one.channel, one.channel))
    for warning in tally.warnings:
        yield from canvas.note(_WARNINGS.get(warning, warning))


def render_fix_plan(reply: ReviewApplied, canvas: Canvas) -> Iterator[str]:
    """Yield what would change; nothing when there is nothing to fix."""
    if reply.files:
        for file in reply.files:
            yield from render_difference(file.diff.splitlines(), canvas)
        yield ""
        yield from _render_other_fixes(reply.waiting, reply.refused, canvas)
        fixes = pluralize(sum(file.applied for file in reply.files), "fix")
        files = pluralize(len(reply.files), "file")
        yield f"write {fixes} to {files}; the originals are kept as `FILE.orig`"


def render_applied(reply: ReviewApplied, canvas: Canvas) -> Iterator[str]:
    """Yield the differences of a dry run, else the files that were written."""
    for file in reply.files:
        if reply.dry_run:
            yield from render_difference(file.diff.splitlines(), canvas)
            continue
        path = canvas.link(canvas.location(clean(format_openable_path(file.file))), file.file)
        original = clean(format_openable_path(file.backup)) if file.backup else ""
        backup = f"; the original is {original}" if original else ""
        yield f"{path}  {pluralize(file.applied, 'fix')}{backup}"
    if canvas.is_terminal or not reply.dry_run:
        left_out = sum(file.overlapping for file in reply.files)
        if left_out:
            yield from canvas.note(f"fixes that overlap an earlier one were left out: {left_out}")
        yield from _render_other_fixes(reply.waiting, reply.refused, canvas)
        if not reply.files:
            yield "nothing to fix"


def _render_other_fixes(waiting: int, refused: int, canvas: Canvas) -> Iterator[str]:
    """Yield how many fixes were left out, and why."""
    if waiting:
        yield from canvas.note(f"{pluralize(waiting, 'fix')} left for `--unsafe`, not certain")
    if refused:
        yield from canvas.note(f"{pluralize(refused, 'fix')} left out, which would break the page")


def render_outcome(reply: AgentItems, findings: Sequence[str], canvas: Canvas) -> Iterator[str]:
    """Yield how many segments are translated, and what is missing."""
    text = reply.translation if isinstance(reply.translation, TranslatedText) else None
    if text is None:
        yield canvas.warning("the translation is not complete")
        yield canvas.step("go on", f"kebab translate --run-id {reply.run_id}")
        return
    parts = [f"{text.translated:,} of {pluralize(text.segments, 'segment')} translated"]
    parts += [pluralize(len(findings), "finding")] if findings else []
    done = ", ".join(parts)
    yield canvas.success(done) if text.translated == text.segments else canvas.warning(done)
    for one in reply.degraded:
        yield from render_degraded(one, canvas, "not all is translated")


def render_positions(page: AgentItems, located: LocatedPage) -> Iterator[str]:
    """Yield `path:line:column: severity: message [rule]`; the column counts characters."""
    assert page.document is not None, "items have a document"
    path = clean(format_openable_path(page.document.file, page.document.doc_path))
    for one in located.items:
        place = f"{path}:{one.start.line}:{one.start.column}"
        yield f"{place}: {one.item.s}: {clean(one.item.r)} [{name_finding(one.item)}]"


_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_ROOT = "%SRCROOT%"
_LEVELS: dict[SeverityName, str] = {"error": "error", "warning": "warning", "suggestion": "note"}


class SarifLog:
    """Collects the findings of all pages; paths are relative below the working directory."""

    def __init__(self) -> None:
        from kebab.review.selection import LINTERS, RULES

        self._root = Path.cwd()
        self._base = f"{self._root.as_uri().rstrip('/')}/"
        self._rules: dict[str, dict[str, Any]] = {}
        for rule in (*(type(one) for one in RULES), *LINTERS):
            told = [" ".join(one.split()) for one in cleandoc(rule.__doc__ or "").split("\n\n")]
            self._rules[rule.id] = {
                "id": rule.id,
                "shortDescription": {"text": told[0]},
                "fullDescription": {"text": "\n\n".join(told[1:])},
                "defaultConfiguration": {"level": _LEVELS[rule.severity]},
            }
        self._results: list[dict[str, Any]] = []

    def add(self, page: AgentItems, located: LocatedPage) -> None:
        """Add the findings of a page."""
        for one in located.items:
            assert page.document is not None, "items have a document"
            path = Path(page.document.file)
            artifact = {"uri": path.as_uri()}
            if path.is_relative_to(self._root):
                artifact = {"uri": path.as_uri().removeprefix(self._base), "uriBaseId": _ROOT}
            physical: dict[str, Any] = {"artifactLocation": artifact}
            if located.state == "same":
                physical["region"] = {
                    "startLine": one.start.line,
                    "startColumn": one.start.utf16,
                    "endLine": one.end.line,
                    "endColumn": one.end.utf16,
                }
            name = name_finding(one.item)
            # The kinds of the model's findings are added.
            text = f"Finds {name.replace('_', ' ')} with a language model."
            self._rules.setdefault(name, {"id": name, "shortDescription": {"text": text}})
            self._results.append(
                {
                    "ruleId": name,
                    "ruleIndex": [*self._rules].index(name),
                    "level": _LEVELS[one.item.s],
                    "message": {"text": one.item.r},
                    "locations": [{"physicalLocation": physical}],
                    "partialFingerprints": {"kebabUid/v1": one.item.uid},
                }
            )

    def render(self, tally: ReviewTally, *, completed: bool = True) -> Iterator[str]:
        """Yield the lines of the log; what was not reviewed is a notification of the tool."""
        notifications = [
            {"level": "warning", "message": {"text": one.reason}} for one in tally.degraded.values()
        ]
        is_whole = not tally.unanswered_count and tally.degraded.keys() <= {"related"}
        invocation: dict[str, Any] = {"executionSuccessful": completed and is_whole}
        if notifications:
            invocation["toolExecutionNotifications"] = notifications
        run = {
            "tool": {
                "driver": {
                    "name": "kebab",
                    "version": __version__,
                    "semanticVersion": __version__,
                    "rules": [*self._rules.values()],
                }
            },
            "columnKind": "utf16CodeUnits",
            "newlineSequences": ["\r\n", "\n", "\r"],
            "originalUriBaseIds": {_ROOT: {"uri": self._base}},
            "invocations": [invocation],
            "results": self._results,
        }
        log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
        yield from json.dumps(log, indent=2, ensure_ascii=False).split("\n")
