"""Cuts a document into units for the language model, and shows it their sentences."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kebab.core.review import Span, Unit, UnitKind
from kebab.review.document import ReviewDocument
from kebab.text.layout import LayoutKind
from kebab.text.sentences import Sentence

MAX_CHARS = 900
MAX_SENTENCES = 4

_LEAST_WORDS = 4
"""Rows of tables with fewer words hold values, and are not proofread."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_DENSE_LETTER = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
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
    """Yield the parts of [start, end) that are shown."""
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
