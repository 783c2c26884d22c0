"""Compiles regular expressions when they are first used.

Compiling a pattern takes up to some milliseconds, and a short command uses few of the patterns of
the modules that it imports.
"""

import re
from typing import Any, cast


class LazyPattern:
    """A pattern that is compiled at the first access to an attribute of `re.Pattern`."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)  # the next access does not come here
        return value


def compile_lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that behaves like a compiled one, and is compiled at its first use."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
