"""Decides which findings of a document count.

Settings change severities, comments ignore findings, and a review of changes leaves out other
lines.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.review import Span, Unit, UnitResult
from kebab.review.document import ReviewDocument
from kebab.review.items import locate_item
from kebab.review.rules.ignores import IgnoreComment, read_ignores
from kebab.review.worker import UnitWorker, needs_model
from kebab.wire.review import AgentItem, SeverityName


class SelectingWorker(Struct, frozen=True, kw_only=True):
    """Works as another worker does, and keeps the findings that count.

    Attributes:
        inner: The other worker.
        severities: The severities of the settings by rule or kind.
        list_changed: Returns the changed lines of a file as [first, last] from 1, in order; None
            when all of its lines count.
        keep_doubtful: Whether findings count that are probably no mistakes.
    """

    inner: UnitWorker
    severities: Mapping[str, SeverityName] = {}
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
            if any(_ignores(one, item, _find_lines(document, span)) for one in comments):
                ignored += 1
            elif changed is None or _touches(document, span, changed):
                kept.append(self._rate(item))
        doubtful = () if self.keep_doubtful else result.doubtful
        return replace(
            result,
            items=tuple(one for one in kept if one.uid not in doubtful),
            doubtful=tuple(one.uid for one in kept if one.uid in doubtful),
            ignored=ignored,
        )

    def _rate(self, item: AgentItem) -> AgentItem:
        """Return an item with the severity that the settings give its rule, else its kind."""
        for name in (item.rule_id, item.k):
            if isinstance(name, str) and name in self.severities:
                return replace(item, s=self.severities[name])
        return item


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


def _ignores(comment: IgnoreComment, item: AgentItem, lines: Span) -> bool:
    if lines[0] > comment.last or lines[1] < comment.first:
        return False
    names = {name for name, _ in comment.names}
    return not names or not names.isdisjoint({item.rule_id, item.k})
