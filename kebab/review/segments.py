"""Splits a document into the segments that are translated, and protects what must not change.

A segment is a sentence of prose, a heading, an item or a cell of a table. Everything between the
segments stays as it is. Within a segment, placeholders such as `⟦1⟧` protect code and addresses.
The structure of a page tells whether a change loses anything else.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kebab.core.media import MARKDOWN
from kebab.core.review import LinkUse, Span
from kebab.review.document import ReviewDocument
from kebab.text.normalize import blank_spans, merge_spans
from kebab.text.sentences import LayoutKind, Sentence

if TYPE_CHECKING:
    from markdown_it.token import Token

_ADDRESS = r"(?:https?|ftp|file)://[^\s<>\u27e6]*[^\s<>()\[\]{}.,;:!?'\"\u27e6\u3000-\u303f]"
_MAIL = r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++"
_VARIABLE = r"\$?\{[\w.-]+\}|\$[A-Z_]{2,}|%\(\w+\)[sdf]|(?<!\d)%[sd]\b"
_BRACKETS = "[\u27e6\u27e7]"
_PLAIN = re.compile(rf"{_ADDRESS}|{_MAIL}|{_VARIABLE}|{_BRACKETS}|(?<=\S)[ \t]{{2,}}(?=\S)|\t")
"""What stays as it is in a text without markup, columns included."""

_MARKDOWN = re.compile(
    rf"{_ADDRESS}|{_MAIL}|\{{\{{[^{{}}]{{0,999}}\}}\}}|\{{%[^%]{{0,999}}%\}}|{_VARIABLE}"
    rf"|{_BRACKETS}|<(?P<raw>script|style|pre|svg|math)\b.{{0,499}}?</(?P=raw)>"
    r"|%%[^%]{1,999}%%|\[\^[^\]\s]{1,99}\]:?"
    r"|\[\]|\{[:#.][^{}\n]*\}|(?<!\S)\^[\w-]+$|(?<![\w&#])#[^\W\d][\w/-]*"
    r"|&(?:\#\d+|\#x[0-9a-fA-F]+|[A-Za-z]\w*);|\\[!-/:-@\[-`{-~]|\\$"
    r"|</?[A-Za-z][^<>\n]*>",
    re.MULTILINE | re.DOTALL,
)
"""What is no prose in Markdown, besides the code and the links of its markup."""

BLOCK_LINE = re.compile(
    r"^[ \t]*(?:(?:import|export)[ ][^\n]*|:{3,}[^\n]*|(?:!!!|\?\?\?\+?|===)[ ][^\n]*"
    r"|\*\[[^\]\n]+\]:[^\n]*|\[[^\]\n^][^\]\n]*\]:[ \t]*\S[^\n]*"
    r"|(?:-[ ])?[A-Za-z][\w-]*::[^\n]*|(?:>[ \t]*)+\[![A-Za-z]+\][^\n]*)$",
    re.MULTILINE,
)
"""Lines of Markdown and its dialects that are no prose, such as the head of an admonition."""

BLOCK_TAG = re.compile(
    r"</?(?:td|tr|th|table|tbody|thead|caption|p|div|li|ul|ol|dl|dt|dd|br|hr|h[1-6]|details|summary"
    r"|section|article|blockquote|figure|figcaption)\b[^<>]*>",
    re.IGNORECASE,
)
"""The tags of HTML that no sentence goes beyond."""

_EMPHASIS = re.compile(
    r"(?<![*\s])\*{1,3}(?!\*)|\*{1,3}(?![*\s])"
    r"|(?<![\w_])_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?![\w_])|~~|(?<![=\s])==(?!=)|==(?![=\s])"
)
_ALONE = re.compile(r"!\[|<!--|\{[:#.]|\^|\\$|\[\^[^\]]*\]:$")
"""Markup that is no part of a sentence, where it begins or ends one."""

_FILLER = "\ue000"
_PLACEHOLDER = re.compile("\u27e6\\s*(\\d+)\\s*\u27e7")
_SPECIAL = "\\`*[]<>~|$"
"""The signs that are escaped where the translation has more of them than the source."""

_BLOCK_SIGNS = frozenset("-+#=:")
_NUMBER_SIGN = re.compile(r"(\d{1,9})[.)](?:\s|$)")
_WRAP = re.compile(r"[ \t]{0,99}+\n[ \t]*+(?:>[ \t]*+)*+")
_BLANKS = re.compile(r"\s+")
_DENSE = re.compile("[\u3001-ヿ\u3400-\u9fff\uff00-\uffef]")
_find_letter = re.compile(r"[^\W\d_]").search


class Masked(NamedTuple):
    """A text with placeholders, and what they stand for, in order from 1."""

    text: str
    protected: tuple[str, ...]

    @property
    def has_words(self) -> bool:
        """Whether there are letters outside the placeholders."""
        return _find_letter(_PLACEHOLDER.sub("", self.text)) is not None


class ProtectedSpans:
    """The spans of a document that a translation must not change, in order."""

    def __init__(self, document: ReviewDocument) -> None:
        self._text = document.text
        self._is_markdown = document.source.media == MARKDOWN
        found = merge_spans(self._find_all(document))
        self._starts = [start for start, _ in found]
        self._ends = [end for _, end in found]

    def _find_all(self, document: ReviewDocument) -> list[Span]:
        if not self._is_markdown:
            return [found.span() for found in _PLAIN.finditer(self._text)]
        markup = document.markup
        found = [span for link in markup.links for span in _find_link_parts(self._text, link)]
        found += markup.code
        rest = blank_spans(self._text, merge_spans(found), _FILLER)
        found += [match.span() for match in _MARKDOWN.finditer(rest)]
        rest = blank_spans(self._text, merge_spans(found), _FILLER)
        return found + [match.span() for match in _EMPHASIS.finditer(rest)]

    def mask(self, start: int, end: int) -> Masked:
        """Return [start, end) of the text on one line with placeholders."""
        parts: list[str] = []
        protected: list[str] = []
        for low, high in self._iter_inside(start, end):
            parts += [self._text[start:low], f"\u27e6{len(protected) + 1}\u27e7"]
            protected.append(self._text[low:high])
            start = high
        text = _join_lines("".join([*parts, self._text[start:end]]))
        return Masked(_BLANKS.sub(" ", text), tuple(protected))

    def trim(self, start: int, end: int) -> Span:
        """Return [start, end) without blanks and without markup that is around all of it."""
        while True:
            if wrap := _WRAP.match(self._text, start, end):
                start = wrap.end()
            part = self._text[start:end]
            start, end = start + len(part) - len(part.lstrip()), start + len(part.rstrip())
            spans = list(self._iter_inside(start, end))
            if not spans:
                return start, end
            first, last = spans[0], spans[-1]
            if first[0] == start and self._stands_alone(*first):
                start = first[1]
            elif last[1] == end and self._stands_alone(*last):
                end = last[0]
            elif len(spans) > 1 and first[0] == start and last[1] == end and self._wraps(spans):
                start, end = first[1], last[0]
            else:
                return start, end

    def _stands_alone(self, start: int, end: int) -> bool:
        """Return whether a span is no part of a sentence, such as an image or a comment."""
        part = self._text[start:end]
        return _ALONE.match(part) is not None

    def _wraps(self, spans: Sequence[Span]) -> bool:
        """Return whether the first and the last of some spans belong together."""
        first, *inner, last = (self._text[low:high] for low, high in spans)
        signs = set(first) & set("*_~=[<")
        closes = last == first or (first[-1], last[0]) == ("[", "]") or last.startswith("</")
        return bool(signs) and closes and not any(signs & set(one) or "]" in one for one in inner)

    def _iter_inside(self, start: int, end: int) -> Iterator[Span]:
        for index in range(bisect_right(self._ends, start), bisect_left(self._starts, end)):
            yield max(start, self._starts[index]), min(end, self._ends[index])


def _find_link_parts(text: str, link: LinkUse) -> list[Span]:
    """Return the parts of a link that stay: all of it but its text."""
    whole = [(link.start, link.end)]
    if link.is_image or link.kind == "auto":
        return whole
    if link.kind == "wiki":
        bar = text.find("|", link.start, link.end)
        return [(link.start, bar + 1), (link.end - 2, link.end)] if bar > 0 else whole
    sign = "](" if link.kind == "inline" else "]["
    last = link.target_span[0] if link.kind == "inline" else link.end
    close = text.rfind(sign, link.start, last)
    # A shortcut such as `[name]` is the name of its definition.
    if close < 0 or (sign == "][" and link.end - close <= len("][]")):
        return whole
    return [(link.start, link.start + 1), (close, link.end)]


def _join_lines(text: str) -> str:
    """Return a wrapped text on one line; scripts without blanks need none at the wrap."""

    def join(found: re.Match[str]) -> str:
        around = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        return "" if all(map(_DENSE.match, around)) else " "

    return _WRAP.sub(join, text)


def list_placeholder_faults(masked: Masked, answer: str) -> list[int]:
    """Return the numbers of the placeholders that an answer lost, repeated or invented."""
    counts = Counter(int(found) for found in _PLACEHOLDER.findall(answer))
    right = {number for number in range(1, len(masked.protected) + 1) if counts[number] == 1}
    return sorted({*range(1, len(masked.protected) + 1), *counts} - right)


def restore(masked: Masked, answer: str, *, is_markdown: bool) -> str:
    """Return an answer with what its placeholders stand for; it has each of them once.

    In Markdown, signs that would become markup are escaped: those that the source has less often.
    """
    parts = _PLACEHOLDER.split(_BLANKS.sub(" ", answer.strip()))
    if is_markdown:
        source = _PLACEHOLDER.sub("", masked.text)
        written = "".join(parts[::2])
        new = [sign for sign in _SPECIAL if written.count(sign) > source.count(sign)]
        table = str.maketrans({sign: "\\" + sign for sign in new})
        parts[::2] = [part.translate(table) for part in parts[::2]]
        parts[0] = _escape_block_sign(source, parts[0])
    parts[1::2] = [masked.protected[int(number) - 1] for number in parts[1::2]]
    return "".join(parts)


def _escape_block_sign(source: str, text: str) -> str:
    """Return a text that begins no list, heading or other block, unless the source does too."""
    if number := _NUMBER_SIGN.match(text):
        return text if _NUMBER_SIGN.match(source) else f"{number[1]}\\{text[number.end(1) :]}"
    return f"\\{text}" if text[:1] in _BLOCK_SIGNS and text[:1] != source[:1] else text


MIN_UNIT_CHARS = 700
MAX_UNIT_CHARS = 900
MAX_UNIT_SEGMENTS = 32

_TABLE_RULE = re.compile(r"^[ \t>]*+(?=[^\n]*-)(?=[^\n]*\|)[-:| \t]++$", re.MULTILINE)
_CELL = re.compile(r"(?:\\.|`[^`\n]*`|\[\[[^\[\]\n]*\]\]|[^|\\`\n])+")
_COLUMNS = re.compile(r"\S[ \t]{2,}\S|\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a document to translate: [start, end) code points of its text.

    Attributes:
        cid: The id, such as `seg-0001`; it is the same for the same text.
        masked: The source on one line, with placeholders.
        kind: What contains it.
    """

    cid: str
    start: int
    end: int
    masked: Masked = field(repr=False)
    kind: LayoutKind = LayoutKind.PROSE

    @property
    def source(self) -> str:
        """The text that the model gets."""
        return self.masked.text


def split_segments(document: ReviewDocument) -> list[Segment]:
    """Return the segments of a document in order; they do not overlap."""
    protected = ProtectedSpans(document)
    segments: list[Segment] = []
    for start, end, kind in _iter_parts(document):
        span = protected.trim(start, end)
        masked = protected.mask(*span)
        if masked.has_words:
            cid = f"seg-{len(segments) + 1:04}"
            segments.append(Segment(cid=cid, start=span[0], end=span[1], masked=masked, kind=kind))
    return segments


def _iter_parts(document: ReviewDocument) -> Iterator[Sentence]:
    """Yield the sentences outside front matter and code, tables cell by cell."""
    text, markup = document.text, document.markup
    is_markdown = document.source.media == MARKDOWN
    front = [(markup.front_matter.start, markup.front_matter.end)] if markup.front_matter else []
    borders = (BLOCK_LINE, BLOCK_TAG) if is_markdown else ()
    marks = [found.span() for border in borders for found in border.finditer(text)]
    closed = sorted([*front, *markup.code_blocks, *marks])
    tables = list(find_table_spans(text)) if is_markdown else []
    cells = [
        Sentence(*cell, LayoutKind.ROW) for table in tables for cell in split_table(text, table)
    ]
    prose = [one for one in document.sentences if one.kind is not LayoutKind.CODE]
    if not is_markdown:
        prose = [part for one in prose for part in _split_columns(text, one)]
    prose = list(_subtract(prose, sorted([*closed, *tables])))
    yield from sorted([*prose, *_subtract(cells, closed)])


def _subtract(parts: Sequence[Sentence], hidden: Sequence[Span]) -> Iterator[Sentence]:
    """Yield what is left of some parts outside some spans; both are in order."""
    first = 0
    for part in parts:
        start = part.start
        while first < len(hidden) and hidden[first][1] <= start:
            first += 1
        for index in range(first, len(hidden)):
            low, high = hidden[index]
            if low >= part.end:
                break
            if low > start:
                yield Sentence(start, low, part.kind)
            start = max(start, high)
        if start < part.end:
            yield Sentence(start, part.end, part.kind)


def find_table_spans(text: str) -> Iterator[Span]:
    """Yield the tables: a header, a rule with as many cells, and the lines up to a blank one."""
    done = 0
    for rule in _TABLE_RULE.finditer(text):
        start = text.rfind("\n", 0, max(0, rule.start() - 1)) + 1
        header = text[start : rule.start()].rstrip("\n")
        if start < done or rule.start() == 0 or "|" not in header:
            continue
        end = rule.end()
        while end < len(text):
            following = text.find("\n", end + 1)
            line = text[end + 1 : following if following >= 0 else len(text)]
            if not line.strip(" \t>"):
                break
            end = following if following >= 0 else len(text)
        done = end
        yield start, end


def split_table(text: str, table: Span) -> Iterator[Span]:
    """Yield the cells of the rows of a table."""
    start = table[0]
    for line in text[slice(*table)].split("\n"):
        content = len(line) - len(line.lstrip(" \t>"))
        for cell in _CELL.finditer(line, content):
            yield start + cell.start(), start + cell.end()
        start += len(line) + 1


def _split_columns(text: str, one: Sentence) -> Iterator[Sentence]:
    """Yield a sentence of a plain text, line by line when its lines have columns."""
    if not _COLUMNS.search(text, one.start, one.end):
        yield one
        return
    start = one.start
    for line in text[one.start : one.end].split("\n"):
        yield Sentence(start, start + len(line), one.kind)
        start += len(line) + 1


def group_segments(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Return the segments in groups of 700 to 900 characters, cut before a heading if possible."""
    groups: list[list[Segment]] = []
    size = 0
    for segment in segments:
        length = len(segment.source)
        full = size + length > MAX_UNIT_CHARS or (groups and len(groups[-1]) == MAX_UNIT_SEGMENTS)
        begins = segment.kind is LayoutKind.HEADING and size >= MIN_UNIT_CHARS
        if not groups or full or begins:
            groups.append([])
            size = 0
        groups[-1].append(segment)
        size += length
    return groups


_T = TypeVar("_T")
_PAGE_SIGNS = re.compile(r"\[\^[^\[\]\s]++\]|(?<!\\)\|")
"""Footnotes, which the parser does not know, and the borders of cells, which it evens out."""
_EMPHASIS_TYPES = frozenset({"em_open", "strong_open", "s_open"})
_CODE_BLOCK_TYPES = frozenset({"fence", "code_block", "html_block"})
_CODE_TYPES = frozenset({"code_inline", "html_inline"})


class PageStructure(NamedTuple):
    """What must not get lost in a page.

    Attributes:
        blocks: The blocks in order, such as headings with their level and cells of tables.
        code: The contents of the blocks of code and of HTML, in order.
        inline: How often each code span, tag, footnote and border of a cell occurs.
        links: How often each target of a link or an image occurs.
        emphasis: How many parts are emphasised.
    """

    blocks: tuple[str, ...]
    code: tuple[str, ...]
    inline: Counter[str]
    links: Counter[str]
    emphasis: int


def read_structure(text: str) -> PageStructure:
    """Return the structure of a page."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    flat = list(_flatten(tokens))
    links: Counter[str] = Counter(
        str(one.attrs["href" if one.type == "link_open" else "src"])
        for one in flat
        if one.type in {"link_open", "image"}
    )
    return PageStructure(
        blocks=tuple(f"{one.type} {one.tag}" for one in tokens),
        code=tuple(one.content for one in tokens if one.type in _CODE_BLOCK_TYPES),
        inline=Counter(
            [*(one.content for one in flat if one.type in _CODE_TYPES), *_PAGE_SIGNS.findall(text)]
        ),
        links=links,
        emphasis=sum(one.type in _EMPHASIS_TYPES for one in flat),
    )


def _flatten(tokens: "Sequence[Token]") -> "Iterator[Token]":
    for token in tokens:
        yield token
        yield from _flatten(token.children or ())


def keep_harmless(parts: Sequence[_T], is_harmless: Callable[[Sequence[_T]], bool]) -> list[_T]:
    """Return as many parts as possible that are harmless together, in order.

    They are halved until the harmful ones are found, so few texts are read when few are harmful.
    """
    kept: list[_T] = []
    pending = [list(parts)]
    while pending:
        some = pending.pop(0)
        if not some or is_harmless([*kept, *some]):
            kept += some
        elif len(some) > 1:
            middle = len(some) // 2
            pending[:0] = [some[:middle], some[middle:]]
    return kept
