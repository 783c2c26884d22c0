"""Refusing requests that UTF-8 cannot carry."""

import json
from collections.abc import Mapping

from kebab.errors.catalog import InvalidInput


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
