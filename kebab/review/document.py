"""Contains the document under review: its sentences, prose, positions, anchors and units.

Sites and note programs build anchors from headings in many ways: GitHub keeps the letters of every
script, others drop them, repeat hyphens or replace them. Anchors are therefore compared by their
letters and digits alone.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, cycle, pairwise
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from kebab.core.review import Markup, Span, Unit, UnitKind
from kebab.text.language import detect_text_language
from kebab.text.sentences import LayoutKind, Sentence, find_sentences
from kebab.wire.review import EditName, SeverityName, SideName

_WIDE = re.compile("[\U00010000-\U0010ffff]")
"""The characters that are two units in UTF-16."""
_LANGUAGE_SAMPLE = 8_000
_BORDER = re.compile(
    r"\n(?=[ \t>]*(?:\n|\Z|[-*+•][ \t]|\d{1,3}[.)][ \t]|#{1,6}[ \t]|\||:::"
    r"|(?:--+|==+)[ \t]*(?:\n|\Z)))"
)
"""Where a paragraph ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewText:
    r"""A document to review.

    Attributes:
        raw: The decoded file without byte order mark, its line ends and characters as they are.
        text: `raw` with `\n` as its only line end.
        content_hash: The hash of the bytes of the file, as `hash_content` computes it.
        lang: The language that the file or the index names; `ReviewDocument.lang` finds another.
    """

    doc_path: str
    file: Path
    root: Path
    media: str
    raw: str = field(repr=False)
    text: str = field(repr=False)
    content_hash: str
    doc_id: str | None = None
    lang: str | None = None
    markup: Markup = field(default=Markup(), repr=False)


class Fix(NamedTuple):
    """The text that replaces a finding's span.

    `safe` only when the fix is certain: what it changes is one word or a sign, nothing in it is
    guessed, and a target that it names was seen. Other fixes are written on request only.
    """

    text: str
    note: str | None = None
    safe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding at [start, end) of a document, before its conversion to an item."""

    kind: str
    severity: SeverityName
    reason: str
    start: int
    end: int
    edit: EditName = "note"
    rule_id: str | None = None
    fix: Fix | None = None
    conf: float | None = None
    lang: str | None = None
    side: SideName | None = None
    cid: str | None = None


class ReviewDocument:
    """A text with what rules and models need of it; everything is computed on first use.

    Offsets are code points of `text` unless a method says otherwise.
    """

    def __init__(self, source: ReviewText) -> None:
        self.source = source
        self.text = source.text
        self.markup = source.markup

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences of the whole text, in order; items count them from 0."""
        return find_sentences(self.text)

    @cached_property
    def lang(self) -> str | None:
        """The language that the file or the index names, else that of the first prose."""
        if self.source.lang is not None:
            return self.source.lang
        start = self.markup.front_matter.end if self.markup.front_matter else 0
        return detect_text_language(" ".join(self.prose[start : start + _LANGUAGE_SAMPLE].split()))

    @cached_property
    def prose(self) -> str:
        """The text with blanks in place of front matter, code, addresses and markup without words.

        Every other character, and every newline, has the same offset as in `text`.
        """
        blank = "\n".join([" " * len(line) for line in self.text.split("\n")])
        edges = pairwise([0, *chain.from_iterable(self.code_spans), len(self.text)])
        pieces = zip(cycle((self.text, blank)), edges)
        return "".join([source[start:end] for source, (start, end) in pieces])

    @cached_property
    def anchors(self) -> frozenset[str] | None:
        """The anchors that links may name, folded; None when not all of them are in the text."""
        return list_anchors(self.text, self.markup)

    @cached_property
    def code_spans(self) -> list[Span]:
        """The front matter and `markup.code`, whose spans are in order and do not overlap."""
        front = self.markup.front_matter
        if front is None:
            return [*self.markup.code]
        code = self.markup.code[bisect_right(self.markup.code, front.end, key=itemgetter(1)) :]
        if code and code[0][0] < front.end:
            code = ((front.end, code[0][1]), *code[1:])
        return [(front.start, front.end), *code]

    @cached_property
    def paragraphs(self) -> list[Span]:
        """The runs of prose lines: a paragraph, a heading, a list item or a table row each."""
        borders = [0, *(border.start() for border in _BORDER.finditer(self.prose)), len(self.prose)]
        return [span for span in pairwise(borders) if self.prose[slice(*span)].strip()]

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line."""
        return [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))][:-1]

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.text.split("\n")

    def find_line(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset, both from 1; columns are code points."""
        index = bisect_right(self.line_starts, offset) - 1
        return index + 1, offset - self.line_starts[index] + 1

    def find_sentence_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last sentence that [start, end) touches.

        Between two sentences it is the next one, behind the last sentence the last, and (0, 0) in
        a text without sentences.
        """
        if not self.sentences:
            return 0, 0
        last = len(self.sentences) - 1
        first = min(bisect_right(self.sentences, start, key=attrgetter("end")), last)
        touched = bisect_right(self.sentences, max(start, end - 1), key=attrgetter("start")) - 1
        return first, max(first, min(touched, last))

    @cached_property
    def line_end(self) -> str:
        """The line end of most lines of the file."""
        raw, lines = self.source.raw, self.text.count("\n")
        double = raw.count("\r\n")
        single = raw.count("\r") - double
        if 2 * double > lines:
            return "\r\n"
        return "\r" if 2 * single > lines else "\n"

    def to_utf16(self, start: int, end: int) -> Span:
        """Return [start, end) as UTF-16 code units of the raw file."""
        extra = self._extra_units
        return start + bisect_left(extra, start), end + bisect_left(extra, end)

    def from_utf16(self, start: int, end: int) -> Span:
        """Return [start, end) UTF-16 code units of the raw file as code points of the text.

        A position inside a character, or between CR and LF, is that of the character.
        """
        return self._find_offset(start), self._find_offset(end)

    @cached_property
    def _extra_units(self) -> list[int]:
        """The offset of each character that takes one unit more in the raw file."""
        text, raw = self.text, self.source.raw
        wide = [] if text.isascii() else [found.start() for found in _WIDE.finditer(text)]
        if len(raw) == len(text):
            return wide
        # The offsets, in the text with `\n`, of the line ends that are CR LF in the file.
        ends, position, removed = [], raw.find("\r\n"), 0
        while position >= 0:
            ends.append(position - removed)
            removed += 1
            position = raw.find("\r\n", position + 2)
        return sorted([*wide, *ends])

    @cached_property
    def _extra_unit_starts(self) -> list[int]:
        """The same characters as UTF-16 code units of the raw file."""
        return [offset + number for number, offset in enumerate(self._extra_units)]

    def _find_offset(self, unit: int) -> int:
        offset = unit - bisect_left(self._extra_unit_starts, unit)
        return min(max(0, offset), len(self.text))


_INCLUDES = re.compile(
    r"--8<--|\{!|\{%-?[ \t]*include|<!--[ \t]*@?(?:include|insert|embed|import|snippet)"
    r"|\{\{[<%]?[ \t]*#?[\w-]*(?:include|readfile|partial|snippet|content|embed|import|reference)"
    r"|\{\{[^{}<%]*\}\}|^[ \t]*!?include::|^\.\. \w+::|^import\s[^\n]+\.mdx?['\"]"
    r"|<[A-Z][\w.]*[\s/>]|</[a-z]++-[a-z]",
    re.MULTILINE,
)
"""What puts further text into a page: directives, templates and components."""

_NO_LETTER = re.compile(r"[^a-z0-9]+")
_TAG = re.compile(r"<[^<>]*+>")
_TITLE_FIELDS = ("title", "id", "slug")
_ARGUMENT = re.compile(r"\"([^\"]+)\"")
_ELSEWHERE = re.compile(
    r"\b(?:id|name)=[\"']?([\w.:-]+)|<h[1-6]\b[^<>]*+>((?:[^<]|<(?!/?h)){1,400}+)</h"
    r"|^[ \t]+#{2,6}[ \t]++([^\n]++)|[{ \t]#([A-Za-z][\w.:-]*)[^{}\n]{0,80}\}",
    re.MULTILINE,
)
"""Ids, and headings in HTML and indented text."""

_NUMBERED = "#"
"""Stands for the numbers that generators give to headings in other scripts."""

_OTHER_FRAGMENT = re.compile(
    r"0?\Z|_+\Z|top\Z|L\d+|:~:|[!/]|_?fn|cite|label-|__\w|tab[-_=]|term-|page=|slide=|readme\Z"
    r"|user-content-fn|(?:[A-Za-z_]\w*\.)++(?!md\Z|html\Z)\w+\Z|.*[{}<>$*/=]",
    re.IGNORECASE,
)
"""The fragments that name no anchor of the text: places of a program, and names of code."""


def list_anchors(text: str, markup: Markup) -> frozenset[str] | None:
    """Return the anchors of a document, folded; None when not all of them are in its text."""
    # The signs in blocks of code are examples.
    starts = [0, *(end for _, end in markup.code_blocks)]
    ends = [*(start for start, _ in markup.code_blocks), len(text)]
    prose = "".join(text[start:end] for start, end in zip(starts, ends, strict=True))
    if "```{" in text or _INCLUDES.search(prose):
        return None  # the first begins a directive of MyST
    return frozenset(_list_folded(text, markup))


def _list_folded(text: str, markup: Markup) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for heading in markup.headings:
        key = fold_anchor(heading.text)
        if counts[key]:
            yield f"{key}{counts[key]}"
        counts[key] += 1
        yield from (key, f"{key}{counts[key]}", fold_anchor(heading.anchor or ""))
        yield fold_anchor(_drop_marks(heading.text))
        yield fold_anchor(_TAG.sub("", text[heading.start : heading.end]))
        yield from map(fold_anchor, _ARGUMENT.findall(heading.text))  # those of a shortcode
        if not key.isascii():
            yield _NUMBERED
    for one in markup.anchors:
        yield fold_anchor(one.removeprefix("user-content-"))
    for found in _ELSEWHERE.finditer(text):
        yield fold_anchor(_TAG.sub("", found[found.lastindex or 0]))
    fields = markup.front_matter.fields if markup.front_matter else ()
    yield from (fold_anchor(value) for name, value in fields if name in _TITLE_FIELDS)


def _drop_marks(text: str) -> str:
    """Return a text in which letters have no accents."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def unify_line_ends(text: str) -> str:
    r"""Return a text with `\n` as its only line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def fold_anchor(anchor: str) -> str:
    """Return the letters and digits of an anchor or of a heading, in one case."""
    if anchor.isascii():
        return _NO_LETTER.sub("", anchor.lower())
    folded = unicodedata.normalize("NFKC", anchor).casefold()
    return "".join(sign for sign in folded if sign.isalnum())


def is_anchor(fragment: str) -> bool:
    """Return whether a fragment is meant to name an anchor of the text."""
    return _OTHER_FRAGMENT.match(unquote(fragment)) is None


def has_anchor(anchors: frozenset[str], fragment: str) -> bool:
    """Return whether a fragment names one of the anchors.

    Note programs name a heading below another as `Heading#Lower heading`.
    """
    decoded = unquote(fragment).removeprefix("user-content-")
    last = decoded.rpartition("#")[2]
    key = fold_anchor(last)
    return (
        not key
        or key in anchors
        or (_NUMBERED in anchors and key.isdecimal())
        or fold_anchor(decoded) in anchors
        or fold_anchor(_drop_marks(last)) in anchors
    )


MAX_CHARS = 900
MAX_SENTENCES = 4

_LEAST_WORDS = 4
"""Rows of tables with fewer words hold values, and are not proofread."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_DENSE_LETTER = re.compile("[\u0e00-\u0eff\u3040-ヿ\u3400-\u9fff가-힣]")
_DENSE_PER_WORD = 2
_LINE_BREAK = re.compile(r"[ \t]*\n[ \t]*(?:>[ \t]?)*|[ \t]{2,}|\t")
"""What is shown as one blank: the end of a line with the signs of a quotation, and wide gaps."""
_MAX_CODE_CHARS = 60
"""Longer code spans, and everything else that is no prose, are left out of what is shown."""


class ShownSentence(NamedTuple):
    """A sentence as the language model sees it.

    Character `n` of `text` is at `offsets[n]` in the document; `sentence` is its index there.
    """

    sentence: int
    text: str
    offsets: Sequence[int]

    def locate(self, start: int, end: int) -> Span:
        """Return the place of the characters [start, end) in the document."""
        return self.offsets[start], self.offsets[end - 1] + 1


def plan_units(document: ReviewDocument, kind: UnitKind) -> list[Unit]:
    """Return the units of the prose of a document in order.

    A unit has at most four sentences and 900 characters of them. Units within a section share a
    sentence, so that the model sees what stands before. A heading without text of its own belongs
    to the next section.
    """
    return [
        Unit(
            kind=kind,
            sentences=(chosen[0], chosen[-1] + 1),
            start=document.sentences[chosen[0]].start,
            end=document.sentences[chosen[-1]].end,
            overlap=overlap,
        )
        for section in _iter_sections(document)
        for chosen, overlap in _iter_groups(document, section)
    ]


def show_sentences(document: ReviewDocument, unit: Unit) -> list[ShownSentence]:
    """Return the sentences of a unit that are prose."""
    return [
        show_sentence(document, index)
        for index in range(*unit.sentences)
        if _is_prose(document, document.sentences[index])
    ]


def show_sentence(document: ReviewDocument, index: int) -> ShownSentence:
    """Return a sentence without addresses and line breaks; short code spans stay."""
    start, end, _ = document.sentences[index]
    letters: list[str] = []
    offsets: list[int] = []
    for low, high in _iter_shown(document, start, end):
        position = low
        for gap in _LINE_BREAK.finditer(document.text, low, high):
            letters += [*document.text[position : gap.start()], " "]
            offsets += range(position, gap.start() + 1)
            position = gap.end()
        letters += document.text[position:high]
        offsets += range(position, high)
    return ShownSentence(index, "".join(letters), offsets)


def _iter_shown(document: ReviewDocument, start: int, end: int) -> Iterator[Span]:
    position = start
    for low, high in find_code(document, start, end):
        if document.text[low] == "`" and high - low <= _MAX_CODE_CHARS:
            continue
        if low > position:
            yield position, low
        position = max(position, high)
    if position < end:
        yield position, end


def find_code(document: ReviewDocument, start: int, end: int) -> Sequence[Span]:
    """Return the spans that are no prose and touch [start, end)."""
    spans = document.code_spans
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0])
    return spans[first:last]


def _iter_sections(document: ReviewDocument) -> Iterator[list[int]]:
    """Yield the prose sentences of each section; a section begins with its headings."""
    section: list[int] = []
    has_text = False
    for index, sentence in enumerate(document.sentences):
        if not _is_prose(document, sentence):
            continue
        is_heading = _is_heading(document, sentence)
        if is_heading and has_text:
            yield section
            section, has_text = [], False
        section.append(index)
        has_text = has_text or not is_heading
    if section:
        yield section


def _iter_groups(
    document: ReviewDocument, section: Sequence[int]
) -> Iterator[tuple[Sequence[int], int]]:
    """Yield the sentences of each unit of a section, and how many it shares with the last one."""
    lengths = [document.sentences[index].end - document.sentences[index].start for index in section]
    first = overlap = 0
    while True:
        stop = first + overlap + 1
        if sum(lengths[first:stop]) > MAX_CHARS:
            first, overlap = first + overlap, 0
        while (
            stop < len(section)
            and stop - first < MAX_SENTENCES
            and sum(lengths[first : stop + 1]) <= MAX_CHARS
        ):
            stop += 1
        yield section[first:stop], overlap
        if stop == len(section):
            return
        first, overlap = stop - 1, 1


def _is_heading(document: ReviewDocument, sentence: Sentence) -> bool:
    headings = document.markup.headings
    before = bisect_right(headings, sentence.start, key=lambda heading: heading.start) - 1
    if before >= 0 and sentence.start < headings[before].end:
        return True
    return sentence.kind is LayoutKind.HEADING and not _is_row(document, sentence)


def _is_row(document: ReviewDocument, sentence: Sentence) -> bool:
    line = document.text.rfind("\n", 0, sentence.start) + 1
    return document.text[line : sentence.end].lstrip("> \t").startswith("|")


def _is_prose(document: ReviewDocument, sentence: Sentence) -> bool:
    """Return whether a sentence has words outside code; a row of a table needs several."""
    if sentence.kind is LayoutKind.CODE:
        return False
    prose = document.prose[sentence.start : sentence.end]
    if not any(map(str.isalpha, prose)):
        return False
    if sentence.kind is LayoutKind.ROW or _is_row(document, sentence):
        dense = len(_DENSE_LETTER.findall(prose))
        return len(_WORD.findall(prose)) + dense // _DENSE_PER_WORD >= _LEAST_WORDS
    return True
