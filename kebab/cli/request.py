"""From flags to a request: what a flag does not say, the settings do."""

from typing import Any, TypeVar

import msgspec

from kebab.wire.record import Request, refused

R = TypeVar("R", bound=Request)


def stated(defaults: dict[str, Any], flags: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a request: the flags that were given, over the defaults."""
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in flags.items()
        if value not in (None, (), False)
    }
    return {**defaults, **given}


def made(fields: dict[str, Any], form: type[R]) -> R:
    """Return a request of a form.

    Raises:
        InvalidInput: The fields break its schema.
    """
    try:
        return msgspec.convert(fields, form)
    except msgspec.ValidationError as fault:
        raise refused(fault) from fault
