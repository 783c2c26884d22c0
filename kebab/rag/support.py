"""Decides whether passages support a claim, and selects the quote.

A claim is aligned with the sentence or row of its passage that has most of its words, rare ones
first. A value of the claim must stand in a sentence that is about as much about the claim: about
the words near the value. In a row it must stand in the column that the claim names. What the claim
denies, that sentence must deny too, and the reverse.

Between languages only values are compared.
"""

import math
import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from kebab.rag.passages import Part, Passage, find_negated
from kebab.rag.prompt import Quote
from kebab.rag.values import Term, Value, ValueKind, find_values, split_code
from kebab.text.language import WrittenForm, detect_written_form, is_dense, may_share_words
from kebab.text.normalize import compile_lazily, fold_text, normalize_punctuation

MIN_SHARE, MIN_BIGRAM_SHARE = 0.5, 0.55
"""The least share of a claim's words, and of its bigrams, that its passages contain."""

_FEW = 2
"""So few content words must all occur when the claim has no values."""

_NEAR = 0.5
"""A sentence that holds a value has this share of the weight of the best sentence."""

_NAME_WEIGHT = 3.0
"""The weight of a name relative to another word that is as rare."""

_RIVAL = 0.7
"""A name is compared with a sentence that has this share of the words around it."""

_CONTEXT = 0.5
"""The weight of a word that is in the context of a sentence only."""

_DECAY = 0.5
"""How fast the weight of a word falls with its distance from a value, in words."""

_SAME, _CLOSE = 0.5, 0.9
"""What is denied is compared with sentences that have this share of the words of the claim, and
that share of the words that the best one has."""

_MIN_GAIN = 2.0
_MAX_QUOTE = 600
"""A second sentence is quoted when it adds so much weight; a quote of two is no longer."""

_MAX_LISTED, _MAX_LISTED_CHARACTERS = 4, 40
_REFERENCE = compile_lazily(
    r"\A\W*\d{1,2}[.)]\s|\b(?:passages?|지문|구절) ?\d{1,2}(?: and \d{1,2})?(?!\d)"
)
"""The number of a list item or of a passage, which is no quantity."""


class SupportCheck(Struct, frozen=True, kw_only=True):
    """Whether passages support a claim, the reason if not, and the share of its words found.

    Between languages the share is 0, and the reason states it even if the claim is supported.
    """

    supported: bool
    reason: str | None = None
    share: float = 0.0
    missing: tuple[str, ...] = ()
    is_contradicted: bool = False
    """Whether a passage denies the claim, or gives another value."""


class ParsedClaim(Struct, frozen=True):
    """A claim with its values and its content words."""

    text: str
    values: tuple[Value, ...]
    terms: tuple[Term, ...]
    written_form: WrittenForm
    negated: frozenset[str]


def parse_claim(claim: str) -> ParsedClaim:
    """Parse a claim without markers."""
    text = _REFERENCE.sub("", claim)
    written_form = detect_written_form(text)
    values, terms = find_values(text, nouns=written_form.language == "de")
    plain = normalize_punctuation(text)
    return ParsedClaim(
        plain, tuple(values), tuple(terms), written_form, negated=find_negated(plain)
    )


_COMMENT = compile_lazily(r"(?:^|\s)(?:#(?!!)|//)\s?(?P<text>.*)$", re.MULTILINE)
_INNER_MARKER = compile_lazily(r"[ \t]{1,4}\[\d{1,3}\](?=[ \t]{0,9}$)", re.MULTILINE)


def parse_code(block: str, question: str = "") -> ParsedClaim:
    """Parse a block of code: each of its words is a value, those of its comments are plain words.

    Words of the question may be values that a person chose.
    """
    comments = " ".join(one["text"] for one in _COMMENT.finditer(block))
    code = _COMMENT.sub("", _INNER_MARKER.sub("", block))
    known = set(split_code(question))
    values = dict.fromkeys(word for word in split_code(code) if word not in known)
    _, terms = find_values(comments)
    written_form = detect_written_form(comments)
    return ParsedClaim(
        block,
        tuple(Value(ValueKind.CODE, 0, 0, word) for word in values),
        tuple(terms),
        written_form,
        negated=frozenset(),
    )


def check_support(claim: ParsedClaim, passages: Sequence[Passage]) -> SupportCheck:
    """Return whether one or several passages together support a claim."""
    *others, last = (str(one.marker) for one in passages)
    label = f"passages {', '.join(others)} and {last}" if others else f"passage {last}"
    comparable = [one for one in passages if may_share_words(claim.written_form, one.written_form)]
    missing = [one.text for one in claim.values if not any(_has(two, one) for two in passages)]
    share = 0.0
    if comparable:
        tokens = frozenset[str]().union(*(one.tokens for one in comparable))
        share = compute_share(claim.terms, tokens)
        least = MIN_BIGRAM_SHARE if claim.terms and is_dense(claim.terms[0].text) else MIN_SHARE
        has_values = any(one.kind is not ValueKind.FIRST for one in claim.values)
        if share < (1.0 if len(claim.terms) <= _FEW and not has_values else least):
            missing += (
                one.text
                for one in claim.terms
                if not _is_in(one, tokens) and not any(one.text in word for word in missing)
            )
    if missing:
        reason = f"not in {label}: {format_missing(missing)}"
        return SupportCheck(supported=False, reason=reason, share=share, missing=tuple(missing))
    if not comparable:
        reason = f"only numbers, names and quotations were compared with {label}"
        return SupportCheck(supported=True, reason=reason)
    alignment = _Alignment(claim, comparable)
    if misplaced := [one.text for one in claim.values if alignment.is_misplaced(one)]:
        reason = f"{label} says otherwise of: {format_missing(misplaced)}"
        return SupportCheck(
            supported=False,
            reason=reason,
            share=share,
            missing=tuple(misplaced),
            is_contradicted=True,
        )
    if denied := alignment.find_denied():
        reason = f"contradicted by {label}: {denied}"
        return SupportCheck(supported=False, reason=reason, share=share, is_contradicted=True)
    return SupportCheck(supported=True, share=share)


def _has(passage: Passage, value: Value) -> bool:
    """Return whether a passage has a value anywhere."""
    if value.kind is ValueKind.QUOTE:
        return fold_text(value.text.strip('"')) in passage.folded
    if value.kind is ValueKind.CODE:
        return value.text in passage.code
    if value.kind is ValueKind.FIRST:
        return True
    return any(part.holds(value) for part in (passage.head, *passage.parts))


def compute_share(terms: Sequence[Term], tokens: Collection[str]) -> float:
    """Return the share of the words that is among the tokens; 1 without words."""
    return sum(_is_in(term, tokens) for term in terms) / len(terms) if terms else 1.0


def _is_in(term: Term, tokens: Collection[str]) -> bool:
    return any(token in tokens for token in term.tokens)


class _Alignment:
    """A claim beside the sentences of the passages that it cites."""

    def __init__(self, claim: ParsedClaim, passages: Sequence[Passage]) -> None:
        self.claim = claim
        self.claimed = {token for term in claim.terms for token in term.tokens}
        self.parts = [part for one in passages for part in one.parts]
        self.head = frozenset[str]().union(*(one.head.tokens for one in passages))
        counts = [sum(_is_in(term, part.tokens) for part in self.parts) for term in claim.terms]
        # How rare each word is among the sentences; 0 when none has it.
        self.rarities = [math.log(1 + len(self.parts) / one) if one else 0.0 for one in counts]
        text = "\n".join(part.text for part in self.parts)
        names = {
            one.start
            for one in claim.values
            if one.kind is ValueKind.NAME
            # The first word of a sentence is a name where the passages always write it as one.
            or (one.kind is ValueKind.FIRST and one.text in text and one.text.lower() not in text)
        }
        self.rarities = [
            weight * (_NAME_WEIGHT if term.start in names else 1.0)
            for term, weight in zip(claim.terms, self.rarities, strict=True)
        ]

    def is_misplaced(self, value: Value) -> bool:
        """Return whether a value stands only in sentences about something else."""
        holders = [part for part in self.parts if part.holds(value)]
        if not holders:
            return False
        weights = self._weigh_near(value)
        covers = {part: self._cover(part, weights) for part in self.parts}
        best = max(covers.values())
        near = [part for part in holders if covers[part] >= _NEAR * best]
        if value.number is not None or value.date:
            return not near or all(self._is_in_other_column(part, value) for part in near)
        if near or best < _RIVAL * sum(weights) or not self.head.isdisjoint(value.tokens):
            return False
        # The sentence that the claim is about has another name instead.
        return all(
            part.context.isdisjoint(value.tokens) and not part.names <= self.claimed
            for part, cover in covers.items()
            if cover == best
        )

    def _weigh_near(self, value: Value) -> list[float]:
        """Return the weights of the words around a value, which fall with the distance."""
        at = sum(term.start < value.start for term in self.claim.terms)
        return [
            0.0
            if value.start <= term.start < value.end
            else rarity / (1 + _DECAY * abs(index - at))
            for index, (term, rarity) in enumerate(
                zip(self.claim.terms, self.rarities, strict=True)
            )
        ]

    def _cover(self, part: Part, weights: Sequence[float]) -> float:
        """Return the weight of the words of the claim that a sentence or its context has."""
        context = part.context if part.first <= self.claimed else frozenset[str]()
        return sum(
            weight * (1.0 if _is_in(term, part.tokens) else _CONTEXT * _is_in(term, context))
            for term, weight in zip(self.claim.terms, weights, strict=True)
        )

    def _is_in_other_column(self, row: Part, value: Value) -> bool:
        """Return whether a value is not in the column of its row that the claim names for it.

        As many columns as values are named in the order of the values.
        """
        if not row.cells or row.cells[0].holds(value):
            return False
        columns = list(enumerate(row.columns[: len(row.cells)]))[1:]
        named = list(
            dict.fromkeys(
                column
                for term in self.claim.terms
                for column, tokens in columns
                if _is_in(term, tokens)
            )
        )
        values = [
            one
            for one in self.claim.values
            if (one.number or one.date) and not row.cells[0].holds(one)
        ]
        if len(named) == len(values):
            named = [named[values.index(value)]]
        return bool(named) and not any(row.cells[column].holds(value) for column in named)

    def find_denied(self) -> str | None:
        """Return a word that the claim denies and the sentence that it is about not, or reverse."""
        claim, total = self.claim, sum(self.rarities)
        covers = {part: self._cover(part, self.rarities) for part in self.parts}
        least = max(_SAME * total, _CLOSE * max(covers.values()))
        about = [part for part in self.parts if covers[part] >= least > 0]
        for term in claim.terms:
            saying = [
                _is_in(term, part.negated) != _is_in(term, claim.negated)
                for part in about
                if _is_in(term, part.tokens)
            ]
            if saying and all(saying):
                return term.text
        return None


def format_missing(missing: Sequence[str]) -> str:
    """Return the first missing parts as text."""
    listed = ", ".join(
        " ".join(one.split())[:_MAX_LISTED_CHARACTERS] for one in missing[:_MAX_LISTED]
    )
    return f"{listed} …" if len(missing) > _MAX_LISTED else listed


def select_quote(claim: ParsedClaim, passage: Passage) -> Quote:
    """Return the sentence, or the two adjacent ones, that contain most of a claim."""
    parts = passage.parts
    weights = [_weigh_part(claim, [part]) for part in parts]
    best = max(range(len(parts)), key=weights.__getitem__)
    first, last, least = best, best, weights[best] + _MIN_GAIN
    for low in range(max(0, best - 1), min(len(parts) - 1, best + 1)):
        weight = _weigh_part(claim, parts[low : low + 2])
        if weight >= least and parts[low + 1].end - parts[low].start <= _MAX_QUOTE:
            first, last, least = low, low + 1, weight + 1
    return passage.quote(parts[first], parts[last])


def _weigh_part(claim: ParsedClaim, parts: Sequence[Part]) -> float:
    """Return how many words and values of a claim some sentences contain."""
    words = sum(any(_is_in(term, part.tokens) for part in parts) for term in claim.terms)
    return words + 2.0 * sum(any(part.holds(one) for part in parts) for one in claim.values)
