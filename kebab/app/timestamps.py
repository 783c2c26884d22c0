"""Formats timestamps as RFC 3339 and parses the dates and ages that people type."""

import re
from datetime import UTC, datetime

from kebab.errors.catalog import InvalidInput

_AGE = re.compile(r"(\d{1,6})([mhdwy])")
_MAX_SECONDS = 9_000_000_000.0
"""The limit of file times in nanoseconds, before and after the epoch: about 285 years."""
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}


def format_timestamp(seconds: float) -> str:
    """Return seconds since the epoch as RFC 3339 in UTC, to the millisecond."""
    time = datetime.fromtimestamp(seconds, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str, field: str, now: float) -> float:
    """Return seconds since the epoch for a date, a timestamp, or an age such as `7d`.

    A date or a timestamp without an offset is local time. A time beyond the limits of file times
    is replaced by the limit.

    Raises:
        InvalidInput: The text has none of these forms.
    """
    return max(-_MAX_SECONDS, min(_MAX_SECONDS, _parse_seconds(text, field, now)))


def _parse_seconds(text: str, field: str, now: float) -> float:
    if age := _AGE.fullmatch(text.strip().lower()):
        return now - int(age[1]) * _UNITS[age[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError) as fault:
        cause = f"not a date, a moment or an age such as `7d`: {text}"
        raise InvalidInput(field=field, cause=cause) from fault
