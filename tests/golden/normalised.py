"""What differs from run to run, machine to machine and build to build, put in one form.

What is put in its place keeps to the published schemas.
"""

import re
from collections.abc import Iterable
from typing import Any

HOME = "/home/ada"

_MOMENT = "2025-01-01T00:00:00.000Z"
_FIXED: dict[str, Any] = {
    "bytes": 1,
    "bytes_freed": 1,
    "corpus_revision": 1,  # slow runs write in more steps
    "current_revision": 2,
    "elapsed_ms": 1,
    "duration_ms": 1.0,
    "first_token_ms": 1.0,
    "holder_pid": 1,
    "issued_revision": 1,
    "kebab_version": "0.0.0",
    "lancedb": 1,
    "latency_ms": 1.0,
    "next_cursor": "CURSOR",
    "pid": 1,
    "platform": "PLATFORM",
    "python": "3.0.0",
    "run_id": "RUN",
    "sqlite": 1,
    "timing_ms": 1.0,
    "traceback": ["TRACEBACK"],
}
"""What a field holds when it holds anything; no time at all is a time too."""

_SLOW = {"doc_path": "PATH", "duration_ms": 1.0}
"""Which files are slowest is a matter of luck."""

_TIME = {"value": 1.0}
"""What a figure holds whose unit is time."""

_PATTERNS = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), _MOMENT),
    (re.compile(r"\.damaged-\d{8}T\d{6}Z"), ".damaged-20250101T000000Z"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "127.0.0.1:11434"),
    (re.compile(r"\bpid \d+"), "pid 1"),
    (re.compile(r"\brevision \d+, now \d+"), "revision 1, now 2"),
    (re.compile(r"[\d,]+ MB free"), "1 MB free"),
    (re.compile(r"may open (?:[\d,]+|any number of) files"), "may open 1 files"),
)
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32,64}(?![0-9a-f])")
_PLACES = 3
"""Processors disagree about the last digits of a sum."""


class Normaliser:
    """Puts the objects of one run in one form; an id is numbered where it is first seen."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._ids: dict[str, str] = {}

    def lines(self, objects: Iterable[dict[str, Any]]) -> list[Any]:
        """Return the objects of a channel, without those whose number depends on time."""
        return [self._value(one) for one in objects if not _is_heartbeat(one)]

    def _value(self, value: Any, key: str = "") -> Any:
        if key in _FIXED and (value or (value == 0 and key.endswith("_ms"))):
            return _FIXED[key]
        if key == "slowest" and isinstance(value, dict):
            return _SLOW
        if isinstance(value, dict):
            fixed = _TIME if value.get("unit") == "ms" else {}
            items = {**value, **fixed}.items()
            return {self._text(name): self._value(item, name) for name, item in items}
        if isinstance(value, list):
            return [self._value(item, key) for item in value]
        if isinstance(value, float):
            return round(value, _PLACES)
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        text = text.replace(self._home, HOME)
        for pattern, instead in _PATTERNS:
            text = pattern.sub(instead, text)
        return _ID.sub(self._number, text)

    def _number(self, found: re.Match[str]) -> str:
        name = found.group()
        return self._ids.setdefault(name, f"{len(self._ids) + 1:0{len(name)}x}")


def _is_heartbeat(one: dict[str, Any]) -> bool:
    """Return whether an object only breaks a silence."""
    beat = "heartbeat" in (one.get("kind"), one.get("type"))
    return beat and not one.get("message")
