"""Finds the names in source code without a grammar, by the words and the indentation of its lines.

A line that begins as a definition does in one of many languages begins a part, which ends before
the next line that is not indented deeper. What is no part of one stays code without a name.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kebab.core.documents import BlockKind
from kebab.parse.blocks import Span

_MODIFIERS = (
    r"(?:(?:pub|public|private|protected|internal|export|default|static|async|abstract|final|open"
    r"|override|virtual|local|partial|pure|recursive|elemental|shared|inline|extern|unsafe)\s+)*"
)
_KEYWORDS = (
    "def|defn-?|defun|defmacro|defmulti|defmethod|defrecord|defprotocol|define|fn|fun|func|function"
    "|sub|subroutine|proc|procedure|macro|class|struct|interface|trait|module|type|enum|message"
    "|service|rpc|rule|object|namespace|record|contract|library|event|modifier|model|schema|input"
    "|union|scalar|directive|fragment|query|mutation|subscription|package|program|entity"
    "|architecture|component|behaviour|actor|primitive|mixin|extension|protocol|data|newtype"
    r"|instance|@mixin|@function|let\s+rec|let|val|task|on"
)
_DEFINITIONS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\(?{_MODIFIERS}(?:{_KEYWORDS})[*!]?\s+\(?['\"]?(?P<name>[\w$:.@/?!*+-]*\w[\w?!*]*)",
        # R, Nim, CoffeeScript and others: a name to which a function is assigned.
        r"[`'\"]?(?P<name>[\w.]+)[`'\"]?\s*(?:<-|=)\s*(?:function\b|\([^)]*\)\s*[-=]>)",
        # Erlang and Prolog clauses, and the functions of shading languages.
        r"(?P<name>[a-z]\w*)\([^)]*\)\s*(?:when\b.*)?->",
        r"(?:[a-z]\w*\s+){1,3}(?P<name>[A-Za-z_]\w*)\s*\([^;=]*\)\s*\{?$",
        # Targets of makefiles, and labels of assembler code.
        r"^(?P<name>[\w./%-]+)\s*:(?![=:])(?:\s|$)",
    )
)
_NOT_NAMES = frozenset({"if", "else", "for", "while", "return", "default", "switch", "case"})
_COMMENT = re.compile(r"\s*(?://|#(?!\[)|--|;|%|/\*|\*|\(\*|'|@|\[)")
_CLOSER = re.compile(
    r"\s*(?:[\])}>;{|=]|(?:end|else|begin|where|fi|done|esac|catch|in)\b)", re.IGNORECASE
)
_MAX_INDENT = 8
_MAX_NAME_CHARS = 80
_MAX_LINE_CHARS = 300


class _Part(NamedTuple):
    """A named part: its comments begin on line `first`, its name is on `line`, 0-based."""

    name: str
    first: int
    line: int
    last: int


def find_named_spans(text: str) -> list[Span]:
    """Return source code as spans of lines: a heading for each name that is found, and code."""
    lines = [line[:_MAX_LINE_CHARS].expandtabs(4).rstrip() for line in text.split("\n")]
    spans: list[Span] = []
    open_parts: list[_Part] = []
    done = 0

    def add_code(until: int) -> None:
        """Add the lines up to one; those behind the end of a part belong to the outer one."""
        nonlocal done
        ends = 0
        while open_parts and open_parts[-1].last <= until:
            last = open_parts.pop().last
            spans.append(Span(BlockKind.CODE, done, last, ends=ends))
            done, ends = max(done, last), len(open_parts) + 1
        spans.append(Span(BlockKind.CODE, done, until, ends=ends))
        done = until

    for part in _find_parts(lines):
        add_code(part.first)
        open_parts.append(part)
        level = len(open_parts)
        spans.append(Span(BlockKind.HEADING, part.first, part.line + 1, level, part.name))
        done = part.line + 1
    add_code(len(lines))
    return [span for span in spans if span.first < span.last]


def _find_parts(lines: Sequence[str]) -> Iterator[_Part]:
    """Yield the named parts of at least two lines, outer ones before those inside."""
    below = 0
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if indent > _MAX_INDENT or not line or _COMMENT.match(line):
            continue
        found = next(filter(None, (one.match(line, indent) for one in _DEFINITIONS)), None)
        if found is None or found["name"].lower() in _NOT_NAMES:
            continue
        last = _find_end(lines, number, indent)
        first = number
        while first > below and _COMMENT.match(lines[first - 1]):
            first -= 1
        if last - number > 1:
            yield _Part(found["name"].strip("'\"")[:_MAX_NAME_CHARS], first, number, last)
            below = number + 1


def _find_end(lines: Sequence[str], number: int, indent: int) -> int:
    """Return the line behind the last one that belongs to the definition on a line."""
    last = number + 1
    for following in range(number + 1, len(lines)):
        line = lines[following]
        if not line:
            continue
        outside = len(line) - len(line.lstrip()) <= indent
        if outside and not _CLOSER.match(line):
            break
        last = following + 1
    return last
