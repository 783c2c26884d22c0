"""Reads source code: symbols as headings, and their code.

A `Span` is the lines [first, last) of a block. Generated code is searched in its first lines only.
Without a grammar a line that begins as a definition does in one of many languages begins a part,
which ends before the next line that is not indented deeper.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from kebab.core.documents import BlockKind, Metadata, ParsedDocument
from kebab.errors.catalog import DependencyMissing
from kebab.parse.blocks import (
    BLOBS,
    Span,
    build_blocks,
    describe_left_out,
    exclude_lines,
    find_blob_lines,
    format_file_name,
    group_lines,
    list_omissions,
    omit_gaps,
)
from kebab.parse.encoding import Decoded, decode, find_code_escapes
from kebab.parse.metadata import choose_title, shorten_line

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
    r"|instance|@mixin|@function|let\s+rec|let|val|task|on|defmodule|defp|resource|variable|output"
)
_SQL_WORDS = (
    r"(?:(?:OR|REPLACE|TEMP|TEMPORARY|VIRTUAL|MATERIALIZED)\s+)*"
    "(?:TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|TYPE|SCHEMA|SEQUENCE)"
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
        # SQL.
        rf"(?i)CREATE\s+(?:{_SQL_WORDS})\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`\[]?(?P<name>[\w$.]+)",
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


class _Part(NamedTuple):
    """A named part: its comments begin on line `first`, its name is on `line`, 0-based."""

    name: str
    first: int
    line: int
    last: int


def find_named_spans(text: str) -> list[Span]:
    """Return source code as spans of lines: a heading for each name that is found, and code."""
    lines = [line[:300].expandtabs(4).rstrip() for line in text.split("\n")]
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
            yield _Part(found["name"].strip("'\"")[:80], first, number, last)
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


_GENERATED = re.compile(
    r"code generated .{0,80}do not edit|@generated\b|<auto-?generated|"
    r"\b(?:auto[- ]?|automatically |is |was |file |machine[- ])generated"
    r" (?:by|from|file|code|with)\b"
    r"|\bdo not (?:edit|modify) (?:this file )?(?:by hand|manually|directly)",
    re.IGNORECASE,
)
_HEAD_LINES = 12  # which may say that the file is generated
_KEPT_LINES = 40
_MANY_CHARS = 10_000
"""A file of more characters may be minified if its lines have more than 300 on average."""
_CPLUSPLUS = re.compile(
    r"^[^\S\n]*(?:class\s+\w+[^;]*$|namespace\b|template\s*<|using\s+\w+|(?:public|private|protected)\s*:)",
    re.MULTILINE,
)
_VAGUE_STEMS = frozenset({"__init__", "index", "mod", "main", "lib"})
"""Stems of files that say less than the names of their folders."""
_DOC_STRING = re.compile(
    r"\A(?:[ \t]*(?:#.*)?\n)*[ \t]*[rRuU]?(\"\"\"|''')\s*+(\S.*?)(?:(?<![ \t])[ \t]++)?(?:\1|\n|\Z)"
)
_DOC_COMMENT = re.compile(
    r"\A(?:\#!.*\n)?\s*(?:(?://[/!]?|\#+(?=\s)|--|;+)[ \t]*(\S.*)|/\*[*!]*\s*(?:\*\s+)?(\S.*))"
)
_NO_SUMMARY = re.compile(
    r"copyright|licen[sc]e|frozen_string|spdx|coding[:=]|eslint|vim:|@file|\bpragma\b|^[\W_]*$|author|<"
    r"|\$\w+[:$]|permission|part of|all rights|redistribut|imported from|https?:",
    re.IGNORECASE,
)
_SUMMARY_CHARS, _MAX_SUMMARY_CHARS = 2_000, 80


class SourceParser:
    """Parses source code without a grammar: names are found by simple patterns."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its headings are the symbols."""
        decoded = decode(data)
        if reason := find_generated(decoded.text):
            return build_bounded(decoded, path, reason)
        spans, warnings = self._find_spans(decoded.text, path)
        document = build_document(decoded, path, spans)
        return document._replace(warnings=(*document.warnings, *warnings))

    def _find_spans(self, text: str, path: str) -> tuple[Iterable[Span], tuple[str, ...]]:
        del path
        return find_named_spans(text), ()


class CodeParser(SourceParser):
    """Parses the source code of one language along its symbols."""

    def __init__(self, language: str) -> None:
        """Parse a language of `kebab.parse.code.symbols`."""
        self._language = language

    def _find_spans(self, text: str, path: str) -> tuple[Iterable[Span], tuple[str, ...]]:
        language, suffix = self._language, PurePosixPath(path).suffix.lower()
        if suffix == ".tsx" or (suffix == ".h" and _CPLUSPLUS.search(text)):
            language = "tsx" if suffix == ".tsx" else "c++"  # their names may mean two languages
        try:
            from kebab.parse.code.symbols import find_spans

            return find_spans(text.encode(), language), ()
        except DependencyMissing as missing:
            warning = f"symbols are found by patterns; {missing.install} reads them exactly"
            return find_named_spans(text), (warning,)


def find_generated(text: str) -> str:
    """Return what makes a file one that no person wrote, else an empty string."""
    lines = text.count("\n") + 1
    if len(text) > _MANY_CHARS and len(text) > lines * 300:
        parts = text.split("\n")
        if sum(len(parts[number]) for number in find_blob_lines(text)) * 2 > len(text):
            return "minified code"
    head = "\n".join(text[:_MANY_CHARS].split("\n", _HEAD_LINES)[:_HEAD_LINES])
    return "generated code" if _GENERATED.search(head) else ""


def build_bounded(decoded: Decoded, path: str, reason: str) -> ParsedDocument:
    """Return a document of which only the first lines are searched, with a warning if it is cut."""
    lines = decoded.text.count("\n") + 1
    spans = [Span(BlockKind.CODE, 0, min(lines, _KEPT_LINES))]
    document = build_document(decoded, path, spans)
    if lines <= _KEPT_LINES:
        return document
    warning = f"{reason}: only the first {_KEPT_LINES:,} of {lines:,} lines are searched"
    return document._replace(warnings=(*document.warnings, warning))


NUMBERS = "long runs of numbers"


def build_document(
    decoded: Decoded,
    path: str,
    spans: Iterable[Span],
    *,
    title: str = "",
    numbers: Collection[int] = (),
    warnings: Sequence[str] = (),
) -> ParsedDocument:
    """Return the document of code or data; lines without a span, and blobs, are left out.

    `numbers` are further lines to leave out. Without a title, code says what it is.
    """
    text = decoded.text
    if not title:
        title, summary = format_file_name(path, _VAGUE_STEMS), _find_summary(text)
        title = f"{title}: {summary}" if summary else title
    blobs = find_blob_lines(text)
    numbers = {*numbers} - blobs
    spans = exclude_lines(spans, list(group_lines(sorted(blobs | numbers))))
    blocks = build_blocks(text, 0, omit_gaps(spans, text.count("\n") + 1))
    edits = (edit for block in blocks for edit in find_code_escapes(text, block.start, block.end))
    return ParsedDocument(
        text=text,
        title=choose_title(Metadata(title=title), (), path),
        blocks=blocks,
        encoding=decoded.encoding,
        warnings=(
            *decoded.warnings,
            *warnings,
            *describe_left_out(BLOBS, text, blobs),
            *describe_left_out(NUMBERS, text, numbers),
        ),
        edits=tuple(edits),
        omissions=list_omissions(text, blocks, (), blobs, {NUMBERS: numbers} if numbers else {}),
    )


def _find_summary(text: str) -> str:
    """Return the first line of the documentation at the top of a file, else an empty string."""
    head = text[:_SUMMARY_CHARS]
    found = _DOC_STRING.match(head) or _DOC_COMMENT.match(head)
    # The text is in the last group of a docstring, and in either group of a comment.
    line = next(filter(None, found.groups()[-2:][::-1]), "") if found else ""
    line = line.removesuffix("*/").strip(" \t*-=#/.")
    if _NO_SUMMARY.search(line) or len(line.split()) < 2:  # noqa: PLR2004 - one word says nothing
        return ""
    return shorten_line(line, _MAX_SUMMARY_CHARS)
