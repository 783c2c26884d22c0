"""Renders the findings of a review as a linter does, with a summary by rule."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kebab.app.review_lines import FileState, LocatedItem, LocatedPage
from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.hits import format_location, get_line
from kebab.cli.render.layout import Style, StyledText
from kebab.cli.render.paths import format_openable_path
from kebab.cli.render.review_excerpt import PAINTS, render_excerpt
from kebab.cli.render.width import clean
from kebab.wire.review import (
    AgentItem,
    AgentItems,
    ItemCitation,
    ItemFix,
    ItemWarning,
    ReviewedDocument,
    SeverityName,
    UnansweredText,
)
from kebab.wire.search import DegradedChannel

_SEVERITIES: tuple[SeverityName, ...] = ("error", "warning", "suggestion")
_SEVERITY_WIDTH = 10
_INDENT = "    "
_STATES: dict[FileState, str] = {
    "same": "",
    "changed": "the file changed since it was reviewed, so its lines are not shown",
    "unreadable": "the file cannot be read, so its lines are not shown",
}
_LOST = {"document": "not reviewed"}
"""What a channel that is not available means for the findings."""
_MOST_TEXTS = 8
"""How many texts without an answer a note names."""
_WARNINGS: dict[ItemWarning, str] = {
    "downshift_exhausted": "responses of the model were cut off; findings may be missing",
    "items_dropped": "findings without a place in the text were dropped",
    "items_over_limit": "the model returned more findings than it may; the others were dropped",
    "json_repaired": "a response of the model was broken; what could be read of it is shown",
    "run_not_stored": "the run is not stored under `--read-only`",
    "unit_incomplete": "a part of the text has no complete answer of the model",
}


@dataclass(slots=True)
class ReviewTally:
    """Counts the findings of all pages of a review."""

    by_rule: Counter[tuple[SeverityName, str]] = field(default_factory=Counter)
    files: set[str] = field(default_factory=set)
    named: int = 0
    fixes: int = 0
    warnings: dict[ItemWarning, None] = field(default_factory=dict)
    degraded: dict[str, DegradedChannel] = field(default_factory=dict)
    answered: int = 0
    unanswered: dict[UnansweredText, None] = field(default_factory=dict)
    unanswered_count: int = 0

    def add(self, page: AgentItems) -> None:
        """Count a page."""
        if page.document is not None:
            self.named = page.document.of
            if page.items:
                self.files.add(page.document.file)
        for item in page.items:
            self.by_rule[item.s, name_rule(item)] += 1
            self.fixes += isinstance(item.fix, ItemFix)
        self.answered += page.usage.units_answered
        # The last page has the text of the whole run.
        known = self.unanswered if page.has_more else {}
        self.unanswered = {**known, **dict.fromkeys(page.unanswered)}
        self.unanswered_count = max(len(self.unanswered), page.unanswered_count)
        self.warnings |= dict.fromkeys(page.warnings)
        for one in page.degraded:
            self.degraded[one.reason if one.channel == "document" else one.channel] = one

    @property
    def documents(self) -> int:
        """The number of documents that could be read."""
        unread = sum(one.channel == "document" for one in self.degraded.values())
        return max(0, self.named - unread)

    @property
    def model_state(self) -> Literal["complete", "partly", "missing"]:
        """Whether the model answered about all the text that it was to review."""
        if "llm" not in self.degraded and not self.unanswered:
            return "complete"
        return "partly" if self.answered else "missing"

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


def name_rule(item: AgentItem) -> str:
    """Return the rule of an item, or the kind of a finding of the model."""
    return item.rule_id if isinstance(item.rule_id, str) else item.k


def render_path(document: ReviewedDocument, state: FileState, canvas: Canvas) -> Iterator[str]:
    """Yield the path of a document, and why its lines are not shown."""
    path = clean(format_openable_path(document.file, document.doc_path))
    yield canvas.link(canvas.strong(canvas.location(path)), document.file)
    if _STATES[state]:
        yield from canvas.note(_STATES[state])


def render_items(page: AgentItems, located: LocatedPage, canvas: Canvas) -> Iterator[str]:
    """Yield each item with its words in their line and the difference that its fix makes."""
    citations = {one.cid: one for one in page.citations}
    file = page.document.file if page.document else None
    places = [_format_place(one, located.state) for one in located.items]
    width = max(map(len, places), default=0)
    for number, (one, place) in enumerate(zip(located.items, places, strict=True)):
        if number:
            yield ""
        yield from _render_head(one, file, f"{place:>{width}}", canvas)
        yield from render_excerpt(one, canvas)
        yield from _render_notes(one.item, citations, canvas)


def _format_place(located: LocatedItem, state: FileState) -> str:
    return f"{located.start.line}:{located.start.column}" if state == "same" else ""


def _render_head(
    located: LocatedItem, file: str | None, place: str, canvas: Canvas
) -> Iterator[str]:
    item = located.item
    styled = StyledText()
    styled.add(item.r)
    styled.add(f" [{name_rule(item)}]", Style(dim=True))
    margin = " " * (2 + len(place) + 2 + _SEVERITY_WIDTH + 2)
    lines = list(styled.lines(max(20, (canvas.width or 80) - len(margin)), canvas))
    severity = PAINTS[item.s](canvas, item.s) + " " * (_SEVERITY_WIDTH - len(item.s))
    number = place.strip()
    linked = place.replace(number, canvas.link(number, file, located.start.line)) if number else ""
    yield f"  {linked}  {severity}  {lines[0]}"
    yield from (margin + line for line in lines[1:])


def _render_notes(
    item: AgentItem, citations: dict[str, ItemCitation], canvas: Canvas
) -> Iterator[str]:
    """Yield what a fix does, and the place of another note that contradicts."""
    if isinstance(item.fix, ItemFix) and isinstance(item.fix.note, str):
        yield from canvas.wrap_with_label(f"{_INDENT}fix:", clean(item.fix.note), canvas.success)
    cited = citations.get(item.cid) if isinstance(item.cid, str) else None
    if cited is not None:
        place = clean(format_location(cited.citation))
        link = canvas.link(canvas.location(place), cited.file, get_line(cited.citation))
        yield f"{_INDENT}{canvas.dim('see:')} {link}"


def render_summary(tally: ReviewTally, canvas: Canvas) -> Iterator[str]:
    """Yield the number of findings, then those of each rule."""
    state = tally.model_state
    finder = " of the rules" if state == "missing" else ""
    place = " in the reviewed part of" if state == "partly" else " in"
    if not tally.by_rule:
        words = f"no findings{finder}{place} {pluralize(tally.documents, 'document')}"
        shown = canvas.success(words) if state == "complete" else canvas.warning(words)
        yield shown if tally.documents else "nothing to review"
        return
    parts = [pluralize(tally.count(one), one) for one in _SEVERITIES if tally.count(one)]
    total = pluralize(sum(tally.by_rule.values()), "finding")
    scope = pluralize(tally.documents, "document")
    if len(tally.files) < tally.documents:
        scope = f"{len(tally.files)} of {scope}"
    yield canvas.strong(f"{total}{finder}{place} {scope}:") + f" {', '.join(parts)}"
    rows = sorted(
        tally.by_rule.items(), key=lambda row: (_SEVERITIES.index(row[0][0]), -row[1], row[0][1])
    )
    width = max(len(f"{count:,}") for _, count in rows)
    longest = max(len(rule) for (_, rule), _ in rows)
    for (severity, rule), count in rows:
        yield f"  {count:>{width},}  {rule:<{longest}}  {PAINTS[severity](canvas, severity)}"


def render_review_notes(tally: ReviewTally, canvas: Canvas) -> Iterator[str]:
    """Yield what was not available, and what else limits the result."""
    for channel in tally.degraded.values():
        lost = _LOST.get(channel.channel, channel.channel)
        if channel.channel == "llm":
            is_partial = tally.model_state == "partly"
            lost = "the model reviewed only a part" if is_partial else "only the rules ran"
        yield from canvas.note(f"{lost}: {clean(channel.reason)}")
        if channel.hint:
            yield from canvas.hint(clean(channel.hint))
    if tally.unanswered:
        texts = render_unanswered(list(tally.unanswered), tally.unanswered_count)
        yield from canvas.note(f"not reviewed by the model: {texts}")
    for warning in tally.warnings:
        yield from canvas.note(_WARNINGS.get(warning, warning))
