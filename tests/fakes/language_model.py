"""A language model that says what it is told: public twin of the adapters of `LanguageModel`.

model = ScriptedModel("It rises [1].", ContextOverflow(...), Completion(...))
"""

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kebab.core.answers import Completion, JsonSchema, Message

_WORD = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True, slots=True)
class Told:
    """One conversation that the model was given."""

    messages: tuple[Message, ...]
    max_tokens: int
    schema: JsonSchema | None = None

    @property
    def text(self) -> str:
        """Every message, one after the other."""
        return "\n".join(message.content for message in self.messages)


@dataclass(frozen=True, slots=True, init=False)
class Pieces:
    """An answer said in pieces as given; what comes then is an exception or the end."""

    pieces: tuple[str, ...]
    then: BaseException | Completion | None

    def __init__(self, *pieces: str, then: BaseException | Completion | None = None) -> None:
        object.__setattr__(self, "pieces", pieces)
        object.__setattr__(self, "then", then)


Said: TypeAlias = str | Completion | Pieces | BaseException
Step: TypeAlias = Said | Callable[[Told], Said]
"""What the model does when it is asked: a text is said word by word, an exception raised, and a
function decides by what it is told."""


class ScriptedModel:
    """Plays its script a step each time it is asked, and remembers what it was told."""

    def __init__(
        self, *steps: Step, name: str = "scripted:latest", context_tokens: int = 8192
    ) -> None:
        self._name = name
        self._context_tokens = context_tokens
        self._script: deque[Step] = deque(steps)
        self.told: list[Told] = []
        """Every conversation, in order."""
        self.interrupted = 0
        """How many answers the listener broke off."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    @property
    def unplayed(self) -> int:
        """How many steps nobody asked for."""
        return len(self._script)

    def enqueue(self, *steps: Step) -> None:
        """Let the model do these, one each time it is asked."""
        self._script.extend(steps)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        on_text: Callable[[str], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        self.told.append(Told(tuple(messages), max_tokens, schema))
        assert self._script, "nothing is scripted for this conversation"
        step = self._script.popleft()
        play = _pieces(step(self.told[-1]) if callable(step) else step)
        try:
            for piece in filter(None, play.pieces):
                on_text(piece)
        except BaseException:
            self.interrupted += 1
            raise
        if isinstance(play.then, BaseException):
            raise play.then
        return play.then or Completion(
            text="".join(play.pieces),
            finish="stop",
            prompt_tokens=len(_WORD.findall(self.told[-1].text)),
            completion_tokens=len(play.pieces),
            first_token_ms=1.0 if play.pieces else None,
        )


def _pieces(said: Said) -> Pieces:
    """Return anything that can be said as its pieces and what comes then."""
    if isinstance(said, BaseException):
        return Pieces(then=said)
    if isinstance(said, Completion):
        return Pieces(*_WORD.findall(said.text), then=said)
    return Pieces(*_WORD.findall(said)) if isinstance(said, str) else said
