"""Contains the rows of stored runs: how units and results are written, and how runs are listed."""

import msgspec

from kebab.core.review import Unit, UnitResult, UnitUsage
from kebab.core.review_store import StoredUnit
from kebab.wire.review import AgentItem, ItemCitation

LIST_RUNS = """
    SELECT r.run_id, r.kind, r.tier, r.model, i.request, r.created, r.updated,
        json_array_length(i.files), coalesce(u.done, 0), coalesce(u.items, 0),
        coalesce(d.files, 0) = json_array_length(i.files) AND NOT coalesce(d.waiting, 0)
            AND coalesce(u.done + u.repeated = u.units, 1)
    FROM runs r JOIN run_inputs i ON i.run = r.run
    LEFT JOIN (SELECT run, count(*) AS units, sum(items) AS items,
        sum(result IS NOT NULL AND unanswered = 0) AS done, sum(unanswered = 2) AS repeated
        FROM units GROUP BY run) u ON u.run = r.run
    LEFT JOIN (SELECT run, count(DISTINCT file) AS files, max(waiting) AS waiting
        FROM documents GROUP BY run) d ON d.run = r.run
    ORDER BY r.created DESC, r.run DESC
"""
"""Selects the columns of `RunSummary`, the newest run first."""


class _Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """A `UnitResult` with the types that JSON is decoded to."""

    items: tuple[AgentItem, ...] = ()
    carried: tuple[AgentItem, ...] = ()
    citations: tuple[ItemCitation, ...] = ()
    scores: tuple[tuple[str, float], ...] = ()
    usage: UnitUsage | None = None


_NO_USAGE = UnitUsage()
_encoder = msgspec.json.Encoder()
_result_decoder = msgspec.json.Decoder(_Result)
_unit_decoder = msgspec.json.Decoder(Unit)
_files_decoder = msgspec.json.Decoder(tuple[str, ...])


def encode_files(files: tuple[str, ...]) -> str:
    """Return the JSON of the files of a run."""
    return _encoder.encode(files).decode()


def decode_files(stored: str) -> tuple[str, ...]:
    """Return the files of a run."""
    return _files_decoder.decode(stored)


def encode_unit(unit: Unit) -> str:
    """Return the JSON of a unit."""
    return _encoder.encode(unit).decode()


def build_unit(row: tuple[int, int, str, bytes | None, int]) -> StoredUnit:
    """Return the unit of a row: its number, its document, the unit, the result and its state."""
    number, document, unit, result, unanswered = row
    return StoredUnit(
        number, document, _unit_decoder.decode(unit), decode_result(result), unanswered == 1
    )


def encode_result(result: UnitResult) -> bytes:
    """Return the JSON of a result."""
    stored = _Result(
        items=result.items,
        carried=result.carried,
        citations=result.citations,
        scores=result.scores,
        usage=None if result.usage == _NO_USAGE else result.usage,
    )
    return _encoder.encode(stored)


def decode_result(stored: bytes | None) -> UnitResult | None:
    """Return a result, or None for a unit that is not finished."""
    if stored is None:
        return None
    found = _result_decoder.decode(stored)
    return UnitResult(
        items=found.items,
        carried=found.carried,
        citations=found.citations,
        scores=found.scores,
        usage=found.usage or _NO_USAGE,
    )
