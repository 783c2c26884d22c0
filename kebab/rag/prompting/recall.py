"""Earlier turns, as a model is reminded of them: few, short, and without their markers."""

import re
from collections.abc import Sequence

from kebab.core.answer import Message, Turn
from kebab.rag.prompting.cut import fitting
from kebab.rag.prompting.defuse import defused
from kebab.rag.prompting.tokens import text_tokens

_TURNS = 2
_QUESTION = 60
_ANSWER = 100
_MARKERS = re.compile(
    r"[ \t]?(?:\[\s{0,2}[#^]?[0-9]{1,3}(?:\s{0,2}[,;\u2013-]\s{0,2}#?[0-9]{1,3}){0,9}\s{0,2}\]"
    r"|\u3010[#^]?[0-9]{1,3}\u3011)"
)


def recalled(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """Return the last answered turns as questions and answers, some 350 tokens at most."""
    answered = [turn for turn in turns if turn.refusal is None and turn.answer.strip()]
    return tuple(
        message
        for turn in answered[-_TURNS:]
        for message in (
            Message(role="user", content=short(turn.standalone or turn.question, _QUESTION)),
            Message(role="assistant", content=short(unmarked(turn.answer), _ANSWER)),
        )
    )


def unmarked(answer: str) -> str:
    """Return an answer without the markers of its citations."""
    return _MARKERS.sub("", answer)


def short(text: str, tokens: int) -> str:
    """Return the beginning of a text that costs at most so many tokens, harmless in a prompt."""
    text = defused(text).strip()
    if text_tokens(text) <= tokens:
        return text
    start, end = fitting(text, tokens - 1)
    return f"{text[start:end]} \u2026"
