"""Finds faults in one answer, without the code of kebab that checks answers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kebab.wire.ask import AnswerEvent

FRAME = re.compile(r"</?(?:evidence|passage)\b|\bFrom: .*\blines? \d", re.IGNORECASE)
"""The frame that the prompt puts around passages."""

_FENCE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^[ \t>]*(?P=fence)|\Z)",
    re.MULTILINE | re.DOTALL,
)
_TOKEN = re.compile(r"[^\W_][\w.+-]*|--?[A-Za-z][\w-]*")
_MARK = "[unsupported]"
_NEAR = 40
"""The characters before and after a block in which its mark stands."""
_MIN_TOKEN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What happened when one question was asked."""

    question: str
    refusal: str | None = None
    error: str | None = None
    truncated: bool = False
    asked_again: int = 0
    """How often the answer was begun again after some of it was shown."""
    overflows: int = 0
    """How often the model was asked with fewer passages before it wrote anything."""
    frame_in_answer: bool = False
    frame_in_stream: bool = False
    blocks: int = 0
    """The number of code blocks of the answer."""
    unmarked: tuple[str, ...] = ()
    """For each unsupported and unmarked block, the tokens that no cited passage contains."""
    marked: int = 0
    """The number of unsupported blocks that are marked."""
    seconds: float = 0.0
    first_token_s: float | None = None


def judge_answer(
    answer: dict[str, Any], events: Sequence[AnswerEvent], passages: Sequence[str], seconds: float
) -> Verdict:
    """Return the verdict on an answer.

    Args:
        answer: The answer as `kebab ask --json` prints it.
        events: The events before it.
        passages: The texts of the cited passages.
        seconds: The time that the question took.
    """
    text, usage = answer["answer"], answer["usage"]
    code = text if answer["grounded"] else ""
    blocks = find_unsupported_blocks(code, passages)
    unmarked = [tokens for span, tokens in blocks if not is_marked(answer, span)]
    again, overflows = count_restarts(events)
    first = usage["first_token_ms"]
    return Verdict(
        question=answer["question"],
        refusal=answer["refusal_reason"],
        truncated=usage["truncated"],
        asked_again=again,
        overflows=overflows,
        frame_in_answer=FRAME.search(text) is not None,
        frame_in_stream=FRAME.search(join_tokens(events)) is not None,
        blocks=len(_FENCE.findall(code)),
        unmarked=tuple(" ".join(tokens) for tokens in unmarked),
        marked=len(blocks) - len(unmarked),
        seconds=seconds,
        first_token_s=None if first is None else first / 1000,
    )


def join_tokens(events: Sequence[AnswerEvent]) -> str:
    """Return all text that a reader of the stream saw, withdrawn text included."""
    return "".join(event.delta for event in events if event.delta)


def count_restarts(events: Sequence[AnswerEvent]) -> tuple[int, int]:
    """Return how often an answer was begun again after some text, and before any text."""
    again = before = 0
    shown = False
    for event in events:
        if event.type == "restart":
            again, before = again + shown, before + (not shown)
        shown = event.type == "token" or (shown and event.type != "restart")
    return again, before


def find_unsupported_blocks(
    text: str, passages: Sequence[str]
) -> list[tuple[tuple[int, int], list[str]]]:
    """Return the span of each code block with the tokens that no passage contains."""
    known = {token.lower() for passage in passages for token in _TOKEN.findall(passage)}
    found = []
    for block in _FENCE.finditer(text):
        code = block["code"].replace(_MARK, " ")
        tokens = [one for one in _TOKEN.findall(code) if len(one) >= _MIN_TOKEN]
        missing = [one for one in dict.fromkeys(tokens) if one.lower() not in known]
        if missing:
            found.append((block.span(), missing))
    return found


def is_marked(answer: dict[str, Any], span: tuple[int, int]) -> bool:
    """Return whether an answer marks a block as unsupported, in its text or by a warning."""
    start, end = span
    if _MARK in answer["answer"][max(0, start - _NEAR) : end + _NEAR]:
        return True
    spans = [warning["span"] for warning in answer["warnings"] if warning["span"]]
    return any(low < end and start < high for low, high in spans)
