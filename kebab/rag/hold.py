"""Holding back: what may become the agreed word for "not in the notes" is not shown as answer."""

from collections.abc import Callable

from kebab.rag.prompt import NOT_IN_NOTES

_AROUND = " \t\r\n*_`\"'#>"


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
    """Return whether a text is the agreed word, begins with it, or may still become it."""
    bare = text.strip(_AROUND)
    return NOT_IN_NOTES.startswith(bare) or bare.startswith(NOT_IN_NOTES)
