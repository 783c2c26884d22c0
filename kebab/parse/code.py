"""Reads source code: symbols as headings, and their code.

A `Span` is the lines [first, last) of a block. Generated code is searched in its first lines only.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath

from kebab.core.documents import BlockKind, Metadata, ParsedDocument
from kebab.errors.catalog import DependencyMissing
from kebab.parse.blocks import (
    BLOBS,
    Span,
    build_blocks,
    choose_title,
    describe_left_out,
    exclude_lines,
    find_blob_lines,
    format_file_name,
    group_lines,
    omit_gaps,
    shorten_line,
)
from kebab.parse.code_patterns import find_named_spans
from kebab.parse.encoding import Decoded, decode

VERSION = "code-v3"
_GENERATED = re.compile(
    r"code generated .{0,80}do not edit|@generated\b|<auto-?generated|"
    r"\b(?:auto[- ]?|automatically |is |was |file |machine[- ])generated"
    r" (?:by|from|file|code|with)\b"
    r"|\bdo not (?:edit|modify) (?:this file )?(?:by hand|manually|directly)",
    re.IGNORECASE,
)
_HEAD_LINES = 12  # which may say that the file is generated
_KEPT_LINES = 40
_MINIFIED_AVERAGE = 300
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
    r"\A(?:\#!.*\n)?\s*(?:(?://[/!]?|\#+|--|;+)[ \t]*(\S.*)|/\*[*!]*\s*(?:\*\s+)?(\S.*))"
)
_NO_SUMMARY = re.compile(
    r"copyright|licen[sc]e|frozen_string|spdx|coding[:=]|eslint|vim:|@file|\bpragma\b|^[\W_]*$|author|<",
    re.IGNORECASE,
)
_SUMMARY_CHARS, _MAX_SUMMARY_CHARS = 2_000, 80


class SourceParser:
    """Parses source code without a grammar: names are found by simple patterns."""

    version = "source-v3"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its headings are the symbols.

        Raises:
            ParseFailed: The bytes are not text.
        """
        decoded = decode(data, path, self.version)
        if reason := find_generated(decoded.text):
            return build_bounded(decoded, path, reason)
        spans, warnings = self._find_spans(decoded.text, path)
        document = build_document(decoded, path, spans)
        return document._replace(warnings=(*document.warnings, *warnings))

    def _find_spans(self, text: str, path: str) -> tuple[Iterable[Span], tuple[str, ...]]:
        """Return the code as spans of lines, and warnings."""
        del path
        return find_named_spans(text), ()


class CodeParser(SourceParser):
    """Parses the source code of one language along its symbols."""

    version = VERSION

    def __init__(self, language: str) -> None:
        """Parse a language of `kebab.parse.code_symbols`."""
        self._language = language

    def _find_spans(self, text: str, path: str) -> tuple[Iterable[Span], tuple[str, ...]]:
        language, suffix = self._language, PurePosixPath(path).suffix.lower()
        if suffix == ".tsx" or (suffix == ".h" and _CPLUSPLUS.search(text)):
            language = "tsx" if suffix == ".tsx" else "c++"  # their names may mean two languages
        try:
            from kebab.parse.code_symbols import find_spans

            return find_spans(text.encode(), language), ()
        except DependencyMissing as missing:
            warning = f"symbols are found by patterns; {missing.install} reads them exactly"
            return find_named_spans(text), (warning,)


def find_generated(text: str) -> str:
    """Return what makes a file one that no person wrote, else an empty string."""
    lines = text.count("\n") + 1
    if len(text) > _MANY_CHARS and len(text) > lines * _MINIFIED_AVERAGE:
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
    return ParsedDocument(
        text=text,
        title=choose_title(Metadata(title=title), (), path),
        blocks=build_blocks(text, 0, omit_gaps(spans, text.count("\n") + 1)),
        encoding=decoded.encoding,
        warnings=(
            *decoded.warnings,
            *warnings,
            *describe_left_out(BLOBS, text, blobs),
            *describe_left_out("long runs of numbers", text, numbers),
        ),
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
