"""Generates an answer with a language model and checks its claims."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeAlias

from msgspec import structs

from kebab.core.answers import AnswerMode, Completion, LanguageModel, Refusal, Turn
from kebab.core.queries import Page
from kebab.errors.catalog import ContextOverflow
from kebab.rag import prompt
from kebab.rag.engine import EMPTY_USAGE, AnswerListener, DraftAnswer
from kebab.rag.evidence import MAX_DOWNSHIFTS, PromptLoad, pack_evidence, reduce_load
from kebab.rag.frame import FrameFilter, remove_frame
from kebab.rag.prompt import NOT_IN_NOTES
from kebab.text.language import detect_question_language
from kebab.wire.ask import AnswerUsage, AnswerWarning

UnsupportedPolicy: TypeAlias = Literal["mark", "withhold"]

_SEPARATORS = re.compile(r"[\W_]+")
_MARKER_WORD = _SEPARATORS.sub("", NOT_IN_NOTES)
_TOO_LONG = "the passages did not fit the model's window"
_CUT_OFF = "the answer reached its token limit"


class StreamBuffer:
    """Holds the first pieces of an answer until they cannot be `NOT_IN_NOTES` any more.

    The frame of the prompt is not passed on.
    """

    def __init__(self, pass_on: Callable[[str], None]) -> None:
        self._filter = FrameFilter(pass_on)
        self._prefix = ""
        self.is_open = False
        """Whether pieces are passed on."""
        self.text = ""
        """All pieces so far."""

    def append(self, piece: str) -> None:
        """Add a piece, and pass on what is no longer held."""
        self.text += piece
        if self.is_open:
            self._filter.append(piece)
            return
        # Case, blanks and signs are ignored, and the prefix is never longer than the word.
        letters = _SEPARATORS.sub("", piece).upper()
        self._prefix = (self._prefix + letters)[: len(_MARKER_WORD)]
        if not _MARKER_WORD.startswith(self._prefix):
            self.is_open = True
            self._filter.append(self.text)

    def close(self) -> None:
        """Pass on what is held, except `NOT_IN_NOTES`, after the last piece."""
        self._filter.close()

    def reset(self) -> None:
        """Discard all pieces."""
        self._prefix = self.text = ""
        self.is_open = False
        self._filter.reset()


@dataclass(slots=True)
class _Run:
    """The state of one question: the prompt load, the usage and the warnings so far."""

    load: PromptLoad
    usage: AnswerUsage = EMPTY_USAGE
    warnings: list[AnswerWarning] = field(default_factory=list)

    def add_usage(self, completion: Completion) -> None:
        self.usage = structs.replace(
            self.usage,
            prompt_tokens=self.usage.prompt_tokens + completion.prompt_tokens,
            completion_tokens=self.usage.completion_tokens + completion.completion_tokens,
            first_token_ms=completion.first_token_ms,
            finish_reason=completion.finish,
        )

    def downshift(self, question: str, reason: str) -> None:
        step = self.usage.downshifts + 1
        self.load = reduce_load(self.load, question, step)
        self.usage = structs.replace(self.usage, downshifts=step)
        self.warn("downshifted", f"asked again with less: {reason}")

    def warn(self, code: str, message: str) -> None:
        self.warnings.append(AnswerWarning(code=code, message=message, marker=None, span=None))

    def build_draft(self, *, text: str = "", refusal: Refusal | None = None) -> DraftAnswer:
        return DraftAnswer(
            text=text,
            refusal=refusal,
            warnings=tuple(self.warnings),
            usage=self.usage,
            used=len(self.load.passages),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWriter:
    """Writes answers with a language model.

    Args:
        model: The model.
        answer_tokens: The most tokens of an answer.
        policy: Whether unsupported claims are marked, or the answer is withheld.
    """

    model: LanguageModel
    answer_tokens: int
    policy: UnsupportedPolicy = "mark"
    mode: ClassVar[AnswerMode] = AnswerMode.GENERATIVE

    def write(
        self, question: str, page: Page, history: Sequence[Turn], listener: AnswerListener
    ) -> DraftAnswer:
        """Return the checked answer of the model, or its text so far after an interruption."""
        budget = prompt.compute_evidence_budget(
            self.model.context_tokens,
            self.answer_tokens,
            prompt.estimate_overhead(question, history),
        )
        run = _Run(PromptLoad(tuple(pack_evidence(page.hits, budget)), self.answer_tokens))
        buffer = StreamBuffer(listener.on_token)
        try:
            completion = self._complete(question, run, history, buffer, listener)
        except KeyboardInterrupt:
            if not buffer.is_open:
                raise
            return run.build_draft(
                text=remove_frame(buffer.text), refusal=Refusal.LLM_STREAM_ABORTED
            )
        buffer.close()
        if prompt.is_declined(completion.text) or not completion.text.strip():
            return run.build_draft(refusal=Refusal.LLM_SELF_JUDGE)
        return self._check(completion.text, run)

    def _complete(
        self,
        question: str,
        run: _Run,
        history: Sequence[Turn],
        buffer: StreamBuffer,
        listener: AnswerListener,
    ) -> Completion:
        """Return the first complete answer, or the last cut one; each attempt has a smaller load.

        Raises:
            ContextOverflow: Even the smallest load does not fit.
        """
        while True:
            is_last = run.usage.downshifts == MAX_DOWNSHIFTS
            try:
                completion = self._ask_model(question, run.load, history, buffer)
            except ContextOverflow:
                if is_last:
                    raise
                reason = _TOO_LONG
            else:
                run.add_usage(completion)
                if completion.finish == "stop":
                    return completion
                if is_last:
                    run.usage = structs.replace(run.usage, truncated=True)
                    run.warn(
                        "downshift_exhausted",
                        "the answer is incomplete because it reached its token limit",
                    )
                    return completion
                reason = _CUT_OFF
            run.downshift(question, reason)
            buffer.reset()
            listener.on_restart(reason)

    def _ask_model(
        self, question: str, load: PromptLoad, history: Sequence[Turn], buffer: StreamBuffer
    ) -> Completion:
        messages = prompt.build_messages(
            question,
            load.passages,
            language=detect_question_language(question),
            answer_tokens=load.answer_tokens,
            history=history,
        )
        return self.model.chat(messages, max_tokens=load.answer_tokens, on_text=buffer.append)

    def _check(self, text: str, run: _Run) -> DraftAnswer:
        """Return the checked answer, or a refusal when too few claims are supported."""
        # The import is slow, so it runs after the model has answered.
        from kebab.rag.checking.citations import check_answer

        checked = check_answer(text, run.load.passages, self.policy)
        run.warnings.extend(checked.warnings)
        withheld = self.policy == "withhold" and checked.unsupported > 0
        if withheld or not checked.supported:
            run.warnings = [structs.replace(warning, span=None) for warning in run.warnings]
            return run.build_draft(refusal=Refusal.UNSUPPORTED_CLAIMS)
        return replace(run.build_draft(text=checked.text), citations=checked.citations)
