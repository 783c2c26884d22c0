"""Compares code of an answer with a passage, token by token.

Case, quotes and the order of options do not matter. A key whose values the passage shows must have
one of them, and the first two words of a command must stand close together in the passage.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from kebab.rag.checking.code_lines import (
    Code,
    CodeLine,
    find_pairs,
    find_templates,
    is_placeholder,
)
from kebab.text.tokenizer import tokenize

_FENCE = re.compile(r"^([ \t>]*(?:`{3,}|~{3,}))[^\n]*$", re.MULTILINE)
_SHORT_FLAGS = re.compile(r"(?<![\w-])-([A-Za-z]{1,5})(?![\w-])")
_CLUSTER = re.compile(r"-[A-Za-z]{1,4}")
_PATH = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:\\|[a-z][a-z0-9+.-]*://")
_PIECES = re.compile(r"[:=,/@+%#]+")
_IDENTIFIERS = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]*")
_TEMPLATE_VALUE = re.compile(r"[<{$]|your|my[-_]|\.\.\.")
_KEPT = 2
"""So many of the other parts of a line must stand in a template."""


class CodeIndex:
    """The code tokens of a passage and its headings.

    Args:
        text: The text of all of them.
    """

    def __init__(self, text: str) -> None:
        self._text = _FENCE.sub(r"\1", text).lower().replace("\u2019", "'")
        self._lines = self._text.split("\n")
        self._flags = frozenset("".join(_SHORT_FLAGS.findall(text)))
        self._pairs: dict[str, set[str]] = {}
        for line in self._lines:
            for key, value in find_pairs(line):
                self._pairs.setdefault(key, set()).add(value)
        self._templates = [one for line in text.split("\n") for one in find_templates(line)]
        self._known: dict[str, bool] = {}
        self._tokens: frozenset[str] | None = None

    def find_missing(self, code: Code, question: "CodeIndex | None" = None) -> list[str]:
        """Return the parts of code that the passage lacks, in order.

        Args:
            code: The code.
            question: The words of the question, whose values the code may contain.
        """
        dotted = code.kind in {"program", "data"}
        if question is not None:
            code = self._drop_given(code, question, dotted=dotted)
        found = (one for line in code.lines for one in self._check_line(line, dotted=dotted))
        return list(dict.fromkeys(found))

    def count_found(self, code: Code) -> list[int]:
        """Return for each line of the passage how many parts of the code are in it."""
        parts = {part.lower() for line in code.lines for part in line.parts}
        return [sum(_occurs(part, line) for part in parts) for line in self._lines]

    def _drop_given(self, code: Code, question: "CodeIndex", *, dotted: bool) -> Code:
        """Return code without the values of the question, when the passage has a part of it."""
        lines: list[CodeLine] = []
        for line in code.lines:
            given = {
                part
                for part in line.values
                if not self.contains(part, dotted=dotted)
                and self._contains_pieces(part, dotted=dotted, question=question)
            }
            names = {part.lower() for part in given}
            parts = tuple(part for part in line.parts if part not in given)
            pairs = tuple(
                (key, value)
                for key, value in line.pairs
                if not question.contains(value, dotted=dotted)
            )
            heads = tuple(one for one in line.heads if one[1] not in names)
            lines.append(replace(line, parts=parts, pairs=pairs, heads=heads))
        kept = (part for line in lines for part in line.parts)
        is_shared = any(self.contains(part, dotted=dotted) for part in kept)
        return replace(code, lines=tuple(lines)) if is_shared else code

    def _check_line(self, line: CodeLine, *, dotted: bool) -> Iterator[str]:
        missing = [part for part in line.parts if not self.contains(part, dotted=dotted)]
        yield from missing if missing and not self._fills_template(line, missing) else ()
        for key, value in line.pairs:
            if not self._allows(key, value) and value not in {one.lower() for one in missing}:
                yield f"{key}: {value}"
        if not missing:
            for one, two in line.heads:
                if not self._is_near(one, two):
                    yield f"{one} {two}"

    def contains(self, part: str, *, dotted: bool) -> bool:
        """Return whether a part occurs; with `dotted`, its names may be apart."""
        key = f"{part}{dotted}"
        if key not in self._known:
            self._known[key] = self._search(part, dotted=dotted)
        return self._known[key]

    def _search(self, part: str, *, dotted: bool) -> bool:
        """Return whether a part, its words or its pieces occur."""
        lower = part.lower()
        if _occurs(lower, self._text):
            return True
        if part.startswith("-"):
            return _CLUSTER.fullmatch(part) is not None and self._flags.issuperset(part[1:])
        if _PATH.match(part):
            return self._contains_path(lower)
        if _WORD.fullmatch(part):
            return tokenize(part)[0] in self._get_tokens()
        if dotted and _IDENTIFIERS.fullmatch(part):
            return all(_occurs(one, self._text, inner=True) for one in lower.split("."))
        return self._contains_pieces(part, dotted=dotted)

    def _contains_pieces(
        self, part: str, *, dotted: bool, question: "CodeIndex | None" = None
    ) -> bool:
        """Return whether each piece of a part occurs, or the question contains it or the part."""
        if question is not None and question.contains(part, dotted=dotted):
            return True
        pieces = [piece for piece in _PIECES.split(part) if piece]
        return len(pieces) > 1 and all(
            is_placeholder(one)
            or self.contains(one, dotted=dotted)
            or (question is not None and question.contains(one, dotted=dotted))
            for one in pieces
        )

    def _get_tokens(self) -> Collection[str]:
        if self._tokens is None:
            self._tokens = frozenset(tokenize(self._text))
        return self._tokens

    def _contains_path(self, path: str) -> bool:
        """Return whether a path or its folder and its last part occur."""
        path = path.removeprefix("./").rstrip("/")
        if _occurs(path, self._text):
            return True
        cuts = [index for index, sign in enumerate(path) if sign == "/" and index > 0]
        return any(
            _occurs(path[:cut], self._text, ends=True) and _occurs(path[cut + 1 :], self._text)
            for cut in cuts
            if path[cut - 1] not in ":/"
        )

    def _allows(self, key: str, value: str) -> bool:
        """Return whether a key may have a value: the passage shows no other one."""
        values = self._pairs.get(key)
        if values is None or value in values or any(map(_TEMPLATE_VALUE.match, values)):
            return True
        return any(_occurs(key, line) and _occurs(value, line) for line in self._lines)

    def _is_near(self, one: str, two: str) -> bool:
        """Return whether two words are in one line or in neighbouring ones."""
        windows = (f"{low} {high}" for low, high in pairwise([*self._lines, ""]))
        return any(_occurs(one, window) and self._has_form(two, window) for window in windows)

    def _has_form(self, word: str, window: str) -> bool:
        return _occurs(word, window) or (
            _WORD.fullmatch(word) is not None and tokenize(word)[0] in tokenize(window)
        )

    def _fills_template(self, line: CodeLine, missing: list[str]) -> bool:
        """Return whether what is missing stands where the passage has placeholders.

        A command, its first word, and a key have no placeholder.
        """
        fixed = {*line.parts[:_KEPT], *(key for key, _ in line.pairs)}
        if not all(_PLAIN.fullmatch(part) and part not in fixed for part in missing):
            return False
        words = {part.lower() for part in line.parts if part not in missing}
        return any(
            count >= len(missing) and before and before <= words
            for before, count in self._templates
        )


def _occurs(part: str, text: str, *, inner: bool = False, ends: bool = False) -> bool:
    """Return whether a part occurs as a whole.

    Args:
        part: The part, in lower case.
        text: The text, in lower case.
        inner: Whether it may be between dots.
        ends: Whether no path may go on after it.
    """
    start = text.find(part)
    while start >= 0:
        end = start + len(part)
        goes_on = text[end : end + 1] == "/" and _is_word(text[end + 1 : end + 2])
        if _is_whole(text, start, end, inner=inner) and not (ends and goes_on):
            return True
        start = text.find(part, start + 1)
    return False


def _is_whole(text: str, start: int, end: int, *, inner: bool) -> bool:
    if not text[start].isascii():
        return True
    before, after = text[max(0, start - 1) : start], text[end : end + 2]
    if _is_word(before) or _is_word(after[:1]):
        return False
    if before == "-" and (text[start] == "-" or _is_word(text[: start - 1].rstrip("-")[-1:])):
        return False
    if not inner and before == "." and _is_word(text[max(0, start - 2) : start - 1]):
        return False
    joined = "-" if inner else "-.,"
    follows = after[1:].isdigit() if after[:1] == "," else _is_word(after[1:])
    return not (after[:1] and after[0] in joined and follows)


def _is_word(sign: str) -> bool:
    return sign == "_" or (sign.isascii() and sign.isalnum())


def merge_missing(lists: Iterable[list[str]]) -> list[str]:
    """Return what is missing in all of several lists."""
    first, *others = lists
    return [one for one in first if all(one in other for other in others)]
