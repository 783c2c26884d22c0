"""Contains the rules about brackets and code fences that are not closed."""

import re
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, Span, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding
from kebab.wire.review import SeverityName

_ROUND, _SQUARE = ("(\uff08", ")\uff09"), ("[\uff3b", "]\uff3d")
_QUOTES = ("\u300c\u300d", "\u300e\u300f", "\u3010\u3011", "\u300a\u300b")
_KINDS = (_ROUND, _SQUARE, *_QUOTES)
_OPENERS = {sign: pair[0][0] for pair in _KINDS for sign in pair[0]}
_CLOSERS = {sign: pair[0][0] for pair in _KINDS for sign in pair[1]}
"""The kind of each bracket, which is the bracket that opens it; width does not matter."""

_BRACKET = re.compile(r"[()\[\]\uff08\uff09\uff3b\uff3d\u300a-\u300f\u3010\u3011]")
_WIDE_BRACKET = re.compile(r"[\uff08\uff09\uff3b\uff3d\u300a-\u300f\u3010\u3011]")
_SOLVED = re.compile(
    r"[:;=8xX][-^'oc]?[()\[\]](?!\w)"  # emoticons
    r"|(?<![\w(])(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5}|[\u2460-\u2473\uac00-\ud7a3])[)\uff09]"  # a)
    r"|[\[(\]][^()\[\]\n]{1,40}(?:[,;]|\.\.|\u2026)[^()\[\]\n]{1,60}[\])]"  # intervals
    r"|\][^()\[\]\n]{1,40}[,;][^()\[\]\n]{1,40}\["
    r"|[\"'\u2018\u201c\u300c/|][()\[\]\uff08\uff09]{1,2}[\"'\u2019\u201d\u300d/|]"  # quoted
    r"|\\[()\[\]]"
)
_CODE = re.compile(
    r"`|\{\{|\}\}|\{%|<%|\$\(|\\\\"
    r"|[{};]\s*$|=>|->\s*\w+\(|^\s*//|[\u2500-\u257f]",
    re.MULTILINE,
)
"""Signs of code or templates in what should be prose."""

_PLAIN_CODE = re.compile(r"[{}<>=$\\|;_]|\w\(|^[ \t]{3,}\S", re.MULTILINE)
"""Signs of code in text without markup."""

_REACH = 12
"""How many paragraphs later a bracket may be closed, as around a list or an example."""


class _Open(NamedTuple):
    """A bracket without a partner."""

    kind: str
    offset: int
    block: int
    opens: bool


class UnbalancedBracket:
    """A bracket in a paragraph has no partner.

    The reader cannot tell where the remark ends, and in Markdown a link may be broken. Code,
    emoticons, list signs such as `a)`, intervals such as `[0, 1)`, and brackets that close some
    paragraphs later are not reported. Add the missing bracket, or delete this one.
    """

    id: ClassVar[str] = "unbalanced-bracket"
    kind: ClassVar[str] = "punctuation"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Restart the server (and wait for it."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the brackets without a partner."""
        del surroundings
        code = _CODE if document.source.media == MARKDOWN else _PLAIN_CODE
        prose = document.prose
        single: list[_Open] = []
        for number, (start, end) in enumerate(document.paragraphs):
            block = prose[start:end]
            if _looks_balanced(block):
                continue
            lone = _find_lone(block)
            if not lone or code.search(document.text, start, end):
                continue
            # an address may reach over the bracket behind it
            lone &= _find_lone(document.text[start:end])
            single += [_Open(kind, start + offset, number, opens) for kind, offset, opens in lone]
        for one in _drop_distant_pairs(single):
            word = "closed" if one.opens else "opened"
            bracket = prose[one.offset]
            reason = f"the bracket is never {word}: {bracket}"
            yield build_finding(self, one.offset, one.offset + 1, reason)


def _looks_balanced(block: str) -> bool:
    """Return whether a paragraph has as many brackets that open as that close; this is fast."""
    return (
        block.count("(") == block.count(")")
        and block.count("[") == block.count("]")
        and (block.isascii() or not _WIDE_BRACKET.search(block))
    )


def _find_lone(block: str) -> set[tuple[str, int, bool]]:
    """Return the brackets of a paragraph without a partner in every reading of it."""
    lone = _match_brackets(block)
    if not lone:
        return lone
    return lone & _match_brackets(_SOLVED.sub(lambda found: " " * len(found[0]), block))


def _match_brackets(block: str) -> set[tuple[str, int, bool]]:
    """Return the kind, the offset and the direction of each bracket without a partner."""
    stacks: dict[str, list[int]] = {}
    lone = set()
    for found in _BRACKET.finditer(block):
        sign = found[0]
        if sign in _OPENERS:
            stacks.setdefault(_OPENERS[sign], []).append(found.start())
        elif stack := stacks.get(_CLOSERS[sign]):
            stack.pop()
        else:
            lone.add((_CLOSERS[sign], found.start(), False))
    return lone | {(kind, offset, True) for kind, stack in stacks.items() for offset in stack}


def _drop_distant_pairs(single: list[_Open]) -> list[_Open]:
    """Return the brackets without those that a later paragraph closes."""
    kept: list[_Open] = []
    for one in sorted(single, key=lambda one: one.offset):
        partner = next(
            (
                index
                for index in range(len(kept) - 1, -1, -1)
                if not one.opens
                and kept[index].opens
                and kept[index].kind == one.kind
                and one.block - kept[index].block <= _REACH
            ),
            None,
        )
        if partner is None:
            kept.append(one)
        else:
            del kept[partner]
    return kept


_FENCES = (re.compile(r"(```+)([^\n]*)"), re.compile(r"(~~~+)([^\n]*)"))
_BEFORE_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?")


class UnclosedFence:
    """A code fence is never closed.

    Everything after it, to the end of the file, is shown as code. Add a line with the same fence
    behind the code.
    """

    id: ClassVar[str] = "unclosed-fence"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "Run this:\n\n```sh\nmake\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the last fence when nothing closes it."""
        del surroundings
        text = document.text
        if document.source.media != MARKDOWN or ("```" not in text and "~~~" not in text):
            return
        opened = _find_open_fence(text)
        if opened is not None:
            yield build_finding(self, *opened, "the code fence is never closed")


def _find_open_fence(text: str) -> Span | None:
    """Return the fence that is open at the end of a text."""
    opened: re.Match[str] | None = None
    fences = [found for pattern in _FENCES for found in pattern.finditer(text)]
    for found in sorted(fences, key=re.Match.start):
        line = text.rfind("\n", 0, found.start()) + 1
        if not _BEFORE_FENCE.fullmatch(text, line, found.start()):
            continue
        fence, info = found.groups()
        if opened is None:
            if "`" not in info or fence[0] == "~":
                opened = found
        elif fence.startswith(opened[1]) and not info.strip():
            opened = None
    return opened.span(1) if opened else None
