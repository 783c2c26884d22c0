"""A language model that translates by a function: it reads requests and keeps to their schemas."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kebab.core.answers import Completion, JsonSchema, Message
from tests.fakes.language_model import Told

_LETTER = re.compile("[A-Za-z]")


def to_hangul(text: str) -> str:
    """Return a text with a Hangul syllable for each Latin letter; placeholders stay."""
    return _LETTER.sub(lambda letter: chr(0xAC00 + ord(letter[0])), text)


class FakeTranslator:
    """Translates, and by default changes, finds and complains about nothing.

    Args:
        translate: Returns the translation of a text with placeholders.
        revisions: Better translations by source.
        findings: What is wrong with a translation, by source.
        chars: The characters of a response that one token pays for; a longer one is cut off.
    """

    def __init__(
        self,
        translate: Callable[[str], str] = to_hangul,
        *,
        revisions: Mapping[str, str] | None = None,
        findings: Mapping[str, str] | None = None,
        chars: float = 100.0,
    ) -> None:
        self._translate = translate
        self._revisions = dict(revisions or {})
        self._findings = dict(findings or {})
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
        entry = schema["properties"]["items"]["items"]["properties"]
        items = self._answer(json.loads(messages[-1].content), entry)
        text = json.dumps({"items": items}, ensure_ascii=False)
        most = int(max_tokens * self._chars)
        on_text(text[:most])
        return Completion(
            text=text[:most],
            finish="length" if len(text) > most else "stop",
            prompt_tokens=10,
            completion_tokens=5,
        )

    def _answer(
        self, request: Sequence[Mapping[str, Any]], asked: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        if "points" in asked:
            return [self._rate(one) for one in request]
        if "reason" in asked:
            found = ((one["id"], self._findings.get(one["source"])) for one in request)
            fixed = {"side": "tgt", "kind": "accuracy", "severity": "error"}
            return [{"id": number, "reason": reason, **fixed} for number, reason in found if reason]
        if request and "translation" in request[0]:
            found = ((one["id"], self._revisions.get(one["source"])) for one in request)
            return [{"id": number, "text": text} for number, text in found if text]
        return [{"id": one["id"], "text": self._translate(one["text"])} for one in request]

    def _rate(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        reason = self._findings.get(entry["source"], "")
        return {"id": entry["id"], "reason": reason, "points": 40 if reason else 90}
