"""Contains the counters of finished work, which outlive the runs."""

from typing import Any

import apsw

from kebab.core.review import UnitResult
from kebab.core.review_store import WorkCounts

_MINUTE_S = 60
_SUMS = ", ".join(f"sum({name})" for name in WorkCounts._fields[3:])
_READ = (
    f"SELECT kind, tier, count(DISTINCT run_id), {_SUMS} FROM work WHERE minute >= ?"  # noqa: S608 - fixed names
    " GROUP BY kind, tier ORDER BY kind, tier"
)


def count_work(database: apsw.Connection, run: int, now: float, **counters: float) -> None:
    """Add to the counters of a run in this minute; their names are those of `WorkCounts`."""
    names, places = ", ".join(counters), ", ".join("?" for _ in counters)
    sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in counters)
    database.execute(
        f"INSERT INTO work (minute, run_id, kind, tier, {names})"  # noqa: S608 - fixed names
        f" SELECT ?, run_id, kind, tier, {places} FROM runs WHERE run = ?"
        f" ON CONFLICT (minute, run_id) DO UPDATE SET {sums}",
        (int(now // _MINUTE_S), *counters.values(), run),
    )


def count_result(database: apsw.Connection, run: int, now: float, result: UnitResult) -> None:
    """Add the result of a unit to the counters of its run."""
    usage = result.usage
    counters: dict[str, Any] = {"units": int(not usage.unanswered), "items": len(result.items)}
    if usage.requests:
        counters |= {
            "answered": len(result.items),
            "requests": usage.requests,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "latency_ms": usage.latency_ms,
            "downshifts": usage.downshifts,
            "json_repairs": usage.repairs,
        }
    count_work(database, run, now, **counters)


def read_work(database: apsw.Connection, since: float | None) -> list[WorkCounts]:
    """Return the work since a time, in whole minutes, by kind and tier."""
    minute = 0 if since is None else int(since // _MINUTE_S)
    return [WorkCounts._make(row) for row in database.execute(_READ, (minute,))]
