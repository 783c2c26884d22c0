"""Divides a passage into units that can be quoted: sentences, and sentences with their code.

A short sentence is extended by its neighbour. Headings, labels and the like are units only when the
passage has nothing else. Every unit is one contiguous part of the passage.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kebab.core.queries import StoredChunk
from kebab.rag.code_blocks import CodeBlock, find_code_blocks
from kebab.rag.sentence_form import SentenceForm, classify_form, is_short
from kebab.search.query_parser import strip_stop_words
from kebab.text.layout import LayoutKind
from kebab.text.sentences import find_sentences
from kebab.text.tokenizer import collect_tokens

MAX_CODE = 1200
"""The most characters of a code block in a quote; of a longer one single lines are quoted."""

_GAP = re.compile(r"[\s>]*(?:[-*+\u2022]|\d{1,3}[.)]|\|)?[ \t]*")
"""What stands between neighbours: white space, and the sign of a list item or of a table row."""

_STANDS_ALONE = frozenset({SentenceForm.GOOD, SentenceForm.POOR})


@dataclass(frozen=True, slots=True)
class QuoteUnit:
    """A part [start, end) of a chunk's text that can be quoted.

    `lead` tells that it opens the page or section whose heading is `heading`.
    """

    start: int
    end: int
    kind: LayoutKind
    form: SentenceForm
    has_code: bool = False
    lead: str | None = None


def find_quote_units(chunk: StoredChunk, start: int, end: int) -> list[QuoteUnit]:
    """Return the units of a chunk that lie in [start, end) of its text, in order."""
    text = chunk.text
    units = [
        QuoteUnit(*one, classify_form(one.kind, text[one.start : one.end]))
        for one in find_sentences(text)
    ]
    joined = _join_code(text, list(_mark_leads(chunk, units)), find_code_blocks(text))
    units = sorted(joined, key=lambda one: (one.start, one.end))
    units = [one for one in units if start <= one.start and one.end <= end]
    if any(one.form in _STANDS_ALONE for one in units):
        units = [one for one in units if one.form in _STANDS_ALONE]
    return _extend_short(text, units)


def _mark_leads(chunk: StoredChunk, units: Sequence[QuoteUnit]) -> Iterator[QuoteUnit]:
    """Yield the units; the first sentence below a heading knows that heading."""
    heading = chunk.title if chunk.ordinal == 0 else None
    for one in units:
        if one.form is SentenceForm.HEADING:
            heading = chunk.text[one.start : one.end]
        elif one.form in _STANDS_ALONE and one.kind is not LayoutKind.CODE:
            yield replace(one, lead=heading)
            heading = None
            continue
        yield one


def _join_code(
    text: str, units: Sequence[QuoteUnit], blocks: Sequence[CodeBlock]
) -> Iterator[QuoteUnit]:
    """Yield the units; a code block becomes one unit with the sentence directly before it."""
    rest = [one for one in blocks if one.code and one.end - one.start <= MAX_CODE]
    covered = list(rest)
    for one in units:
        if any(block.start <= one.start and one.end <= block.end for block in covered):
            continue
        following = _find_following(text, one, rest) if one.form in _STANDS_ALONE else None
        if following is None:
            yield one
            continue
        rest.remove(following)
        if one.form is SentenceForm.GOOD:
            yield one
        yield replace(one, end=following.end, form=SentenceForm.GOOD, has_code=True)
    for block in rest:
        yield QuoteUnit(block.start, block.end, LayoutKind.CODE, SentenceForm.GOOD, has_code=True)


def _find_following(text: str, one: QuoteUnit, blocks: Sequence[CodeBlock]) -> CodeBlock | None:
    """Return the code block that follows a sentence directly."""
    behind = (block for block in blocks if block.start >= one.end)
    block = next(behind, None)
    return block if block and not text[one.end : block.start].strip(" \t\n>") else None


def _extend_short(text: str, units: Sequence[QuoteUnit]) -> list[QuoteUnit]:
    """Return the units; a short one is extended by the next one, else by the one before it."""
    extended: dict[tuple[int, int], QuoteUnit] = {}
    for index, one in enumerate(units):
        low, high = index, index
        while not one.has_code and is_short(text[units[low].start : units[high].end]):
            if high + 1 < len(units) and _is_neighbour(text, units[high], units[high + 1]):
                high += 1
            elif low and _is_neighbour(text, units[low - 1], units[low]):
                low -= 1
            else:
                break
        span = units[low].start, units[high].end
        extended.setdefault(span, replace(one, start=span[0], end=span[1]))
    return list(extended.values())


def _is_neighbour(text: str, before: QuoteUnit, after: QuoteUnit) -> bool:
    """Return whether two units stand side by side, with nothing but layout between them."""
    if before.end > after.start or before.has_code or after.has_code:
        return False
    return _GAP.fullmatch(text, before.end, after.start) is not None


def is_lead_of(unit: QuoteUnit, subject: frozenset[str]) -> bool:
    """Return whether a unit opens the page or section that is named like the subject.

    Args:
        unit: A unit of a passage.
        subject: The tokens of what is to be defined.
    """
    if unit.lead is None or not subject:
        return False
    return collect_tokens(strip_stop_words(unit.lead)) == subject
