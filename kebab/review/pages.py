"""Builds the pages of a run with their statistics, and the cursors between them."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import cast

import msgspec

from kebab.core.review import FinishedUnit, Position, StoredPage, StoredRun
from kebab.errors.catalog import Cancelled, InvalidCursor, ModelProtocol
from kebab.errors.signal import Retry, Signal
from kebab.review.model_calls import add_counts, find_finish
from kebab.review.run import RunPorts, RunReporter, RunStopped, RunUnits
from kebab.wire.review import AgentItem, AgentItems, ItemStats, ReviewedDocument, TierName
from kebab.wire.search import DegradedChannel

_START = Position(0, 0)


class RunPages:
    """The pages of a run; the units are worked on when a page reaches them."""

    def __init__(self, run: StoredRun, ports: RunPorts) -> None:
        self._run = run
        self._ports = ports
        self._reporter = RunReporter(run, ports.report, holds_pages=ports.required)
        self._units = RunUnits(run, ports, self._reporter)

    def build(self, cursor: str | None, *, all_pages: bool) -> AgentItems:
        """Return the page of a cursor, or the first; with `all_pages` the last one.

        While a required model has given no usable answer, no page is reported.

        Raises:
            InvalidCursor: It is not a cursor of this run.
            Cancelled: The caller stopped the work before anything was done.
            StaleCursor: The document of the page changed since it was planned.
            Signal: The language model fails, and is required, or the only document is unreadable.
        """
        start = _START
        if cursor is not None:
            found = self._ports.store.find_page(self._run.run_id, cursor)
            if found is None:
                raise InvalidCursor(cause="it is not a cursor of this run")
            start = found.start
        while True:
            end, is_stopped = self._find_end(start, all_pages=all_pages)
            reply = self._render(start, end, is_stopped=is_stopped)
            self._reporter.report_page(
                reply, emitted=self._units.count, total=self._units.count_units()
            )
            if not all_pages or not reply.has_more or is_stopped:
                self._reporter.release()
                return reply
            start = end

    def _find_end(self, start: Position, *, all_pages: bool) -> tuple[Position, bool]:
        """Return the end of the page that begins at a position, and whether it was stopped there.

        A page that was returned has its end. One without a finished unit is not stored, because
        the next request may finish some.
        """
        store, run_id, cursor = self._ports.store, self._run.run_id, self._compute_cursor(start)
        known = store.find_page(run_id, cursor)
        if known is not None and known.end is not None:
            return known.end, False
        end, is_stopped = self._fill(start, by_unit=all_pages and self._ports.is_stored)
        if not is_stopped and not (all_pages and self._units.has_more()):
            self._units.conclude()
        if end == start:
            if is_stopped:
                self._reporter.release()
                raise Cancelled(operation=self._run.kind)
            return end, False
        return store.add_page(run_id, cursor, StoredPage(start, end)).end or end, is_stopped

    def _fill(self, start: Position, *, by_unit: bool) -> tuple[Position, bool]:
        """Work on units until the page is full; return its end, and whether the caller stopped it.

        A page has items of one document. It ends behind a unit whose limits are exhausted, and with
        `by_unit` behind one that has any items.
        """
        position, count, document = start, 0, None
        try:
            while (owner := self._find_owner(position, plans=not count)) is not None:
                if count and owner != document:
                    break
                if position.unit == self._units.count:
                    self._units.finish_next()
                    continue
                document = owner
                (unit,) = self._list_units(position.unit, position.unit + 1)
                left, room = len(unit.result.items) - position.offset, self._run.page_items - count
                if left > room:
                    return position._replace(offset=position.offset + room), False
                position, count = Position(position.unit + 1, 0), count + left
                is_full = count == self._run.page_items or (by_unit and count > 0)
                if is_full or unit.result.usage.truncated:
                    return position, False
        except (RunStopped, KeyboardInterrupt):  # an unfinished unit or plan is not stored
            return position, True
        return position, False

    def _find_owner(self, position: Position, *, plans: bool) -> int | None:
        """Return the document of the unit at a position; None behind the last unit."""
        if position.unit < self._units.count:
            return self._units.get_document(position.unit)
        key = self._units.find_next(plans=plans)
        return None if key is None else key.document

    def _list_units(self, first: int, end: int) -> list[FinishedUnit]:
        return self._ports.store.list_units(self._run.run_id, first, end)

    def _render(self, start: Position, end: Position, *, is_stopped: bool) -> AgentItems:
        """Return the page of items between two positions, all of which are finished."""
        units = self._list_units(start.unit, end.unit + (end.offset > 0))
        items: list[AgentItem] = []
        for unit in units:
            first = start.offset if unit.number == start.unit else 0
            items += unit.result.items[first : end.offset if unit.number == end.unit else None]
        begun = [unit for unit in units if start <= Position(unit.number, 0)]
        usages = [unit.result.usage for unit in begun]
        # How the requests for a unit ended does not matter when it was answered later.
        final = [
            unit.result.usage
            for unit in begun
            if not unit.result.usage.unanswered or not self._units.is_answered(unit.key)
        ]
        has_more = is_stopped or end.unit < self._units.count or self._units.has_more()
        unanswered = 0 if has_more else self._units.count_unanswered()
        size = sum(len(msgspec.json.encode(item)) for item in items)
        warnings = {warning for one in final for warning in one.warnings}
        if not self._ports.is_stored:
            warnings.add("run_not_stored")
        shown = {unit.key.document for unit in begun}
        if self._ports.asks_model and not all(map(self._units.has_model_text, shown)):
            warnings.add("no_model_text")
        next_cursor = None
        if has_more:
            next_cursor = self._compute_cursor(end)
            self._ports.store.add_page(self._run.run_id, next_cursor, StoredPage(end, None))
        return AgentItems(
            run_id=self._run.run_id,
            chunk_id=self._format_chunk(start),
            tier=cast("TierName", self._run.tier),
            model=self._run.model
            if self._ports.asks_model or any(one.requests for one in usages)
            else None,
            document=self._describe_document(units, items),
            latency_ms=sum(one.latency_ms for one in usages),
            prompt_tokens=add_counts(one.prompt_tokens for one in usages),
            completion_tokens=add_counts(one.completion_tokens for one in usages),
            finish_reason=find_finish({one.finish for one in usages}),
            truncated=any(one.truncated for one in final),
            partial=self._units.is_unfinished,
            warnings=sorted(warnings),
            degraded=self._list_degraded(units, unanswered),
            stats=ItemStats(item_count=len(items), avg_item_bytes=size / (len(items) or 1)),
            items=items,
            unanswered_count=unanswered,
            model_required=self._ports.required,
            fail_on=self._ports.fail_on,
            doubtful=sum(len(unit.result.doubtful) for unit in begun),
            ignored=sum(unit.result.ignored for unit in begun),
            has_more=has_more,
            next_cursor=next_cursor,
        )

    def _format_chunk(self, start: Position) -> str:
        if self._run.kind == "review":
            return f"chunk-{start.unit}"
        name = f"stage:{self._run.run_id}"
        return name if start == _START else f"{name}:{self._compute_cursor(start)}"

    def _compute_cursor(self, position: Position) -> str:
        run = self._run
        key = f"{run.run_id}|chunk-{position.unit}|{position.offset}|{run.salt}"
        return urlsafe_b64encode(hashlib.sha256(key.encode()).digest()).decode().rstrip("=")

    def _describe_document(
        self, units: Sequence[FinishedUnit], items: Sequence[AgentItem]
    ) -> ReviewedDocument | None:
        """Return the document of the items, else that of the last unit that could be read."""
        readable = [one for one in units if one.result.fault is None]
        if not readable:
            return None
        owner = next((one for one in readable if items and one.result.items), readable[-1])
        return self._units.describe(owner.key.document)

    def _list_degraded(
        self, units: Sequence[FinishedUnit], unanswered: int
    ) -> list[DegradedChannel]:
        """Return what was not available: the language model or what it needs, and documents."""
        failure = self._units.failure
        run_id = self._run.run_id if self._ports.is_stored else None
        found = [describe_failure(failure, self._run.kind, run_id)] if failure else []
        if unanswered and not failure:
            parts = "1 part" if unanswered == 1 else f"{unanswered:,} parts"
            reason = f"the model gave no usable answer to {parts} of the text"
            hint = f"kebab {self._run.kind} --run-id {run_id}" if run_id else None
            found.append(DegradedChannel(channel="llm", reason=reason, hint=hint))
        faults = (unit.result.fault for unit in units)
        found += [
            DegradedChannel(channel="document", reason=fault, hint=None)
            for fault in faults
            if fault is not None
        ]
        return [*found, *self._ports.missing]


def describe_failure(failure: Signal, operation: str, run_id: str | None) -> DegradedChannel:
    """Return that the language model was not available, and why.

    A run that is stored can be continued when the server is back.
    """
    hint = failure.format_hint()
    is_misplaced = isinstance(failure, ModelProtocol) and failure.setting
    if failure.retry is Retry.TRANSIENT and not is_misplaced and run_id:
        hint = f"kebab {operation} --run-id {run_id}"
    return DegradedChannel(channel="llm", reason=failure.format_message(), hint=hint)
