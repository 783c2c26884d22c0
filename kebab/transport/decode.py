"""What a model server sends, read without trust: JSON, and words that are shown to people."""

import json
from typing import Any

_LONGEST = 300
_MOST = 1 << 32


def json_object(raw: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object that UTF-8 bytes or a text are, or None when they are none."""
    try:
        value = json.loads(raw.decode("utf-8") if isinstance(raw, bytes) else raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def one_line(text: str, limit: int = _LONGEST) -> str:
    """Return a text as one line of printable characters, cut to about `limit` of them."""
    # What is far beyond the limit is not looked at: white space may be squeezed, but not much is.
    looked_at = text[: 4 * limit]
    printable = "".join(char if char.isprintable() else " " for char in looked_at)
    line = " ".join(printable.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def count(value: object) -> int:
    """Return a plausible count, or 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value < _MOST else 0
