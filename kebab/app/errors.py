"""What went wrong lately: the log of faults counted, or one of them shown."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args

import msgspec

from kebab.app.log import lines
from kebab.app.lookup import not_found
from kebab.app.moment import stamp
from kebab.core.library import Ambiguous
from kebab.errors.refusal import refused
from kebab.text.normalize import escape_undecodable
from kebab.wire.audit import Dimension, ErrorAudit, ErrorCount, ErrorGroup, ErrorStats
from kebab.wire.library import NotFound
from kebab.wire.record import UNREADABLE

_DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
_IDS = 3
"""How many of the last faults a count names."""

_CANDIDATES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsOptions:
    """What to count: faults from `since` on (seconds since the epoch), by one thing or by all."""

    since: float | None = None
    by: Dimension | None = None
    limit: int = 10


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the log, and when its fault happened."""

    when: float
    audit: ErrorAudit


def stats(log: Path, options: StatsOptions) -> ErrorStats:
    """Return the faults counted; without a log there are none.

    Raises:
        IoError: The log cannot be read.
    """
    entries, unreadable = _entries(log)
    lately = [one for one in entries if options.since is None or one.when >= options.since]
    wanted = [options.by] if options.by else _DIMENSIONS
    return ErrorStats(
        since=None if options.since is None else stamp(options.since),
        total=len(lately),
        unreadable=unreadable,
        groups=[_group(lately, by, options.limit) for by in wanted],
        log=escape_undecodable(str(log)),
    )


def entry(log: Path, name: str) -> ErrorAudit | NotFound:
    """Return the line of the log that a correlation id, or a unique beginning of one, means.

    Raises:
        IoError: The log cannot be read.
    """
    name = escape_undecodable(name.strip().lower())
    found = [
        one.audit for one in _entries(log)[0] if name and one.audit.correlation_id.startswith(name)
    ]
    if len(found) == 1:
        return found[0]
    ids = [one.correlation_id for one in reversed(found)]
    return not_found(name, "error", Ambiguous(tuple(ids[:_CANDIDATES])) if ids else None)


def _entries(log: Path) -> tuple[list[_Entry], int]:
    """Return what the log holds, oldest first, and how many lines are none of ours."""
    found: dict[str, _Entry] = {}
    unreadable = 0
    with refused(log, "read"):
        for line in filter(bytes.strip, lines(log)):
            one = _read(line)
            if one is None:
                unreadable += 1
            else:
                # A file that moves on while it is read shows its lines twice.
                found[one.audit.correlation_id] = one
    return sorted(found.values(), key=lambda one: one.when), unreadable


def _read(line: bytes) -> _Entry | None:
    try:
        audit = msgspec.json.decode(line, type=ErrorAudit)
        return _Entry(datetime.fromisoformat(audit.occurred_at).timestamp(), audit)
    except (*UNREADABLE, ValueError, OverflowError):
        return None


def _group(entries: list[_Entry], by: Dimension, limit: int) -> ErrorGroup:
    values: dict[str, list[_Entry]] = defaultdict(list)
    for one in entries:
        values[getattr(one.audit, by)].append(one)
    ranked = sorted(values, key=lambda value: (-len(values[value]), -values[value][-1].when, value))
    return ErrorGroup(
        by=by,
        counts=[_count(value, values[value], len(entries)) for value in ranked[:limit]],
        left_out=max(0, len(ranked) - limit),
    )


def _count(value: str, entries: list[_Entry], total: int) -> ErrorCount:
    return ErrorCount(
        value=value,
        count=len(entries),
        share=len(entries) / total,
        first_at=entries[0].audit.occurred_at,
        last_at=entries[-1].audit.occurred_at,
        correlation_ids=[one.audit.correlation_id for one in reversed(entries[-_IDS:])],
    )
