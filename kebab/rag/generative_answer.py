"""Generates an answer with a language model and checks its claims."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from msgspec import structs

from kebab.core.answers import AnswerMode, Completion, LanguageModel, Refusal, Turn
from kebab.core.queries import Page
from kebab.errors.catalog import ContextOverflow
from kebab.rag import prompt
from kebab.rag.context_packing import MAX_DOWNSHIFTS, PromptLoad, pack_evidence, reduce_load
from kebab.rag.engine import EMPTY_USAGE, AnswerListener, DraftAnswer
from kebab.rag.prompt import NOT_IN_NOTES
from kebab.text.language import detect_question_language
from kebab.wire.ask import AnswerUsage, AnswerWarning

_SIGNS = re.compile(r"[\W_]+")
_WORD = _SIGNS.sub("", NOT_IN_NOTES)


class StreamBuffer:
    """Passes the pieces of an answer on, once they cannot be the agreed word any more."""

    def __init__(self, pass_on: Callable[[str], None]) -> None:
        self._pass_on = pass_on
        self._begin = ""
        self.is_open = False
        """Whether anything was passed on."""
        self.text = ""
        """All that was said."""

    def append(self, piece: str) -> None:
        """Take a piece."""
        self.text += piece
        if self.is_open:
            self._pass_on(piece)
            return
        # However it is spelt, and never more of it than the agreed word is long.
        self._begin = (self._begin + _SIGNS.sub("", piece).upper())[: len(_WORD)]
        if not _WORD.startswith(self._begin):
            self.is_open = True
            self._pass_on(self.text)

    def reset(self) -> None:
        """Forget everything."""
        self._begin = self.text = ""
        self.is_open = False


UnsupportedPolicy: TypeAlias = Literal["mark", "withhold"]

_TOO_LONG = "the passages did not fit the model's window"
_CUT_OFF = "the answer was cut off by its limit"


@dataclass(slots=True)
class _Work:
    """One question at work: what is sent, what it has cost, and what was odd."""

    load: PromptLoad
    usage: AnswerUsage = EMPTY_USAGE
    warnings: list[AnswerWarning] = field(default_factory=list)

    def spend(self, completion: Completion) -> None:
        """Add what an attempt cost."""
        self.usage = structs.replace(
            self.usage,
            prompt_tokens=self.usage.prompt_tokens + completion.prompt_tokens,
            completion_tokens=self.usage.completion_tokens + completion.completion_tokens,
            first_token_ms=completion.first_token_ms,
            finish_reason=completion.finish,
        )

    def shift(self, question: str, reason: str) -> None:
        """Take less for the next attempt."""
        step = self.usage.downshifts + 1
        self.load = reduce_load(self.load, question, step)
        self.usage = structs.replace(self.usage, downshifts=step)
        self.warn("downshifted", f"asked again with less: {reason}")

    def warn(self, code: str, message: str) -> None:
        """Note something odd."""
        self.warnings.append(AnswerWarning(code=code, message=message, marker=None, span=None))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWriter:
    """Lets a language model word the answer.

    Args:
        model: The model.
        answer_tokens: The most tokens of an answer.
        policy: What becomes of an answer with a claim that its passage does not carry.
    """

    model: LanguageModel
    answer_tokens: int
    policy: UnsupportedPolicy = "mark"

    @property
    def mode(self) -> AnswerMode:
        """A model words it."""
        return AnswerMode.GENERATIVE

    def write(
        self, question: str, page: Page, history: Sequence[Turn], listener: AnswerListener
    ) -> DraftAnswer:
        """Return what the model makes of the passages; interrupted, what it said so far."""
        work = _Work(self._packed(question, page, history))
        hold = StreamBuffer(listener.on_token)
        try:
            completion = self._completed(question, work, history, hold, listener)
        except KeyboardInterrupt:
            if not hold.is_open:
                raise
            return _result(work, text=hold.text, refusal=Refusal.LLM_STREAM_ABORTED)
        if prompt.is_declined(completion.text) or not completion.text.strip():
            return _result(work, refusal=Refusal.LLM_SELF_JUDGE)
        return self._judged(completion.text, work)

    def _packed(self, question: str, page: Page, history: Sequence[Turn]) -> PromptLoad:
        overhead = prompt.estimate_overhead(question, history)
        room = prompt.compute_evidence_budget(
            self.model.context_tokens, self.answer_tokens, overhead
        )
        return PromptLoad(
            passages=tuple(pack_evidence(page.hits, room)), answer_tokens=self.answer_tokens
        )

    def _completed(
        self,
        question: str,
        work: _Work,
        history: Sequence[Turn],
        hold: StreamBuffer,
        listener: AnswerListener,
    ) -> Completion:
        """Return the first whole answer, or the last cut one, each attempt with less.

        Raises:
            ContextOverflow: Even the least does not fit.
        """
        while True:
            last = work.usage.downshifts == MAX_DOWNSHIFTS
            try:
                completion = self._said(question, work, history, hold)
            except ContextOverflow:
                if last:
                    raise
                reason = _TOO_LONG
            else:
                work.spend(completion)
                if completion.finish == "stop" or last:
                    return _ended(completion, work)
                reason = _CUT_OFF
            work.shift(question, reason)
            hold.reset()
            listener.on_restart(reason)

    def _said(
        self, question: str, work: _Work, history: Sequence[Turn], hold: StreamBuffer
    ) -> Completion:
        messages = prompt.build_messages(
            question,
            work.load.passages,
            language=detect_question_language(question),
            answer_tokens=work.load.answer_tokens,
            history=history,
        )
        return self.model.chat(messages, max_tokens=work.load.answer_tokens, on_text=hold.append)

    def _judged(self, text: str, work: _Work) -> DraftAnswer:
        """Return the checked answer, or its refusal when too little of it is supported."""
        # Loaded now: its tables take a while, and the model need not wait for them.
        from kebab.rag.checking.citations import check_answer

        checked = check_answer(text, work.load.passages, self.policy)
        work.warnings.extend(checked.warnings)
        withheld = self.policy == "withhold" and checked.unsupported > 0
        if withheld or not checked.supported:
            work.warnings = [structs.replace(one, span=None) for one in work.warnings]
            return _result(work, refusal=Refusal.UNSUPPORTED_CLAIMS)
        return replace(_result(work, text=checked.text), citations=checked.citations)


def _ended(completion: Completion, work: _Work) -> Completion:
    """Return the last attempt; one that was cut off is marked as such."""
    if completion.finish == "length":
        work.usage = structs.replace(work.usage, truncated=True)
        work.warn("downshift_exhausted", f"the answer is not whole: {_CUT_OFF}")
    return completion


def _result(work: _Work, *, text: str = "", refusal: Refusal | None = None) -> DraftAnswer:
    return DraftAnswer(
        text=text,
        refusal=refusal,
        warnings=tuple(work.warnings),
        usage=work.usage,
        used=len(work.load.passages),
    )
