"""Reads the language of the person from the locale."""

import os
import re

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=$|[_.@-])", re.IGNORECASE)


def read_locale_language() -> str | None:
    """Return the ISO 639 code of the locale; None for the locale C, or without one."""
    name = next(filter(None, map(os.environ.get, _VARIABLES)), "")
    found = _LANGUAGE.match(name)
    return found[0].lower() if found else None
