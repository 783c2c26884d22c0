"""Checks an answer against its evidence, corrects its markers and builds its citations.

What models add is removed first: the frame of the prompt, an enclosing fence, footnotes, and a list
of sources, which is redundant because citations are built from the checked claims.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs
from msgspec.structs import replace

from kebab.core.answers import Evidence, Quote, SupportingQuote
from kebab.rag.checking.claims import ClaimCheck, WarningCode, extract_claims, verify_claims
from kebab.rag.checking.code_blocks import CodeCheck, edit_block, edit_comments, verify_blocks
from kebab.rag.checking.markers import (
    Edit,
    EditedText,
    MarkedText,
    MarkerSpan,
    Span,
    choose_separator,
    find_fenced_blocks,
    find_markers,
    is_inside,
    parse_markers,
    rewrite_round_markers,
)
from kebab.rag.checking.support import IndexedEvidence
from kebab.rag.frame import mentions_elements, remove_frame
from kebab.wire.ask import AnswerWarning

UNSUPPORTED_MARK = "[unsupported]"
"""Follows an unsupported claim; it has no number, so it cannot be read as a citation marker."""

_STOPS = r".!?。！？\u0964\u061f…"
_STOP = re.compile(
    rf"(?<=[^\s{_STOPS}])[ \t\u00a0\u202f]*+[{_STOPS}]++(?=[*_)）]*\\?$)|(?<![ \t])[ \t]*+\|[ \t]*$"
)
"""A full stop, also inside emphasis or brackets; after direct speech the marker comes last."""

_TAIL = 40
_BLANKS = 8
_word = re.compile(r"[^\W_]").search


def build_edits(
    marked: MarkedText, checks: Sequence[ClaimCheck | CodeCheck], *, mark: bool
) -> list[Edit]:
    """Build the edits that remove wrong markers and add missing ones.

    With `mark` unsupported claims are marked; otherwise they stay unchanged.
    """
    starts = [marker.start for marker in marked.markers]
    found: list[Edit] = []
    index = 0
    valid = {evidence.marker for one in checks for evidence in one.supporting}
    for one in checks:
        low, high = (bisect_left(starts, position) for position in one.claim.span)
        found += _remove_stray(marked.markers[index:low], marked.text, valid)
        inner = marked.markers[low:high]
        if isinstance(one, CodeCheck):
            found += edit_block(marked.text, one, inner, UNSUPPORTED_MARK if mark else None)
            found += edit_comments(one, UNSUPPORTED_MARK)
        elif one.supporting:
            # The claim gets the markers of its supporting evidence.
            markers = [evidence.marker for evidence in one.supporting]
            kept = {marker.start for marker in inner if marker.marker in markers}
            wrong = [marker for marker in inner if marker.marker not in markers]
            if not kept:
                right = "".join(map("[{}]".format, markers))
                found += _replace_markers(marked.text, one.claim.span, inner, right)
            else:
                for edit in _remove_markers(marked.text, one.claim.start, wrong):
                    start = edit.start
                    if edit.end in kept:  # that marker keeps the blanks before the removed one
                        start = edit.end - len(marked.text[start : edit.end].lstrip(" \t"))
                    found.append(replace(edit, start=start))
        elif mark:
            found += _replace_markers(marked.text, one.claim.span, inner, UNSUPPORTED_MARK)
        index = high
    return [*found, *_remove_stray(marked.markers[index:], marked.text, valid)]


def _remove_stray(
    markers: Sequence[MarkerSpan], text: str, valid: Collection[int]
) -> Iterator[Edit]:
    """Yield edits that remove markers outside of claims that no supported claim cites."""
    for one in markers:
        if one.marker not in valid:
            yield _remove(text, _skip_blanks_back(text, 0, one.start), one.end)


def _replace_markers(
    text: str, span: Span, inner: Sequence[MarkerSpan], mark: str
) -> Iterator[Edit]:
    """Yield edits that write a mark instead of the markers of a claim."""
    found = list(_remove_markers(text, span[0], inner))
    if inner and _count_leading(text, span[0], inner) < len(inner):
        yield from (*found[:-1], replace(found[-1], text=f" {mark}"))
    else:
        # The marker of a whole claim stands before its full stop.
        low = max(span[0], span[1] - _TAIL)
        stop = _STOP.search(text[low : span[1]])
        position = low + stop.start() if stop else span[1]
        yield from (*found, Edit(position, position, f" {mark}"))


def _remove_markers(text: str, start: int, markers: Sequence[MarkerSpan]) -> Iterator[Edit]:
    """Yield edits that remove markers with the blanks before, or after when they come first."""
    position = start
    leading = _count_leading(text, start, markers)
    for index, one in enumerate(markers):
        if index >= leading:
            edit = _remove(text, _skip_blanks_back(text, position, one.start), one.end)
        else:
            rest = text[one.end : one.end + _BLANKS]
            edit = _remove(text, one.start, one.end + len(rest) - len(rest.lstrip(" \t")))
        yield edit
        position = edit.end


def _remove(text: str, start: int, end: int) -> Edit:
    return Edit(start, end, choose_separator(text, start, end))


def _count_leading(text: str, start: int, markers: Sequence[MarkerSpan]) -> int:
    """Return how many markers are before the first word."""
    for index, one in enumerate(markers):
        if _word(text, start, one.start):
            return index
        start = one.end
    return len(markers)


def _skip_blanks_back(text: str, least: int, position: int) -> int:
    low = max(least, position - _BLANKS)
    return low + len(text[low:position].rstrip(" \t"))


class CheckedAnswer(Struct, frozen=True):
    """A checked answer with its citations, its warnings and the number of supported claims.

    All spans are [start, end) code points of `text`.
    """

    text: str
    citations: tuple[SupportingQuote, ...]
    warnings: tuple[AnswerWarning, ...]
    supported: int
    unsupported: int


def check_answer(
    text: str, passages: Sequence[Evidence], policy: Literal["mark", "withhold"], question: str = ""
) -> CheckedAnswer:
    """Return an answer with normalized markers and checked claims.

    A claim without markers gets the marker of a passage that supports it. Markers of unknown
    passages are removed, and those of passages that do not support the claim while others do. The
    policy `mark` replaces the markers of an unsupported claim with ` [unsupported]`; `withhold`
    leaves the claim, because the answer is not shown. Code may contain values of the question.
    """
    evidence = {passage.marker: IndexedEvidence(passage) for passage in passages}
    keeps_elements = mentions_elements((question, *(passage.text for passage in passages)))
    response = clean_response(text, keeps_elements=keeps_elements)
    marked = parse_markers(rewrite_round_markers(response, evidence), evidence)
    sentences = verify_claims(extract_claims(marked), evidence)
    blocks = verify_blocks(marked, sentences, evidence, question)
    checks: list[ClaimCheck | CodeCheck] = [*sentences, *blocks]
    checks.sort(key=lambda check: check.claim.start)
    edited = EditedText(marked.text, build_edits(marked, checks, mark=policy == "mark"))
    warnings = _warn_of_unknown(marked.unknown, checks)
    warnings += [warning for one in checks for warning in one.warnings]
    if not checks:
        message = "the answer contains no claim that can be checked"
        code = WarningCode.NO_CLAIM.value
        warnings.append(AnswerWarning(code=code, message=message, marker=None, span=None))
    # Each quote is cited once with all claims that it supports.
    cited: dict[tuple[int, int, int], tuple[Quote, list[Span]]] = {}
    for one in checks:
        for supporting in one.supporting:
            quote = one.select_quote(supporting)
            key = (supporting.marker, quote.start, quote.end)
            cited.setdefault(key, (quote, []))[1].append(edited.map_span(one.claim.span))
    supported = sum(bool(check.supporting) for check in checks)
    return CheckedAnswer(
        text=edited.text,
        citations=tuple(
            SupportingQuote(marker=marker, quote=quote, spans=tuple(spans))
            for (marker, _, _), (quote, spans) in sorted(cited.items())
        ),
        warnings=tuple(
            structs.replace(warning, span=edited.map_span(warning.span) if warning.span else None)
            for warning in warnings
        ),
        supported=supported,
        unsupported=len(checks) - supported,
    )


def _warn_of_unknown(
    unknown: Sequence[MarkerSpan], checks: Sequence[ClaimCheck | CodeCheck]
) -> list[AnswerWarning]:
    index = 0
    found: dict[tuple[int, int], AnswerWarning] = {}
    for one in unknown:
        while index + 1 < len(checks) and checks[index + 1].claim.start <= one.start:
            index += 1
        near = checks[index].claim.span if checks else None
        span = near if near and near[0] <= one.start <= near[1] else None
        message = f"removed, because no passage has this number: [{one.marker}]"
        warning = AnswerWarning(
            code=WarningCode.UNKNOWN_MARKER.value, message=message, marker=one.marker, span=span
        )
        found.setdefault((one.marker, index if span else -1), warning)
    return list(found.values())


_ENCLOSING_FENCE = re.compile(
    r"\s*(`{3,}|~{3,})[ \t]*+(?:(?:markdown|md|text|plaintext)[ \t]*+)?\n", re.IGNORECASE
)
_MARKED_FENCE = re.compile(
    r"^(?P<fence>(?P<indent>[ \t>]*)(?:`{3,}|~{3,}))[ \t]+(?P<markers>(?:\[\d{1,3}\][ \t]*)+)$",
    re.MULTILINE,
)
"""Markers on the line that closes a block, which does not close it therefore."""

_FOOTNOTE = re.compile(r"^[ \t]{0,3}\[(?P<note>\^?)[^\[\]\n]{1,40}\]:[ \t]*", re.MULTILINE)
_NUMBERED_FOOTNOTE = re.compile(r"[ \t]{0,3}\[\^?(?:\d{1,9}|[^\[\]\n]{1,20} \d{1,3})\]:")
_LIST_TITLES = (
    "sources?|references?|citations?|cited passages?|bibliography|footnotes?|quellen(?:angaben)?"
    "|références?|fuentes?|referencias|fonti|bronnen"
    "|출처|참고(?: ?문헌| ?자료)?|인용"
    "|出典|参考(?:文献|資料|资料)?|引用(?:元)?"
    "|来源|來源|參考(?:文獻|資料)"
)
_LIST = re.compile(
    rf"[ \t]{{0,3}}(?:#{{1,6}}[ \t]+)?[*_]{{0,3}}(?:{_LIST_TITLES})[*_]{{0,3}}[ \t]{{0,3}}"
    r"(?P<colon>[:\uff1a]?)[*_]{0,3}(?P<rest>[^\n]*+)$",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM_PREFIX = re.compile(
    r"[ \t]*+(?P<item>[-*+\u2022\u30fb]|\d{1,3}[.)])?+[ \t]*+"
    r"[*_]{0,3}(?:passages?|sources?)?+[ \t]*+",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\[\^?[^\[\]\n]{1,40}\]")


def clean_response(text: str, *, keeps_elements: bool = False) -> str:
    """Return an answer without the frame of the prompt, fence, footnotes and list of sources.

    With `keeps_elements` tags such as `<passage>` stay.
    """
    unframed = remove_frame(text, keeps_elements=keeps_elements)
    plain = text if unframed == text else unframed.strip().removesuffix("<").rstrip()
    plain = _MARKED_FENCE.sub(r"\g<fence>\n\g<indent>\g<markers>", plain)
    if opened := _ENCLOSING_FENCE.match(plain):
        inner, fence, after = plain[opened.end() :].rpartition("\n" + opened[1])
        if fence and not after.strip() and not find_fenced_blocks(inner):
            plain = inner
    return _remove_source_list(_remove_footnotes(plain))


def _remove_footnotes(text: str) -> str:
    """Return a text without footnotes and without definitions of numbers used before."""
    footnotes = list(_FOOTNOTE.finditer(text))
    if not footnotes:
        return text
    code = find_fenced_blocks(text)
    first_use: dict[str, int] = {}
    for label in _LABEL.finditer(text):
        first_use.setdefault(label[0], label.start())
    parts: list[str] = []
    position = 0
    for found in footnotes:
        if found.start() < position or is_inside(code, found.start()):
            continue
        is_next = bool(parts) and found.start() == position
        is_used = is_next or first_use[found[0].strip()[:-1]] < found.start()
        if found["note"] or (is_used and _NUMBERED_FOOTNOTE.match(found[0])):
            parts.append(text[position : found.start()])
            position = _find_footnote_end(text, found.end())
    return "".join([*parts, text[position:]])


def _find_footnote_end(text: str, position: int) -> int:
    """Return the end of a footnote with the indented lines below it."""
    while (newline := text.find("\n", position)) >= 0:
        position = newline + 1
        if not text.startswith(("    ", "\t"), position):
            return position
    return len(text)


def _remove_source_list(text: str) -> str:
    """Return a text with citations without the list of sources at its end."""
    code = find_fenced_blocks(text)
    titles = [one for one in _LIST.finditer(text) if not is_inside(code, one.start())]
    if not titles or not find_markers(text[: titles[-1].start()]):
        return text
    title = titles[-1]
    lines = [line for line in text[title.end() :].split("\n") if line.strip()]
    if _is_prose(title["rest"], is_item=bool(title["colon"])) or any(map(_is_prose, lines)):
        return text
    return text[: title.start()].rstrip()


def _is_prose(line: str, *, is_item: bool = False) -> bool:
    """Return whether a line is neither blank nor an entry of a list of sources."""
    prefix = _ITEM_PREFIX.match(line)
    if prefix is None or not line.strip():
        return False
    markers = find_markers(line)
    return markers[0].start > prefix.end() if markers else not (is_item or prefix["item"])
