"""Holding back: what may become the agreed word for "not in the notes" is not shown as answer."""

import re
from collections.abc import Callable

from kebab.rag.prompting.prompt import NOT_IN_NOTES

_SIGNS = re.compile(r"[\W_]+")
_WORD = _SIGNS.sub("", NOT_IN_NOTES)


class Hold:
    """Passes the pieces of an answer on, once they cannot be the agreed word any more."""

    def __init__(self, pass_on: Callable[[str], None]) -> None:
        self._pass_on = pass_on
        self._begin = ""
        self.open = False
        """Whether anything was passed on."""
        self.text = ""
        """All that was said."""

    def take(self, piece: str) -> None:
        """Take a piece."""
        self.text += piece
        if self.open:
            self._pass_on(piece)
            return
        # However it is spelt, and never more of it than the agreed word is long.
        self._begin = (self._begin + _SIGNS.sub("", piece).upper())[: len(_WORD)]
        if not _WORD.startswith(self._begin):
            self.open = True
            self._pass_on(self.text)

    def restart(self) -> None:
        """Forget everything."""
        self._begin = self.text = ""
        self.open = False
