"""Divides a passage into units that can be quoted: sentences, and sentences with their code.

A short sentence is extended by its neighbour. Labels, badges, images, lists of links, headings and
very short sentences say nothing on their own; they are units only when the passage has nothing
else. Every unit is one contiguous part of the passage. A code block is a closed fence, a directive
such as `.. code-block:: console`, or the indented lines behind a `::`. The options of a directive
are no code.
"""

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from textwrap import dedent

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.queries import StoredChunk
from kebab.text.lazy_pattern import compile_lazily
from kebab.text.sentences import LayoutKind, find_sentences, measure_width

_FENCE = compile_lazily(
    r"^(?P<margin>[ \t]*)(?P<ticks>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*+)\n"
    r"(?P<code>(?:.*\n)*?)[ \t]*(?P=ticks)[`~]*[ \t]*$",
    re.MULTILINE,
)
_CODE_DIRECTIVE = compile_lazily(
    r"^(?P<margin>[ \t]*)\.\.[ \t]+"
    r"(?:code|code-block|sourcecode|prompt|parsed-literal|(?:\w+:)?example)::"
    r"[ \t]*(?P<info>\S*)[^\n]*\n(?:[ \t]+:[\w-]+:[^\n]*\n)*[ \t]*\n"
    r"(?P<code>(?:(?P=margin)[ \t]+\S[^\n]*(?:\n|\Z)"
    r"|[ \t]*\n(?=(?:[ \t]*\n)*(?P=margin)[ \t]+\S))+)",
    re.MULTILINE,
)
_LITERAL = compile_lazily(
    r"(?<=[^\s:.]::\n)(?P<blank>[ \t]*\n)(?P<info>)(?P<margin>)"
    r"(?P<code>(?:(?: {2,}|\t)\S[^\n]*(?:\n|\Z)|[ \t]*\n(?=(?:[ \t]*\n)*(?: {2,}|\t)\S))+)"
)
_DIRECTIVE_NAME = compile_lazily(r"\{(?P<name>[\w-]+)\}\s*(?P<rest>\S*)")
_CODE_DIRECTIVES = frozenset({"code", "code-block", "sourcecode", "code-cell", "prompt"})
_OPTIONS = compile_lazily(r"\A(?::[\w-]+:.*(?:\n|\Z))+")
_LANGUAGE = compile_lazily(r"[A-Za-z][\w+#.-]*")


class CodeBlock(Struct, frozen=True):
    """A block at [start, end) of a text with its borders, its language and its dedented code."""

    start: int
    end: int
    language: str
    code: str


def find_code_blocks(text: str) -> list[CodeBlock]:
    """Return the code blocks of a text in order; they do not overlap."""
    found = sorted(_iter_blocks(text), key=lambda one: one.start)
    ends = [0, *(block.end for block in found)]
    return [block for block, end in zip(found, ends, strict=False) if block.start >= end]


def _iter_blocks(text: str) -> Iterator[CodeBlock]:
    if "```" in text or "~~~" in text:
        for match in _FENCE.finditer(text):
            language = _read_language(match["info"])
            if language is not None:
                yield _build_block(match, match.start(), language)
    if "::" in text:
        for match in _CODE_DIRECTIVE.finditer(text):
            yield _build_block(match, match.start(), _read_language(match["info"]) or "")
        for match in _LITERAL.finditer(text):
            line = text[text.rfind("\n", 0, match.start() - 1) + 1 : match.start()]
            if not line.lstrip().startswith(".."):  # a note or another directive
                yield _build_block(match, match.start("code"), "")


def _build_block(match: re.Match[str], start: int, language: str) -> CodeBlock:
    code = dedent(match["code"].expandtabs(4)).strip("\n")
    if "{" in match["info"]:
        code = _OPTIONS.sub("", code).lstrip("\n")
    end = start + len(match.string[start : match.end()].rstrip())
    return CodeBlock(start + len(match["margin"]), end, language, code)


def _read_language(info: str) -> str | None:
    """Return the language of a fence, empty when it names none; None when it holds no code."""
    directive = _DIRECTIVE_NAME.match(info)
    if directive is not None:
        if directive["name"] not in _CODE_DIRECTIVES:
            return None
        info = directive["rest"]
    found = _LANGUAGE.match(info.strip())
    return found[0] if found else ""


SHORTEST = 25
"""The fewest columns of a quote; Chinese, Japanese and Korean characters take two."""

_OPEN_ENDS = ("?", "？", "\u061f", ":", "：")
_CODE_SPAN = compile_lazily(r"(?P<ticks>`{1,20}+)[^`\n]++(?P=ticks)")
_IMAGE = compile_lazily(r"!\[[^\[\]\n]*+\](?:\([^()\n]*+\)|\[[^\[\]\n]*+\])")
_LINK = compile_lazily(r"\[(?P<label>[^\[\]\n]*+)\](?:\([^()\n]*+\)|\[[^\[\]\n]*+\])")
_ADDRESS = compile_lazily(r"<?https?://[^\s<>]+>?")
_NO_SENTENCE = compile_lazily(
    r"(?:\([\w.:/-]+\)="  # a label of MyST
    r"|\.\.\s+\S.*"  # a label or a directive of reStructuredText
    r"|:[\w-]+:(?:\s.*)?"  # an option of a directive
    r"|`{3,}.*|~{3,}.*|:{3,}.*"  # the border of a block
    r"|(?:!!!|\?\?\?\+?|===\+?)\s\S*(?:\s+\S*)?(?:\s*\".*\")?"  # the border of a note or of a tab
    r"|\{[:#%{].*\}"  # attributes and commands of a page generator
    r"|</?[A-Za-z][^<>]*>(?:\s*</?[A-Za-z][^<>]*>)*"  # tags alone
    r"|\[[^\]\n]+\]:\s*\S+(?:\s+[\"'(].*)?)",  # the definition of a link
    re.DOTALL,
)
_ANY_DIRECTIVE = compile_lazily(r"\.\.\s+[\w:-]+::.*")
_MIN_LETTERS = 12
"""A sentence with links and fewer other letters and digits is a list of links."""


class SentenceForm(Enum):
    """How well a sentence stands alone; the value is the factor of its score."""

    GOOD = 1.0
    POOR = 0.8
    """A question or an announcement."""
    HEADING = 0.3
    EMPTY = 0.1
    """A label, a badge, an image, a list of links, or a tag."""


def classify_form(kind: LayoutKind, text: str) -> SentenceForm:
    """Return the form of a sentence of a block of this kind."""
    if kind is LayoutKind.CODE:
        return SentenceForm.EMPTY if _ANY_DIRECTIVE.fullmatch(text) else SentenceForm.GOOD
    rest, images = _IMAGE.subn("", _CODE_SPAN.sub("code", text))
    rest, links = _LINK.subn("", rest)
    rest, addresses = _ADDRESS.subn("", rest)
    least = 1 if kind is LayoutKind.ROW else _MIN_LETTERS
    is_link_list = images + links + addresses > 0 and sum(map(str.isalnum, rest)) < least
    if is_link_list or _NO_SENTENCE.fullmatch(text):
        return SentenceForm.EMPTY
    if kind is LayoutKind.HEADING:
        return SentenceForm.HEADING
    return SentenceForm.POOR if text.endswith(_OPEN_ENDS) else SentenceForm.GOOD


def is_short(text: str) -> bool:
    """Return whether a text is too short for a quote."""
    visible = " ".join(_LINK.sub(r"\g<label>", _IMAGE.sub("", text)).split())
    return len(visible) < SHORTEST and measure_width(visible) < SHORTEST


MAX_CODE = 1200
"""The most characters of a code block in a quote; of a longer one single lines are quoted."""

_SAME_PARAGRAPH = compile_lazily(r"[ \t]*(?:\n[ \t>]*)?")
_NEXT_ITEM = compile_lazily(r"[\s>]*+(?:[-*+•]|\d{1,3}[.)]|\|)?+[ \t]*+")
"""What stands between sentences of a paragraph, and between items, rows or paragraphs."""

_BEFORE_CODE = compile_lazily(r"[\s>]*(?:`{3,}\{[\w-]+\}[^\n]*\n\s*)?")
"""White space, and the opening line of a directive that holds code in another format."""

_STANDS_ALONE = frozenset({SentenceForm.GOOD, SentenceForm.POOR})


class QuoteUnit(Struct, frozen=True):
    """A part [start, end) of a chunk's text that can be quoted."""

    start: int
    end: int
    kind: LayoutKind
    form: SentenceForm
    has_code: bool = False


def find_quote_units(chunk: StoredChunk, start: int, end: int) -> list[QuoteUnit]:
    """Return the units of a chunk that lie in [start, end) of its text, in order."""
    text = chunk.text
    units = [
        QuoteUnit(*one, classify_form(one.kind, text[one.start : one.end]))
        for one in find_sentences(text)
    ]
    joined = _join_code(text, units, find_code_blocks(text))
    units = sorted(joined, key=lambda one: (one.start, one.end))
    units = [one for one in units if start <= one.start and one.end <= end]
    if any(one.form in _STANDS_ALONE for one in units):
        units = [one for one in units if one.form in _STANDS_ALONE]
    extended: dict[tuple[int, int], QuoteUnit] = {}
    for index, one in enumerate(units):
        low, high = index, index
        while not one.has_code and is_short(text[units[low].start : units[high].end]):
            after = high + 1 < len(units) and _measure_gap(text, units[high], units[high + 1])
            before = low and _measure_gap(text, units[low - 1], units[low])
            if not after and not before:
                break
            if after and (after <= before or not before):
                high += 1
            else:
                low -= 1
        span = units[low].start, units[high].end
        extended.setdefault(span, replace(one, start=span[0], end=span[1]))
    return list(extended.values())


def _join_code(
    text: str, units: Sequence[QuoteUnit], blocks: Sequence[CodeBlock]
) -> Iterator[QuoteUnit]:
    """Yield the units; a code block becomes one unit with the sentence directly before it."""
    rest = [one for one in blocks if one.code and one.end - one.start <= MAX_CODE]
    covered = list(rest)
    for before, one in zip([None, *units], units, strict=False):
        if any(block.start <= one.start and one.end <= block.end for block in covered):
            continue
        following = next((block for block in rest if block.start >= one.end), None)
        if (
            following is None
            or one.form not in _STANDS_ALONE
            or not _BEFORE_CODE.fullmatch(text, one.end, following.start)
        ):
            yield one
            continue
        rest.remove(following)
        start = one.start
        if one.form is SentenceForm.GOOD:
            yield one
        elif before and _SAME_PARAGRAPH.fullmatch(text, before.end, one.start):
            start = before.start  # an announcement hardly says what the code is for
        yield replace(one, start=start, end=following.end, form=SentenceForm.GOOD, has_code=True)
    for block in rest:
        yield QuoteUnit(block.start, block.end, LayoutKind.CODE, SentenceForm.GOOD, has_code=True)


def _measure_gap(text: str, before: QuoteUnit, after: QuoteUnit) -> int:
    """Return 1 for neighbours in a paragraph, 2 for neighbours apart, 0 for others."""
    if before.end > after.start or before.has_code or after.has_code:
        return 0
    if _SAME_PARAGRAPH.fullmatch(text, before.end, after.start):
        return 1
    return 2 if _NEXT_ITEM.fullmatch(text, before.end, after.start) else 0
