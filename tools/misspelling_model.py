"""A language model for tests of reviews: it finds some misspelled words wherever they stand."""

import json
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from kebab.core.answers import Completion, JsonSchema, Message

TYPOS = {"teh": "the", "recieve": "receive", "wich": "which", "안되요": "안 돼요"}
"""What the model finds, and what it writes instead."""

_TYPO = re.compile("|".join(TYPOS))
_SENTENCE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_FINDING = re.compile(r'^(\d+)\. sentence \d+, \w+: ("(?:[^"\\]|\\.)*")', re.MULTILINE)


class MisspellingModel:
    """Answers every request about typos as it is asked to, each after a while."""

    name = "misspelling:latest"
    context_tokens = 8192

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        on_text: Callable[[str], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        """Return the typos of the last message in the format of the schema."""
        del max_tokens
        time.sleep(self._seconds)
        text = json.dumps({"items": find_typos(messages, schema)}, ensure_ascii=False)
        on_text(text)
        return Completion(text=text, finish="stop", prompt_tokens=1, completion_tokens=1)


def find_typos(messages: Sequence[Message], schema: JsonSchema | None) -> list[dict[str, Any]]:
    """Return the findings, or the fixes, that the last message asks for."""
    assert schema is not None, "a request of a review has a schema"
    fields = schema["properties"]["items"]["items"]["properties"]
    request = messages[-1].content
    if "passage" in fields:
        return []
    if "finding" in fields:
        named = [(int(one[1]), json.loads(one[2])) for one in _FINDING.finditer(request)]
        return [
            {"finding": number, "text": TYPOS[word], "note": "spelling"}
            for number, word in named
            if word in TYPOS
        ]
    return [
        {
            "sentence": int(number),
            "words": word,
            "kind": "spelling",
            **({"fix": TYPOS[word]} if "fix" in fields else {}),
            "reason": "misspelled",
            "severity": "error",
        }
        for number, sentence in _SENTENCE.findall(request)
        for word in _TYPO.findall(sentence)
    ]
