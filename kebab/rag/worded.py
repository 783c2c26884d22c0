"""What words an answer, what comes of it, and who listens meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kebab.core.answer import AnswerMode, Refusal, Support, Turn
from kebab.core.dialogue import LanguageModel
from kebab.core.hit import Page
from kebab.wire.ask import AnswerUsage, AnswerWarning

NO_USAGE = AnswerUsage(
    prompt_tokens=0,
    completion_tokens=0,
    latency_ms=0.0,
    first_token_ms=None,
    finish_reason=None,
    truncated=False,
    downshifts=0,
)
"""What an answer costs before a model is asked."""


class Listener(Protocol):
    """Who hears of an answer while it is made."""

    def retrieved(self, page: Page) -> None:
        """Take what was found."""

    def token(self, text: str) -> None:
        """Take the next piece of the answer, not yet checked."""

    def restarted(self, reason: str) -> None:
        """Forget all pieces so far: the question is asked again with less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """What a writer made of the passages: words with their support, or why there are none.

    `used` is how many passages it worked from.
    """

    text: str = ""
    refusal: Refusal | None = None
    citations: tuple[Support, ...] = ()
    warnings: tuple[AnswerWarning, ...] = ()
    usage: AnswerUsage = NO_USAGE
    used: int = 0


class Writer(Protocol):
    """Words an answer from what was found."""

    @property
    def mode(self) -> AnswerMode:
        """Whether a model words it."""

    @property
    def model(self) -> LanguageModel | None:
        """The model, if there is one."""

    def write(
        self, question: str, page: Page, history: Sequence[Turn], listener: Listener
    ) -> Worded:
        """Return the words."""
