"""The ports of answering: what writes text, and what remembers what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kebab.core.answer import Completion, Message, SessionRow, Turn


class LanguageModel(Protocol):
    """Writes text, a token at a time. Nothing it does outlasts its deadlines."""

    @property
    def name(self) -> str:
        """The model's name, as its server knows it."""

    @property
    def context_tokens(self) -> int:
        """The window that prompt and answer share, in tokens; the same for every call."""

    def chat(
        self, messages: Sequence[Message], *, max_tokens: int, on_text: Callable[[str], None]
    ) -> Completion:
        """Return what the model says to a conversation; `on_text` gets each piece as it comes.

        An exception, one of `on_text` or a `KeyboardInterrupt` too, ends the server's work: the
        connection is closed before it goes on.

        Raises:
            ModelUnreachable: No connection, or it was cut.
            ModelNotPulled: The server does not have the model.
            ModelRejected: The model cannot chat, cannot be loaded, or the request is refused.
            ModelBusy: The server takes no more work now.
            ModelProtocol: What answers does not speak the protocol, or ended too early.
            ContextOverflow: The conversation does not fit the window.
            TimedOut: A deadline passed; `operation` says which one.
        """


class Conversations(Protocol):
    """Remembers the turns of sessions, up to a limit."""

    def turns(self, session: str, last: int | None = None) -> list[Turn]:
        """Return the turns of a session in order, or only the last ones; none when unknown."""

    def add(self, turn: Turn) -> int:
        """Remember a turn at the end of its session and return its index, from 0.

        `turn.index` is ignored. The oldest turns beyond the limit are forgotten; indexes go on.
        """

    def sessions(self) -> list[SessionRow]:
        """Return every session, the one used last first."""

    def forget(self, session: str) -> int:
        """Forget a session and return how many turns went."""
