"""Renders the findings of a review with their lines and fixes, and the stored runs."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from kebab.app.review_text import FileState, LocatedItem, LocatedPage
from kebab.cli.render.canvas import (
    Canvas,
    Column,
    clean,
    format_tabs,
    measure_width,
    pluralize,
    render_columns,
    truncate_around,
)
from kebab.cli.render.compact import format_openable_path
from kebab.cli.render.hits import format_location, get_line, render_degraded
from kebab.review.selection import name_finding
from kebab.wire.review import (
    AgentItems,
    AppliedFile,
    ItemFix,
    ItemWarning,
    ReviewApplied,
    ReviewedDocument,
    ReviewRules,
    SeverityName,
    TranslatedText,
    UnansweredText,
)
from kebab.wire.search import DegradedChannel

_ELLIPSIS = "…"
_INDENT = "    "
_TAB = 4
_NARROWEST = 20
_DIFF_COLORS = {"-": "red", "+": "green", "@": "cyan"}

PAINTS: Mapping[SeverityName, Callable[[Canvas, str], str]] = {
    "error": Canvas.error,
    "warning": Canvas.warning,
    "suggestion": Canvas.location,
}
"""The style of each severity."""


def render_excerpt(located: LocatedItem, canvas: Canvas) -> Iterator[str]:
    """Yield the first line of an item with its words underlined, and what its fix does."""
    item = located.item
    if located.lines:
        number, line = str(located.start.line), located.lines[0]
        is_whole = located.start.line == located.end.line
        start = located.start.column - 1
        end = max(start, located.end.column - 1 if is_whole else len(line))
        room = max(_NARROWEST, (canvas.width or 0) - len(_INDENT) - len(number) - 3)
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
        done = clean(item.fix.text) if item.fix.text else f"({item.t})"
        yield from canvas.wrap_with_label(f"{_INDENT}fix:", f"{done}{clean(note)}", canvas.success)


_SEVERITIES: tuple[SeverityName, ...] = ("error", "warning", "suggestion")
_SEVERITY_WIDTH = 10
_STATES: dict[FileState, str] = {
    "same": "",
    "changed": "the file changed since it was reviewed, so its lines are not shown",
    "unreadable": "the file cannot be read, so its lines are not shown",
}

_MOST_TEXTS = 8
"""How many texts without an answer a note names."""
_WARNINGS: dict[ItemWarning, str] = {
    "downshift_exhausted": "responses of the model were cut off; findings may be missing",
    "items_dropped": "findings without a place in the text were dropped",
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
    unanswered: dict[UnansweredText, None] = field(default_factory=dict)
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
        # The last page has the text of the whole run.
        known = self.unanswered if page.has_more else {}
        self.unanswered = {**known, **dict.fromkeys(page.unanswered)}
        self.unanswered_count = max(len(self.unanswered), page.unanswered_count)
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
        return "llm" not in self.degraded and not self.unanswered

    def count(self, severity: SeverityName) -> int:
        """Return the number of findings of a severity."""
        return sum(count for (own, _), count in self.by_rule.items() if own == severity)


def render_unanswered(texts: Sequence[UnansweredText], count: int) -> str:
    """Return the places of text that the model did not answer, `count` in all."""
    places = []
    for one in texts[:_MOST_TEXTS]:
        path = clean(format_openable_path(one.file, one.file))
        lines = "" if one.lines is None else ":" + "-".join(map(str, dict.fromkeys(one.lines)))
        places.append(f"{path}{lines}")
    more = [f"{count - len(places):,} more"] if count > len(places) else []
    return ", ".join([*places, *more])


def render_path(document: ReviewedDocument, state: FileState, canvas: Canvas) -> Iterator[str]:
    """Yield the path of a document, and why its lines are not shown."""
    path = clean(format_openable_path(document.file, document.doc_path))
    yield canvas.link(canvas.strong(canvas.location(path)), document.file)
    if _STATES[state]:
        yield from canvas.note(_STATES[state])


def render_items(page: AgentItems, located: LocatedPage, canvas: Canvas) -> Iterator[str]:
    """Yield each item with its words in their line, its fix, and the place that it cites."""
    citations = {one.cid: one for one in page.citations}
    file = page.document.file if page.document else None
    known = located.state == "same"
    places = [f"{one.start.line}:{one.start.column}" * known for one in located.items]
    width = max(map(len, places), default=0)
    for number, (one, place) in enumerate(zip(located.items, places, strict=True)):
        if number:
            yield ""
        yield from _render_head(one, file, f"{place:>{width}}", canvas)
        yield from render_excerpt(one, canvas)
        # The place of another note that says nearly the same.
        cited = citations.get(one.item.cid) if isinstance(one.item.cid, str) else None
        if cited is not None:
            other = canvas.location(clean(format_location(cited.citation)))
            link = canvas.link(other, cited.file, get_line(cited.citation))
            yield f"{_INDENT}{canvas.dim('see:')} {link}"


def _render_head(
    located: LocatedItem, file: str | None, place: str, canvas: Canvas
) -> Iterator[str]:
    item = located.item
    margin = " " * (2 + len(place) + 2 + _SEVERITY_WIDTH + 2)
    severity = PAINTS[item.s](canvas, item.s) + " " * (_SEVERITY_WIDTH - len(item.s))
    number = place.strip()
    linked = place.replace(number, canvas.link(number, file, located.start.line)) if number else ""
    reason = f"{clean(item.r)} {canvas.dim(f'[{name_finding(item)}]')}"
    yield from canvas.hang(reason, f"  {linked}  {severity}  ", len(margin))


def render_summary(tally: ReviewTally, canvas: Canvas) -> Iterator[str]:
    """Yield the number of findings, then those of each rule."""
    place = "in" if tally.is_whole else "in the reviewed part of"
    if not tally.by_rule:
        words = f"no findings {place} {pluralize(tally.documents, 'document')}"
        shown = canvas.success(words) if tally.is_whole else canvas.warning(words)
        yield shown if tally.documents else "nothing to review"
        return
    parts = [pluralize(tally.count(one), one) for one in _SEVERITIES if tally.count(one)]
    total = pluralize(sum(tally.by_rule.values()), "finding")
    scope = pluralize(tally.documents, "document")
    if len(tally.files) < tally.documents:
        scope = f"{len(tally.files)} of {scope}"
    yield canvas.strong(f"{total} {place} {scope}:") + f" {', '.join(parts)}"
    found = sorted(
        tally.by_rule.items(), key=lambda row: (_SEVERITIES.index(row[0][0]), -row[1], row[0][1])
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
    yield from _render_left_out(tally, canvas)
    for one in tally.degraded.values():
        yield from render_degraded(one, canvas, lost.get(one.channel, one.channel))
    if tally.unanswered:
        texts = render_unanswered(list(tally.unanswered), tally.unanswered_count)
        yield from canvas.note(f"not reviewed by the model: {texts}")
    for warning in tally.warnings:
        yield from canvas.note(_WARNINGS.get(warning, warning))


def _render_left_out(tally: ReviewTally, canvas: Canvas) -> Iterator[str]:
    """Yield how many findings were left out."""
    if tally.ignored:
        yield from canvas.note(f"left out: {tally.ignored:,} ignored by comments")
    if tally.doubtful:
        links = pluralize(tally.doubtful, "link")
        yield from canvas.note(
            f"not shown: {links} to missing places; so many are missing that a build may make them"
            " (`--rules broken-link,broken-anchor,missing-image` shows them)"
        )


def render_fix_plan(reply: ReviewApplied, canvas: Canvas) -> Iterator[str]:
    """Yield what would change; nothing when there is nothing to fix."""
    if reply.files:
        for file in reply.files:
            yield from _render_difference(file, canvas)
        yield ""
        yield from _render_other_fixes(reply.waiting, reply.refused, canvas)
        fixes = _count_fixes(sum(file.applied for file in reply.files))
        files = pluralize(len(reply.files), "file")
        yield f"write {fixes} to {files}; the originals are kept as `FILE.orig`"


def render_applied(reply: ReviewApplied, canvas: Canvas) -> Iterator[str]:
    """Yield the differences of a dry run, else the files that were written."""
    for file in reply.files:
        if reply.dry_run:
            yield from _render_difference(file, canvas)
            continue
        path = canvas.link(canvas.location(_name(file.file)), file.file)
        backup = f"; the original is {_name(file.backup)}" if file.backup else ""
        yield f"{path}  {_count_fixes(file.applied)}{backup}"
    if canvas.is_terminal or not reply.dry_run:
        left_out = sum(file.overlapping for file in reply.files)
        if left_out:
            yield from canvas.note(f"fixes that overlap an earlier one were left out: {left_out}")
        yield from _render_other_fixes(reply.waiting, reply.refused, canvas)
        if not reply.files:
            yield "nothing to fix"


def _count_fixes(count: int) -> str:
    return "1 fix" if count == 1 else f"{count:,} fixes"


def _render_other_fixes(waiting: int, refused: int, canvas: Canvas) -> Iterator[str]:
    """Yield how many fixes were left out, and why."""
    if waiting:
        verb = "that is not certain waits" if waiting == 1 else "that are not certain wait"
        yield from canvas.note(f"{_count_fixes(waiting)} {verb} for `--unsafe`")
    if refused:
        yield from canvas.note(f"{_count_fixes(refused)} left out, which would break the page")


def _name(file: str) -> str:
    return clean(format_openable_path(file, Path(file).name))


def _render_difference(file: AppliedFile, canvas: Canvas) -> Iterator[str]:
    """Yield a difference in colour; its heads have no sign of their own."""
    for number, line in enumerate(file.diff.splitlines()):
        if number < 2:  # noqa: PLR2004 - the names of both files
            yield canvas.strong(clean(line))
        else:
            yield canvas.paint(clean(line), fg=_DIFF_COLORS.get(line[:1]))


def render_explanations(reply: ReviewRules, canvas: Canvas) -> Iterator[str]:
    """Yield the explanation of a rule."""
    for rule in reply.rules:
        state = "" if rule.enabled else canvas.warning("  (switched off in the settings)")
        yield f"{canvas.strong(rule.id)}  {PAINTS[rule.severity](canvas, rule.severity)}{state}"
        for paragraph in filter(None, [rule.summary, *rule.explanation.split("\n\n")]):
            yield ""
            yield from canvas.wrap(paragraph)
        yield from ("", canvas.dim("Example:"), "")
        yield from (f"    {clean(line)}".rstrip() for line in rule.example.split("\n"))
        yield ""
        yield canvas.dim(f"Ignore it in one place: <!-- kebab-ignore {rule.id}: reason -->")
        yield canvas.dim(f'Switch it off: review.disable = ["{rule.id}"] in the settings')


def render_rules(reply: ReviewRules, canvas: Canvas) -> Iterator[str]:
    """Yield one line for each rule."""
    width = max((len(rule.id) for rule in reply.rules), default=0)
    for rule in reply.rules:
        if canvas.width is None:
            state = "on" if rule.enabled else "off"
            yield format_tabs(rule.id, rule.severity, state, rule.summary)
            continue
        note = "" if rule.enabled else canvas.warning(" (off)")
        label = f"{canvas.strong(f'{rule.id:<{width}}')}  "
        first, *rest = canvas.hang(rule.summary, label, width + 2)
        yield from (first + note, *rest)
    if canvas.is_terminal:
        yield ""
        yield canvas.step("explain one", "kebab review --explain RULE")


def render_no_page(reply: AgentItems, canvas: Canvas) -> tuple[str, ...]:
    """Render no page: `--json` prints it, and text output has the translated document instead."""
    return ()


def render_outcome(
    reply: AgentItems, findings: Sequence[str], target: Path | None, canvas: Canvas
) -> Iterator[str]:
    """Yield how many segments are translated, and where the text is."""
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
    if reply.unanswered:
        texts = render_unanswered(reply.unanswered, reply.unanswered_count)
        yield from canvas.note(f"not translated: {texts}")
    if target:
        yield f"written: {clean(str(target))}"
