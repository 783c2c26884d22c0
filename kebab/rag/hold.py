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
        self._held = ""
        self._open = False
        self.text = ""
        """All that was said."""

    def take(self, piece: str) -> None:
        """Take a piece."""
        self.text += piece
        if self._open:
            self._pass_on(piece)
            return
        self._held += piece
        if not _may_decline(self._held):
            self._open = True
            self._pass_on(self._held)

    def restart(self) -> None:
        """Forget everything."""
        self._held = self.text = ""
        self._open = False


def _may_decline(text: str) -> bool:
    """Return whether a text begins with the agreed word, however spelt, or may still become it."""
    bare = _SIGNS.sub("", text).upper()
    return _WORD.startswith(bare) or bare.startswith(_WORD)
