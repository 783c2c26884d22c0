"""Builds the pages of a run with their statistics, and the cursors between them."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, cast

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from kebab.core.review import Position, StoredPage, StoredRun, StoredUnit, UnitResult, UnitUsage
from kebab.errors.catalog import Cancelled, InvalidCursor
from kebab.errors.signal import Signal
from kebab.review.run import RunReporter, RunStopped, RunUnits
from kebab.review.worker import RunPorts
from kebab.wire.review import (
    MAX_UNANSWERED,
    AgentItem,
    AgentItems,
    FailOnName,
    ItemCitation,
    ItemStats,
    ItemWarning,
    PageUsage,
    PolicyName,
    ReviewedDocument,
    SegmentScore,
    TierName,
)
from kebab.wire.search import DegradedChannel


def cut_items(units: Sequence[StoredUnit], page: StoredPage) -> list[AgentItem]:
    """Return the items of units between the two positions of a page."""
    found: list[AgentItem] = []
    for unit in units:
        first = page.start.offset if unit.number == page.start.unit else 0
        last = page.end.offset if unit.number == page.end.unit else None
        found += unit.result.items[first:last] if unit.result else ()
    return found


def sum_usage(usages: Sequence[UnitUsage], page: StoredPage) -> PageUsage:
    """Return how the requests for a page went."""
    return PageUsage(
        requests=sum(one.requests for one in usages),
        units_answered=sum(
            one.requests > 0 and not (one.unanswered or one.unusable or one.truncated)
            for one in usages
        ),
        downshift_count=sum(one.downshifts for one in usages),
        forced_pagination_count=int(page.forced),
        cursor_retry_count=page.retries,
        json_repair_count=sum(one.repairs for one in usages),
        items_dropped=sum(one.dropped for one in usages),
    )


def forget_outcome(usage: UnitUsage) -> UnitUsage:
    """Return the usage of a unit that is asked about again: what it cost, not how it ended."""
    return replace(usage, truncated=False, warnings=(), policy="first")


def find_finish(usages: Sequence[UnitUsage]) -> Literal["stop", "length"] | None:
    """Return why the model stopped; `length` when any response was cut off."""
    reasons = {one.finish for one in usages if one.finish is not None}
    return "length" if "length" in reasons else "stop" if reasons else None


def list_warnings(
    usages: Sequence[UnitUsage], usage: PageUsage, *, is_stored: bool
) -> list[ItemWarning]:
    """Return the warnings of a page, sorted."""
    found = {warning for one in usages for warning in one.warnings}
    conditions = {
        "items_dropped": usage.items_dropped,
        "json_repaired": usage.json_repair_count,
        "run_not_stored": not is_stored,
    }
    found |= {name for name, holds in conditions.items() if holds}
    return cast("list[ItemWarning]", sorted(found))


def build_stats(items: Sequence[AgentItem], units: Sequence[StoredUnit]) -> ItemStats:
    """Return the size of a page, and the ratings of the segments of its units."""
    size = sum(len(msgspec.json.encode(item)) for item in items)
    scores = [score for unit in units if unit.result for score in unit.result.scores]
    segments = [SegmentScore(cid=cid, score=score) for cid, score in scores]
    return ItemStats(
        item_count=len(items),
        avg_item_bytes=size / len(items) if items else 0.0,
        segments=segments or UNSET,
    )


def list_citations(units: Sequence[StoredUnit], items: Sequence[AgentItem]) -> list[ItemCitation]:
    """Return what the items of a page cite, each once."""
    cited = {item.cid for item in items if isinstance(item.cid, str)}
    found = {
        one.cid: one
        for unit in units
        if unit.result
        for one in unit.result.citations
        if one.cid in cited
    }
    return list(found.values())


_START = Position(0, 0)
_POLICIES: tuple[PolicyName, ...] = ("first", "downshift", "split", "paged")


class PageOptions(NamedTuple):
    """How pages are built.

    Attributes:
        fail_on: The least severity that makes the exit status 1.
        is_stored: Whether the run can be continued later; otherwise a page has all items of a
            document.
        describe_failure: Describes a failure of the language model.
        missing: What the language model goes without.
        left_out: What is said about what is not reviewed; it grows with the work.
        describe_unanswered: Describes so many texts that the language model did not answer.
    """

    fail_on: FailOnName
    is_stored: bool
    describe_failure: Callable[[Signal], DegradedChannel]
    describe_unanswered: Callable[[int], DegradedChannel]
    missing: tuple[DegradedChannel, ...] = ()
    left_out: Iterable[DegradedChannel] = ()


class _Filling(Struct):
    """How far the work on a page is: `position` is its end so far.

    `forced` and `stopped` tell that it ends early: because of the limits, or by the caller.
    """

    position: Position
    limit: int
    count: int = 0
    forced: bool = False
    stopped: bool = False

    def take(self, result: UnitResult, *, is_repeated: bool) -> bool:
        """Take the items of the next unit; return whether the page is full."""
        left, room = len(result.items) - self.position.offset, self.limit - self.count
        if left > room:
            self.position = self.position._replace(offset=self.position.offset + room)
            self.count = self.limit
            return True
        self.position = Position(self.position.unit + 1, 0)
        self.count += left
        # A repeated unit that is exhausted again would give pages without an end.
        self.forced = result.usage.policy == "paged" and not is_repeated
        return self.forced or self.count == self.limit


class RunPages:
    """The pages of a run; the units are worked on when a page reaches them."""

    def __init__(self, run: StoredRun, ports: RunPorts, options: PageOptions) -> None:
        self._run = run
        self._ports = ports
        self._options = options
        self._reporter = RunReporter(run, ports.report, holds_pages=ports.required == "first")
        self._units = RunUnits(run, ports, self._reporter)

    def find_start(self, cursor: str | None) -> Position:
        """Return where the page of a cursor begins.

        Raises:
            InvalidCursor: It is not a cursor of this run.
        """
        if cursor is None:
            return _START
        found = self._ports.store.find_cursor(self._run.run_id, cursor)
        if found is None:
            raise InvalidCursor(cause="it is not a cursor of this run")
        return found

    def build(self, start: Position, *, all_pages: bool) -> AgentItems:
        """Return the page that begins at a position, or with `all_pages` the last one.

        While a required model has given no usable answer, no page is reported.

        Raises:
            Cancelled: The caller stopped the work before anything was done.
            StaleCursor: The document of the page changed since it was planned.
            Signal: The language model fails, and is required, or the only document is unreadable.
        """
        while True:
            end = self._work(start, all_pages=all_pages)
            if end.stopped and end.position == start:
                self._reporter.release()
                raise Cancelled(operation=self._run.kind)
            page = StoredPage(start, end.position, end.forced, 0)
            stored = self._ports.store.add_page(self._run.run_id, page)
            reply = self._render(stored, stopped=end.stopped)
            self._reporter.report("items", page=reply)
            if not all_pages or not reply.has_more or end.stopped:
                self._reporter.release()
                return reply
            start = stored.end

    def _work(self, start: Position, *, all_pages: bool) -> _Filling:
        """Work on units until the page is full, unless it was returned before.

        A page has items of one document. With `all_pages` it ends with the first unit that has any.
        """
        filling = _Filling(start, self._run.page_items)
        known = self._ports.store.find_page(self._run.run_id, start)
        if known is not None:
            filling.position, filling.forced = known.end, known.forced
            return filling
        try:
            self._fill(filling, by_unit=all_pages and self._options.is_stored)
            if not all_pages or not self._units.has_part(filling.position.unit):
                self._units.conclude()
        except (RunStopped, KeyboardInterrupt):  # an unfinished unit or plan is not stored
            filling.stopped = True
        return filling

    def _fill(self, filling: _Filling, *, by_unit: bool) -> None:
        start = filling.position
        while (part := self._units.find_part(filling.position.unit)) is not None:
            if filling.position.unit < part.first:
                if filling.count:
                    return
                filling.position = Position(part.first, 0)
            result = self._units.finish(part, filling.position.unit)
            if result is None:
                continue
            if filling.take(result, is_repeated=part.again):
                return
            is_part_end = filling.position.unit >= part.first + part.units
            if filling.count and (by_unit or is_part_end):
                return
        if filling.position == start:
            # The next page begins elsewhere, where units may follow that wait for the model.
            filling.position = Position(start.unit + 1, 0)

    def _render(self, page: StoredPage, *, stopped: bool) -> AgentItems:
        """Return the page of items between two positions, all of which are finished."""
        start, end = page.start, page.end
        units = [
            unit
            for unit in self._ports.store.list_units(
                self._run.run_id, start.unit, end.unit + (end.offset > 0)
            )
            if unit.result is not None
        ]
        items = cut_items(units, page)
        begun = [unit for unit in units if start <= Position(unit.number, 0)]
        usages = [
            forget_outcome(unit.result.usage)
            if unit.result.usage.unanswered and self._units.is_asked_again(unit)
            else unit.result.usage
            for unit in begun
            if unit.result is not None
        ]
        usage = sum_usage(usages, page)
        has_more = stopped or self._units.has_part(end.unit)
        is_stored = self._options.is_stored
        unanswered = self._units.list_unanswered(start.unit, end.unit, is_last=not has_more)
        return AgentItems(
            run_id=self._run.run_id,
            chunk_id=self._format_chunk(start),
            tier=cast("TierName", self._run.tier),
            model=self._run.model if usage.requests or self._ports.full else None,
            document=self._describe_document(units, items),
            latency_ms=sum(one.latency_ms for one in usages),
            prompt_tokens=sum(one.prompt_tokens for one in usages),
            completion_tokens=sum(one.completion_tokens for one in usages),
            finish_reason=find_finish(usages),
            truncated=any(one.truncated for one in usages),
            partial=self._units.is_unfinished,
            policy=max((one.policy for one in usages), key=_POLICIES.index, default="first"),
            warnings=list_warnings(usages, usage, is_stored=is_stored),
            degraded=self._list_degraded(start, end, len(unanswered), is_last=not has_more),
            stats=build_stats(items, begun),
            usage=usage,
            items=items,
            citations=list_citations(units, items),
            unanswered=unanswered[:MAX_UNANSWERED],
            unanswered_count=len(unanswered),
            model_required=self._ports.required != "never",
            fail_on=self._options.fail_on,
            doubtful=sum(len(unit.result.doubtful) for unit in begun if unit.result),
            ignored=sum(unit.result.ignored for unit in begun if unit.result),
            has_more=has_more,
            next_cursor=self._issue_cursor(end) if has_more else None,
        )

    def _format_chunk(self, start: Position) -> str:
        if self._run.kind == "review":
            return f"chunk-{start.unit}"
        name = f"stage:{self._run.run_id}"
        return name if start == _START else f"{name}:{self._compute_cursor(start)}"

    def _issue_cursor(self, position: Position) -> str:
        """Return the cursor of a position, and store what it means."""
        cursor = self._compute_cursor(position)
        self._ports.store.add_cursor(self._run.run_id, cursor, position)
        return cursor

    def _compute_cursor(self, position: Position) -> str:
        run = self._run
        key = f"{run.run_id}|chunk-{position.unit}|{position.offset}|{run.salt}"
        return urlsafe_b64encode(hashlib.sha256(key.encode()).digest()).decode().rstrip("=")

    def _describe_document(
        self, units: Sequence[StoredUnit], items: Sequence[AgentItem]
    ) -> ReviewedDocument | None:
        """Return the document of the items, else that of the last unit."""
        if not units:
            return None
        owner = next((one for one in units if one.result and one.result.items), units[-1])
        part = self._units.find_part((owner if items else units[-1]).number)
        assert part is not None, "the unit was planned"
        return self._units.describe(part)

    def _list_degraded(
        self, start: Position, end: Position, unanswered: int, *, is_last: bool
    ) -> list[DegradedChannel]:
        """Return what was not available: the language model or what it needs, and documents."""
        failure = self._units.failure
        found = [self._options.describe_failure(failure)] if failure else [*self._options.missing]
        found += self._options.left_out
        if unanswered and not failure:
            found.append(self._options.describe_unanswered(unanswered))
        for path in self._units.list_unread(start.unit, end.unit + is_last):
            reason = f"the file cannot be read as text: {path}"
            found.append(DegradedChannel(channel="document", reason=reason, hint=None))
        return found
