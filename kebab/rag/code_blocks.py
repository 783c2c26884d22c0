"""Finds the code blocks of a Markdown or reStructuredText passage.

A block is a closed fence, a directive such as `.. code-block:: console`, or the indented lines
behind a `::`. The options of a directive are no code.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent

_FENCE = re.compile(
    r"^(?P<margin>[ \t]*)(?P<ticks>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)\n"
    r"(?P<code>(?:.*\n)*?)[ \t]*(?P=ticks)[`~]*[ \t]*$",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(
    r"^(?P<margin>[ \t]*)\.\.[ \t]+"
    r"(?:code|code-block|sourcecode|prompt|parsed-literal|(?:\w+:)?example)::"
    r"[ \t]*(?P<info>\S*)[^\n]*\n(?:[ \t]+:[\w-]+:[^\n]*\n)*[ \t]*\n"
    r"(?P<code>(?:(?P=margin)[ \t]+\S[^\n]*(?:\n|\Z)"
    r"|[ \t]*\n(?=(?:[ \t]*\n)*(?P=margin)[ \t]+\S))+)",
    re.MULTILINE,
)
_LITERAL = re.compile(
    r"(?<=[^\s:.]::\n)(?P<blank>[ \t]*\n)(?P<info>)(?P<margin>)"
    r"(?P<code>(?:(?: {2,}|\t)\S[^\n]*(?:\n|\Z)|[ \t]*\n(?=(?:[ \t]*\n)*(?: {2,}|\t)\S))+)"
)
_DIRECTIVE_NAME = re.compile(r"\{(?P<name>[\w-]+)\}\s*(?P<rest>\S*)")
_CODE_DIRECTIVES = frozenset({"code", "code-block", "sourcecode", "code-cell", "prompt"})
_OPTIONS = re.compile(r"\A(?::[\w-]+:.*(?:\n|\Z))+")
_LANGUAGE = re.compile(r"[A-Za-z][\w+#.-]*")


@dataclass(frozen=True, slots=True)
class CodeBlock:
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
        for match in _DIRECTIVE.finditer(text):
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
