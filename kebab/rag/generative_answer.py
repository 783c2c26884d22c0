"""Generates an answer with a language model and checks its claims.

An answer that repeats itself, as small models do until a limit stops them, is stopped. One that a
limit cut off ends at its last whole sentence or line of code.
"""

import re
import sys
from collections.abc import Callable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field, structs
from msgspec.structs import replace

from kebab.core.answers import Completion, LanguageModel, Turn, find_repetition
from kebab.core.queries import Page
from kebab.errors.catalog import ContextOverflow
from kebab.rag import prompt
from kebab.rag.engine import EMPTY_USAGE, LIST_NUMBER, DraftAnswer
from kebab.rag.markers import find_fenced_blocks
from kebab.rag.prompt import MAX_DOWNSHIFTS, NOT_IN_NOTES, LoadPacker, PromptLoad, remove_frame
from kebab.rag.values import ValueKind, find_values
from kebab.text.language import detect_question_language, detect_written_form, may_share_words
from kebab.text.sentences import LayoutKind, find_sentences
from kebab.wire.ask import AnswerEvent, AnswerUsage, AnswerWarning, RefusalName

if TYPE_CHECKING:
    from kebab.rag.claims import CheckedAnswer

UnsupportedPolicy: TypeAlias = Literal["mark", "withhold"]

_SEPARATORS = re.compile(r"[\W_]+")
_MARKER_WORD = _SEPARATORS.sub("", NOT_IN_NOTES)
_TOO_LONG = "the passages did not fit the model's window"
_THOUGHT = "the text so far is what the model thinks"
_CALL = "the model calls a tool instead of answering; another model may answer"
_WINDOW_SLACK = 8
"""A window counts as full when so few tokens are left."""


class RepeatedTextError(Exception):
    """The answer repeats itself."""


class StreamBuffer:
    """Passes on the pieces of an answer until it repeats itself.

    The first pieces are held until they cannot be `NOT_IN_NOTES` any more. `withdraw` is called
    when pieces that were passed on are no answer.
    """

    def __init__(self, pass_on: Callable[[str], None], withdraw: Callable[[], None]) -> None:
        self._pass_on = pass_on
        self._withdraw = withdraw
        self._prefix = ""
        self.is_open = False
        """Whether pieces are passed on."""
        self.text = ""
        """All pieces so far."""

    def append(self, piece: str | None) -> None:
        """Add a piece, and pass on what is no longer held; None discards all pieces.

        Raises:
            RepeatedTextError: The text so far ends in several equal parts.
        """
        if piece is None:
            if self.is_open:
                self._withdraw()
            self.reset()
            return
        self.text += piece
        if self.is_open:
            self._pass_on(piece)
        else:
            # Case, blanks and signs are ignored, and the prefix is never longer than the word.
            letters = _SEPARATORS.sub("", piece).upper()
            self._prefix = (self._prefix + letters)[: len(_MARKER_WORD)]
            if not _MARKER_WORD.startswith(self._prefix):
                self.is_open = True
                self._pass_on(self.text)
        if find_repetition(self.text) is not None:
            raise RepeatedTextError

    def reset(self) -> None:
        """Discard all pieces."""
        self._prefix = self.text = ""
        self.is_open = False


class _Run(Struct):
    """The state of one question: the prompt load, the usage and the warnings so far."""

    load: PromptLoad
    usage: AnswerUsage = EMPTY_USAGE
    warnings: list[AnswerWarning] = field(default_factory=list)

    def warn(self, code: str, message: str) -> None:
        self.warnings.append(AnswerWarning(code=code, message=message, marker=None, span=None))

    def mark_truncated(self, cause: str) -> None:
        """Record that the answer is incomplete, and why."""
        self.usage = structs.replace(self.usage, truncated=True)
        self.warn("answer_truncated", f"the answer is incomplete because {cause}")

    def build_draft(self, *, text: str = "", refusal: RefusalName | None = None) -> DraftAnswer:
        return DraftAnswer(
            text=text,
            refusal=refusal,
            warnings=tuple(self.warnings),
            usage=self.usage,
            used=len(self.load.passages),
        )


class ModelWriter(Struct, frozen=True, kw_only=True):
    """Writes answers with a language model.

    By its policy unsupported claims are marked, or the answer is withheld. `windows` are those that
    servers told in an overflow, by the name of the model. `report` gets the text while it comes.
    """

    model: LanguageModel
    answer_tokens: int
    report: Callable[[AnswerEvent], None]
    policy: UnsupportedPolicy = "mark"
    windows: MutableMapping[str, int] = field(default_factory=dict)

    def write(self, question: str, page: Page, history: Sequence[Turn]) -> DraftAnswer:
        """Return the checked answer of the model, or its text so far after an interruption."""
        packer = LoadPacker(
            hits=page.hits,
            overhead=prompt.estimate_overhead(question, history),
            answer_tokens=self.answer_tokens,
        )
        run = _Run(packer.pack(self._window))
        buffer = StreamBuffer(
            lambda text: self.report(AnswerEvent(type="token", delta=text)),
            lambda: self.report(AnswerEvent(type="restart", reason=_THOUGHT)),
        )
        try:
            while (completion := self._try(question, run, history, buffer, packer)) is None:
                buffer.reset()
                self.report(AnswerEvent(type="restart", reason=_TOO_LONG))
        except KeyboardInterrupt:
            if not buffer.is_open:
                raise
            return run.build_draft(text=remove_frame(buffer.text), refusal="llm_stream_aborted")
        run.usage = structs.replace(
            run.usage,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            first_token_ms=completion.first_token_ms,
            finish_reason=completion.finish,
        )
        text, limit = completion.text, run.load.answer_tokens
        is_marker_cut = completion.is_cut and not buffer.is_open and not prompt.is_declined(text)
        if is_marker_cut or not any(map(str.isalnum, prompt.remove_markers(text))):
            run.warn("empty_answer", self._explain_empty(completion, limit))
            return run.build_draft(refusal="empty_answer")
        if completion.is_cut and not run.usage.truncated:
            run.mark_truncated(self._explain_limit(completion, limit))
        return self._check(question, run, completion)

    def _check(self, question: str, run: _Run, completion: Completion) -> DraftAnswer:
        """Return an answer with checked claims, or why it is none."""
        text = completion.text
        if completion.other_models:
            others = ", ".join(completion.other_models[:3])
            cause = f"the server does not list {self.model.name}, and may use another: {others}"
            run.warn("other_model", cause)
        if completion.is_prompt_cut:
            count = completion.prompt_tokens
            run.warn("prompt_cut", f"the server read only a part of the notes; tokens: {count}")
        # A model that did not see all passages says nothing of the notes.
        declined: RefusalName = "empty_answer" if completion.is_prompt_cut else "llm_self_judge"
        if prompt.is_declined(text):
            return run.build_draft(refusal=declined)
        # The import is slow, so it runs after the model has answered.
        from kebab.rag.claims import check_answer

        text = cut_unfinished(text) if run.usage.truncated else text.rstrip()
        checked = check_answer(text, run.load.passages, self.policy, question)
        if not checked.supported and _calls_tool(completion):
            run.warn("empty_answer", _CALL)
            return run.build_draft(refusal="empty_answer")
        if not checked.supported and NOT_IN_NOTES in text:
            return run.build_draft(refusal=declined)
        run.warnings.extend(checked.warnings)
        withheld = self.policy == "withhold" and checked.unsupported > 0
        if withheld or not checked.supported:
            run.warnings = [structs.replace(warning, span=None) for warning in run.warnings]
            return run.build_draft(refusal="unsupported_claims")
        foreign = _explain_language(question, checked)
        if foreign is not None:
            run.warn("other_language", f"{foreign}, so its words were not compared with them")
        return replace(
            run.build_draft(text=checked.text),
            citations=checked.citations,
            uncertain=checked.unsupported > 0 or completion.is_prompt_cut or foreign is not None,
        )

    def _explain_limit(self, completion: Completion, limit: int) -> str:
        """Return which limit cut an answer off, with the setting that raises it."""
        if completion.finish == "content_filter":
            return "the server filtered it"
        written = completion.completion_tokens
        total = (completion.prompt_tokens or 0) + (written or 0)
        if completion.is_shifted or (written != limit and total >= self._window - _WINDOW_SLACK):
            return f"the model's window is full, and a lower `ask.limit` leaves more room: {total}"
        if written is not None and written < limit:
            return f"it reached a limit of the server: {written}"
        if limit < self.answer_tokens:
            return f"it reached half of the model's window: {limit}"
        return f"it reached the limit `models.llm.answer_tokens`: {limit}"

    def _explain_empty(self, completion: Completion, limit: int) -> str:
        """Return what the model wrote in place of an answer, and what helps."""
        if _calls_tool(completion):
            return _CALL
        if completion.finish == "content_filter":
            return "the server filtered the answer"
        if completion.aside == "refusal":
            return "the model refuses to answer"
        thinks = completion.aside is not None
        if completion.is_cut:
            cause = self._explain_limit(completion, limit)
            written = "the model only thinks" if thinks else "the model wrote no words"
            return f"{written}, and was cut off because {cause}"
        if thinks:
            return "the model only thinks; `models.llm.think` or another model may help"
        return "the model wrote no words; another model, or another template on the server, may"

    @property
    def _window(self) -> int:
        """The window of the model, as far as it is known."""
        return min(self.model.context_tokens, self.windows.get(self.model.name, sys.maxsize))

    def _try(
        self,
        question: str,
        run: _Run,
        history: Sequence[Turn],
        buffer: StreamBuffer,
        packer: LoadPacker,
    ) -> Completion | None:
        """Return the answer of the model; None after an overflow, with a smaller load in `run`.

        Raises:
            ContextOverflow: Even the smallest load does not fit.
        """
        try:
            limit = run.load.answer_tokens
            messages = prompt.build_messages(
                question,
                run.load.passages,
                language=detect_question_language(question),
                answer_tokens=limit,
                history=history,
            )
            try:
                return self.model.chat(messages, max_tokens=limit, on_text=buffer.append)
            except RepeatedTextError:
                run.mark_truncated("the model repeated itself")
                # The server said nothing of its end yet.
                return Completion(text=buffer.text[: find_repetition(buffer.text)], finish=None)
        except ContextOverflow as overflow:
            if run.usage.downshifts == MAX_DOWNSHIFTS:
                raise
            window, told = self._window, overflow.context_tokens
            if told < window:
                self.windows[self.model.name] = told
            smaller = packer.repack(run.load, overflow, is_told=told < window)
            if smaller == run.load:
                raise
            reason = f"{_TOO_LONG}: {told}"
            if told < window:
                reason = f"the server's window is smaller than `models.llm.context_tokens`: {told}"
            run.load = smaller
            run.usage = structs.replace(run.usage, downshifts=run.usage.downshifts + 1)
            run.warn("downshifted", f"asked again with less because {reason}")
            return None


def _calls_tool(completion: Completion) -> bool:
    return completion.aside == "tool_call" or completion.finish == "tool_calls"


def _explain_language(question: str, checked: "CheckedAnswer") -> str | None:
    """Return why too little of an answer was compared with its notes; None when it was."""
    text = LIST_NUMBER.sub("", prompt.remove_markers(checked.text))
    asked, answered = map(detect_written_form, (question, text))
    cited = [detect_written_form(one.quote.text) for one in checked.citations]
    if any(may_share_words(answered, one) for one in cited):
        return None
    if any(may_share_words(asked, one) for one in cited):
        return "the answer is not in the language of the question and of the notes"
    has_values = any(one.kind is not ValueKind.FIRST for one in find_values(text)[0])
    return None if has_values else "the answer is not in the language of the notes"


_MARKER = r"\[[#^]?\d{1,3}\]|【\d{1,3}】"
_FINISHED = re.compile(
    rf"(?:[.!?:…。！？：\u0964\u061f]|{_MARKER})"
    rf"(?:[*_\"'`)\]”’»」』）]|\s?(?:{_MARKER}))*\Z"
)
_OPENING = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_WHOLE_LINES = {LayoutKind.HEADING, LayoutKind.ROW}
"""The kinds of which only the end of the line is an end."""


def cut_unfinished(text: str) -> str:
    """Return a partial answer without its unfinished last sentence, or last line of code.

    An open code block is closed. A sentence that is the whole answer stays without its last word,
    and ends with an ellipsis.
    """
    # In an open block any further line is code.
    start, end = next(reversed(find_fenced_blocks(f"{text}\n.")), (0, 0))
    if end > len(text):
        # The block is closed after its last whole line, or left out.
        block, newline, _ = text[start:].rpartition("\n")
        opening = _OPENING.match(block)
        if not newline or opening is None or "\n" not in block:
            return text[:start].rstrip()
        return f"{text[:start]}{block}\n{opening[0]}"
    sentences, whole = find_sentences(text), text.rstrip()
    if not sentences:
        return whole
    last = sentences[-1]
    is_whole_line = "\n" in text[last.end :]
    if is_whole_line or (last.kind not in _WHOLE_LINES and _FINISHED.search(whole)):
        return whole
    if len(sentences) > 1:
        # The sign of a list item goes with its sentence.
        line = text.rfind("\n", 0, last.start) + 1
        has_words = any(map(str.isalpha, text[line : last.start]))
        return text[: last.start if has_words else line].rstrip()
    kept, blank, _ = whole.rpartition(" ")
    return (kept.rstrip() if blank else whole) + " …"
