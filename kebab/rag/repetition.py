"""Stops an answer that repeats itself, as small models do until a limit stops them."""

from collections.abc import Callable
from time import monotonic

from kebab.core.answers import Completion
from kebab.text.tokens import estimate_tokens

_MIN_COPIES = 3
_MIN_LENGTH = 240
"""The fewest characters of all copies together; short rows of equal signs are no fault."""
_MAX_PART = 800
_KEY = 24
"""The last characters of the text, whose earlier place gives the length of the repeated part."""


def find_repetition(text: str) -> int | None:
    """Return the end of the first copy when a text ends in equal copies of one part, else None."""
    tail = text[-_MIN_COPIES * max(_MAX_PART, _MIN_LENGTH) :]
    key = tail[-_KEY:]
    if len(tail) < _MIN_LENGTH or not any(map(str.isalpha, key)):
        return None
    earlier = tail.rfind(key, 0, -1)
    part = len(tail) - _KEY - earlier
    copies = max(_MIN_COPIES, -(-_MIN_LENGTH // part))
    repeated = copies * part
    if earlier < 0 or part > _MAX_PART or repeated > len(tail):
        return None
    is_repeated = tail[-repeated:-part] == tail[part - repeated :]
    return len(text) - repeated + part if is_repeated else None


class RepeatedTextError(Exception):
    """The answer repeats itself."""


class RepetitionGuard:
    """Passes on the pieces of an answer until it repeats itself.

    Args:
        pass_on: Receives the pieces.
    """

    def __init__(self, pass_on: Callable[[str], None]) -> None:
        self._pass_on = pass_on
        self._started = monotonic()
        self._text = ""
        self._first_token_ms: float | None = None

    def append(self, piece: str) -> None:
        """Pass on a piece.

        Raises:
            RepeatedTextError: The text so far ends in several equal parts.
        """
        if self._first_token_ms is None:
            self._first_token_ms = (monotonic() - self._started) * 1000
        self._text += piece
        self._pass_on(piece)
        if find_repetition(self._text) is not None:
            raise RepeatedTextError

    def build_completion(self, prompt_tokens: int) -> Completion:
        """Return the answer without the repeated parts; its tokens are estimated."""
        return Completion(
            text=self._text[: find_repetition(self._text)],
            finish="length",
            prompt_tokens=prompt_tokens,
            completion_tokens=estimate_tokens(self._text),
            first_token_ms=self._first_token_ms,
        )
