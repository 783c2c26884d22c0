"""Removes from the text of a language model what is no answer.

That is reasoning between tags or in a channel, calls of tools, and marks of the chat template. A
tag is text where the answer shows it: in code, in a string of JSON, in quotation marks, in the row
of a table, or as a word of a sentence.
"""

import re
from collections.abc import Callable
from typing import Literal

from kebab.text.normalize import compile_lazily

_NAMES = (
    r"(?:seed:)?think|thinking|(?:inner_)?thoughts?|thought_process|reasoning|reflection|analysis"
    r"|(?:inner_)?monologue|scratchpad|tool_calls?|function(?:_?calls?)?"
)
_TOKEN = compile_lazily(
    r"[<\[◁](?:"
    # Harmony and its relatives name a channel before each message.
    r"(?P<final>(?<=<)\|channel\|?>\s?final[^<\n]{0,20}(?:<\|constrain\|>\w{1,9}\s?)?(?:<\|message\|>)?"
    r"|(?<=\[)(?-i:BEGIN FINAL RESPONSE)\]|(?<=<)\|START_RESPONSE\|>)"
    rf"|(?P<open>(?<=<)\|channel\|?>|(?<=<)(?:{_NAMES})(?:(?:=| \w+=)[^<>\n]{{0,30}})?>"
    r"|(?<=\[)(?-i:THINK|TOOL_CALLS)\]"
    r"|(?<=◁)think▷|(?<=<)\|(?:begin_of_thought|START_THINKING|START_ACTION|python_tag)\|>"
    r"|(?<=<)｜tool▁calls▁begin｜>)"
    rf"|(?P<close>(?<=<)/(?:{_NAMES})>|(?<=\[)(?-i:/THINK)\]|(?<=◁)/think▷"
    r"|(?<=<)channel\|>|(?<=<)\|(?:end_of_thought|END_THINKING|END_ACTION)\|>"
    r"|(?<=<)｜tool▁calls▁end｜>)"
    r"|(?P<end>(?<=<)\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|call|eos"
    r"|END_RESPONSE|END_OF_TURN_TOKEN)\|>|(?<=<)[|｜]end[▁_]of[▁_]sentence[|｜]>"
    r"|(?<=<)end_of_turn>|(?<=\[)(?-i:END FINAL RESPONSE)\]"
    r"|(?<=<)\|(?:im_start|start|start_header_id)\|>\s?(?:user|system|tool)"
    r"|(?<=<)start_of_turn>user)"
    r"|(?P<mark>(?<=<)\|(?:im_start|start|start_header_id)\|>\s?(?:assistant)?(?:<\|end_header_id\|>)?"
    r"|(?<=<)start_of_turn>model|(?<=<)\|(?:message|begin_of_box|end_of_box)\|>)"
    r"|(?P<frame>(?<=<)/?(?:(?:final_)?answer|output|response)>|(?<=<)/s>)"
    r")",
    re.IGNORECASE,
)
_WORD_TAG = compile_lazily(r"</?(?!\w*(?:think|answer|_))\w+>", re.IGNORECASE)
"""A tag that is also a word, as in `List<Function>` or `<output> is a file`."""
_CALL = compile_lazily(r"tool|action|python|function", re.IGNORECASE)
_BARE_CALL = compile_lazily(
    r"\s*(?:```(?:tool_code|json)?\s*)?(?:(?<=tool_code\n)|\[?\s*\{\s*\"(?:name|function)\"\s*:"
    r"[^{}]{1,200}\"(?:arguments|parameters)\"\s*:)"
)
"""A call of a tool without tags, in place of an answer."""
_REACH = 50
"""A token and what tells its meaning have fewer characters."""
_BEGINNING = compile_lazily(rf"[<\[◁](?=[a-z/|｜]|\Z)[\s\S]{{0,{_REACH}}}\Z", re.IGNORECASE)
_CHANNEL_NAMES = ("analysis", "commentary")
_BARE_CHANNEL = compile_lazily(r"\s*(?:analysis|commentary)(?=[A-Z])")
_BARE_FINAL = "assistantfinal"
"""What remains of the channels of harmony when a server drops their marks."""

_QUOTES = tuple("\"'`“”‘’«»„「」")
_WORD_BEFORE = compile_lazily(r"[^\W_],? \Z")
_WORD_BEHIND = compile_lazily(r" [^\W\d_A-Z]|[.,;:?!)\"'”’»`]")
_FENCE = compile_lazily(r"^[ \t>]*(?:`{3,}|~{3,})", re.MULTILINE)
_ESCAPE_OR_MARK = compile_lazily(r'\\.|"', re.DOTALL)


class ReasoningFilter:
    """Passes on the pieces of an answer without what is no answer.

    An end tag without its beginning, as of a model whose template opens the block, means that all
    text before it is reasoning: None is passed on, which withdraws that text.
    """

    def __init__(self, pass_on: Callable[[str | None], None]) -> None:
        self._pass_on = pass_on
        self._held = ""
        self._mode: Literal["start", "answer", "block", "bare", "ended"] = "start"
        self._strips = False
        self._last = ""
        """The last character that was dropped."""
        self.text = ""
        """The answer so far."""
        self.aside: Literal["reasoning", "tool_call"] | None = None
        """What was removed."""

    def add(self, piece: str) -> None:
        """Take the next piece of the text."""
        self._held += piece
        if self._mode == "start" and not self._choose_mode():
            return
        if self._mode != "bare":
            beginning = _BEGINNING.search(self._held, max(0, len(self._held) - _REACH - 1))
            self._read(len(self._held) - beginning.start() if beginning else 0)

    def finish(self) -> None:
        """Take the end of the text; what an open block holds is no answer."""
        if self._mode == "bare":
            self._held = self._held.partition(_BARE_FINAL)[2]
        if self._mode in ("start", "bare"):
            self._mode = "answer"
        self._read(0)
        if _BARE_CALL.match(self.text):
            self.aside = "tool_call"

    def _choose_mode(self) -> bool:
        """Find out whether the text begins with a channel; False while that is not known."""
        start = self._held.strip()
        if any(name.startswith(start) for name in _CHANNEL_NAMES):
            return False
        self._mode = "bare" if _BARE_CHANNEL.match(self._held) else "answer"
        self.aside = "reasoning" if self._mode == "bare" else None
        return True

    def _read(self, keep: int) -> None:
        """Pass on the answer in the held text, except its last characters."""
        start = 0
        while found := _TOKEN.search(self._held, start):
            if found.start() >= len(self._held) - keep:
                break
            start = found.end()
            if kind := self._find_kind(found):
                self._move(found.start())
                self._held = self._held[start - found.start() :]
                self._apply(kind, found[0])
                start = 0
        self._move(len(self._held) - keep)

    def _find_kind(self, found: re.Match[str]) -> str | None:
        """Return the kind of a token; None when it is text."""
        kind = found.lastgroup
        before, behind = self._held[: found.start()], self._held[found.end() :]
        if self._mode == "block":
            is_quoted = (self._last + before).endswith(_QUOTES) and behind.startswith(_QUOTES)
            return None if is_quoted else kind
        if self._mode == "answer":
            before = self.text + before
            is_word = _WORD_TAG.match(found[0]) is not None
            edge = before.rpartition("\n")[2] if is_word else ""
            if kind == "frame":
                edge = behind if "/" in found[0] else before
            is_part = is_word and behind[:1] == " " and _WORD_BEHIND.match(behind)
            return None if edge.strip() or is_part or is_shown(before, behind) else kind
        return kind

    def _apply(self, kind: str, token: str) -> None:
        """Change the mode at a token."""
        self._strips = True
        if kind == "final" or (kind == "close" and self._mode == "answer"):
            self.aside = self.aside or "reasoning"
            if self.text:
                self.text = ""
                self._pass_on(None)
            self._mode = "answer"
        elif kind == "close" and self._mode == "block":
            self._mode = "answer"
        elif kind == "open":
            self._mode = "block"
            self.aside = "tool_call" if _CALL.search(token) else "reasoning"
        elif kind == "end" and (self._mode == "block" or self.text.strip()):
            self._mode = "ended"

    def _move(self, count: int) -> None:
        """Pass on so many characters of the held text, or drop them outside of the answer."""
        piece, self._held = self._held[:count], self._held[count:]
        self._last = piece[-1:] or self._last
        if self._strips and not self.text.strip():
            piece = piece.lstrip()
        if piece and self._mode == "answer":
            self.text += piece
            self._pass_on(piece)


def is_shown(before: str, behind: str) -> bool:
    """Return whether a tag between two parts of an answer is a part of the text."""
    if before.endswith(_QUOTES) or (_WORD_BEFORE.search(before) and _WORD_BEHIND.match(behind)):
        return True
    if before.lstrip().startswith(("{", "[{")):
        return _ESCAPE_OR_MARK.findall(before).count('"') % 2 == 1
    line = before.rpartition("\n")[2]
    is_code = len(_FENCE.findall(before)) % 2 == 1 or line.count("`") % 2 == 1
    return is_code or line.lstrip().startswith("|")


def remove_reasoning(text: str) -> str:
    """Return a text of a model without what is no answer."""
    found = ReasoningFilter(lambda _piece: None)
    found.add(text)
    found.finish()
    return found.text
