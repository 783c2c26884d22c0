"""What the scripted knowledge base answers to which question, and how fast it says it."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kebab.errors.catalog import ModelUnreachable
from kebab.wire.ask import Answer, AnswerEvent, AskRequest
from kebab.wire.search import DegradedChannel
from tests.fakes import replies

_ANSWERS = Path(__file__).parents[1] / "cases" / "answers"
_REFUSALS = {"nothing": "no_chunks", "weak": "score_gate", "unsure": "llm_self_judge"}
_SLOW_S = 0.02


def answer_to(request: AskRequest) -> Answer:
    """Return the answer to a question."""
    asked: dict[str, Any] = {"question": request.question, "session_id": request.session}
    first = request.question.split()[0]
    if first in _REFUSALS:
        near = [] if first == "nothing" else [replies.hit(rank) for rank in range(1, 6)]
        return replies.refusal(_REFUSALS[first], suggestions=near, **asked)
    if request.extractive:
        return replies.answer(mode="extractive", model=None, **asked)
    if first == "odd":
        note = replies.answer_warning("asked again with less: the passages did not fit")
        missing = DegradedChannel(channel="vector", reason="no model", hint="kebab model pull auto")
        looked = replies.answer_retrieval(degraded=[missing])
        return replies.answer(warnings=[note, note], retrieval=looked, **asked)
    found = _ANSWERS / f"{request.question.split()[-1]}.md"
    text = found.read_text(encoding="utf-8") if found.exists() else "Stop, then **restore** [1]."
    return replies.answer(text, citations=cited(text), **asked)


def cited(text: str) -> list[Any]:
    """Return a citation for each marker of an answer."""
    markers = sorted({int(one) for one in re.findall(r"\[(\d)\]", text)})
    return [replies.answer_citation(marker) for marker in markers]


def say(question: str, text: str, tell: Callable[[AnswerEvent], None], said: list[str]) -> None:
    """Tell an answer word by word, as the first word of the question says.

    Raises:
        ModelUnreachable: The question is `cut`.
    """
    manner = question.split(maxsplit=1)[0]
    for number, word in enumerate(re.findall(r"\s*\S+", text)):
        if manner == "again" and number == 3 and len(said) == number:
            said.clear()
            tell(AnswerEvent(type="restart", reason="the answer was cut off by its limit"))
            say("then", text, tell, said)
            return
        said.append(word)
        tell(AnswerEvent(type="token", delta=word))
        while manner == "halting":
            time.sleep(0.01)
        if manner == "cut":
            raise ModelUnreachable(endpoint="http://127.0.0.1:11434", operation="ask", cause="gone")
        time.sleep(_SLOW_S if manner == "slow" else 0)
