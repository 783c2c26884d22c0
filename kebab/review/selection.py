"""Decides which findings of a document count.

Settings of a folder switch rules off and change severities, comments ignore findings, and a review
of changes leaves out other lines.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.review import Span, Unit, UnitResult
from kebab.review.document import ReviewDocument
from kebab.review.items import locate_item
from kebab.review.rules.ignores import IgnoreComment, read_ignores
from kebab.review.worker import LoadResult, UnitWorker, needs_model
from kebab.wire.review import AgentItem, SeverityName


class FileRules(NamedTuple):
    """What settings say about a file: rules and kinds that are off, and the severity of others."""

    disabled: frozenset[str] = frozenset()
    severities: Mapping[str, SeverityName] = {}


class Selection(Struct, frozen=True, kw_only=True):
    """What counts in a run.

    Attributes:
        choose_rules: Returns what the settings say about a file.
        list_changed: Returns the changed lines of a file as [first, last] from 1, in order; None
            when all of its lines count.
        keep_doubtful: Whether findings count that are probably no mistakes.
    """

    choose_rules: Callable[[ReviewDocument], FileRules] = lambda _: FileRules()
    list_changed: Callable[[ReviewDocument], Sequence[Span] | None] = lambda _: None
    keep_doubtful: bool = False

    def select(self, document: ReviewDocument, result: UnitResult) -> UnitResult:
        """Return a result with the items that count."""
        if not (result.items or result.carried):
            return result
        settings = self.choose_rules(document)
        comments = _Comments(document)
        changed = self.list_changed(document)
        items = [one for one in result.items if not _is_named(one, settings.disabled)]
        kept = comments.filter(items)
        ignored = comments.ignored
        kept = [_rate(one, settings) for one in kept if _is_changed(document, one, changed)]
        carried = tuple(
            _rate(one, settings)
            for one in comments.filter(result.carried)
            if not _is_named(one, settings.disabled) and _is_changed(document, one, changed)
        )
        doubtful = () if self.keep_doubtful else result.doubtful
        return replace(
            result,
            items=tuple(one for one in kept if one.uid not in doubtful),
            carried=carried,
            doubtful=tuple(one.uid for one in kept if one.uid in doubtful),
            ignored=ignored,
        )


class SelectingWorker(Struct, frozen=True):
    """Works as another worker does, and keeps the findings that count."""

    inner: UnitWorker
    selection: Selection

    @property
    def model(self) -> str | None:
        """The name of the language model."""
        return self.inner.model

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units of a document; those of the model only where lines count."""
        units = self.inner.plan(document)
        changed = self.selection.list_changed(document)
        if changed is None:
            return units
        return [
            unit
            for unit in units
            if not needs_model(unit) or _touches(document, (unit.start, unit.end), changed)
        ]

    def list_dependents(self, units: Sequence[Unit], index: int) -> list[int]:
        """Return the units that need the result of a unit."""
        return self.inner.list_dependents(units, index)

    def work(
        self, document: ReviewDocument, units: Sequence[Unit], index: int, load: LoadResult
    ) -> UnitResult:
        """Return the result of one unit; every unit before it is finished."""
        result = self.inner.work(document, units, index, load)
        return self.selection.select(document, result)


def name_finding(item: AgentItem) -> str:
    """Return the rule of a finding, or the kind of one that no rule found."""
    return item.rule_id if isinstance(item.rule_id, str) else item.k


def _is_named(item: AgentItem, names: Collection[str]) -> bool:
    return item.k in names or item.rule_id in names


def _rate(item: AgentItem, settings: FileRules) -> AgentItem:
    """Return an item with the severity of the settings; that of its rule precedes its kind's."""
    for name in (item.rule_id, item.k):
        if isinstance(name, str) and name in settings.severities:
            return replace(item, s=settings.severities[name])
    return item


def _is_changed(document: ReviewDocument, item: AgentItem, lines: Sequence[Span] | None) -> bool:
    return lines is None or _touches(document, locate_item(document, item), lines)


def _touches(document: ReviewDocument, span: Span, lines: Sequence[Span]) -> bool:
    """Return whether [start, end) has a character in one of the lines."""
    first, last = _find_lines(document, span)
    return any(low <= last and high >= first for low, high in lines)


def _find_lines(document: ReviewDocument, span: Span) -> Span:
    start, end = span
    return document.find_line(start)[0], document.find_line(max(start, end - 1))[0]


class _Comments:
    """The comments of a document that ignore findings."""

    def __init__(self, document: ReviewDocument) -> None:
        self._document = document
        self._comments = read_ignores(document)
        self.ignored = 0

    def filter(self, items: Iterable[AgentItem]) -> list[AgentItem]:
        """Return the items that no comment ignores."""
        return [item for item in items if not self._ignores(item)]

    def _ignores(self, item: AgentItem) -> bool:
        lines = _find_lines(self._document, locate_item(self._document, item))
        is_ignored = any(_ignores_item(one, item, lines) for one in self._comments)
        self.ignored += is_ignored
        return is_ignored


def _ignores_item(comment: IgnoreComment, item: AgentItem, lines: Span) -> bool:
    if lines[0] > comment.last or lines[1] < comment.first:
        return False
    names = {name for name, _ in comment.names}
    return not names or item.k in names or item.rule_id in names
