"""A language model that translates by a function: it reads requests and keeps to their schemas."""

import json
import re
from collections.abc import Callable, Sequence

from kebab.core.answers import Completion, JsonSchema, Message
from tests.fakes.language_model import Told

_LETTER = re.compile("[A-Za-z]")


def to_hangul(text: str) -> str:
    """Return a text with a Hangul syllable for each Latin letter; placeholders stay."""
    return _LETTER.sub(lambda letter: chr(0xAC00 + ord(letter[0])), text)


class FakeTranslator:
    """Translates every text of a request.

    Args:
        translate: Returns the translation of a text with placeholders.
        chars: The characters of a response that one token pays for; a longer one is cut off.
    """

    def __init__(
        self,
        translate: Callable[[str], str] = to_hangul,
        *,
        chars: float = 100.0,
    ) -> None:
        self._translate = translate
        self._chars = chars
        self.told: list[Told] = []

    @property
    def name(self) -> str:
        return "translator:latest"

    @property
    def context_tokens(self) -> int:
        return 8192

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        on_text: Callable[[str], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        assert schema is not None
        self.told.append(Told(tuple(messages), max_tokens, schema))
        request = json.loads(messages[-1].content)
        items = [{"id": one["id"], "text": self._translate(one["text"])} for one in request]
        text = json.dumps({"items": items}, ensure_ascii=False)
        most = int(max_tokens * self._chars)
        on_text(text[:most])
        return Completion(
            text=text[:most],
            finish="length" if len(text) > most else "stop",
            prompt_tokens=10,
            completion_tokens=5,
        )
