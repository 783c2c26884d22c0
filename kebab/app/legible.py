"""Text that UTF-8 cannot carry: the undecodable bytes of command lines and file names."""

import json
from collections.abc import Mapping

from kebab.errors.catalog import InvalidInput


def legible(text: str) -> str:
    """Return text that UTF-8 can carry; undecodable bytes become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def require_legible(fields: Mapping[str, object]) -> None:
    """Refuse fields of a request that hold undecodable bytes: nothing stored can equal them.

    Raises:
        InvalidInput: The first field that does.
    """
    for name, value in fields.items():
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as fault:
            raise InvalidInput(field=f"$.{name}", cause="not valid UTF-8") from fault
