"""Sessions: what is remembered of them, shown and forgotten."""

from collections.abc import Sequence

from kebab.app.compose import Workshop
from kebab.wire.library import NotFound
from kebab.wire.session import SessionList, SessionRemoved, SessionTranscript


def sessions(shop: Workshop) -> SessionList:
    """Return every session."""
    raise NotImplementedError


def transcript(shop: Workshop, name: str) -> SessionTranscript | NotFound:
    """Return a session with its turns."""
    raise NotImplementedError


def forget(shop: Workshop, names: Sequence[str]) -> SessionRemoved | NotFound:
    """Forget sessions."""
    raise NotImplementedError
