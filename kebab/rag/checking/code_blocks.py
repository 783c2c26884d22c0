"""Verifies each fenced block of an answer as a claim of its own, and builds its edits.

A block without a marker after it or inside it is held against the passages of the claim before it,
and then against all others. Its comments are held against the passages that support the block.
Markers and marks stand on a line of their own after a block.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.answers import Quote
from kebab.rag.checking.claims import Claim, ClaimCheck, WarningCode
from kebab.rag.checking.code_index import (
    Code,
    CodeIndex,
    Comment,
    classify_language,
    merge_missing,
    parse_code,
)
from kebab.rag.checking.markers import Edit, Fence, MarkedText, MarkerSpan, find_fences
from kebab.rag.checking.support import (
    IndexedEvidence,
    ParsedClaim,
    check_support,
    compute_share,
    drop_redundant,
    format_missing,
    parse_claim,
)
from kebab.wire.ask import AnswerWarning

_MIN_COMMENT_SHARE = 0.4
"""The least share of a comment's key terms that its passage or the code contains."""

_MIN_COMMENT_TERMS = 2
_SENTENCE = re.compile(
    r"^[ \t>*-]*[A-Z][a-z']*(?:,? [\w'\"()-]++){4,}+[.!?][ \t]*+(?:\[\d+\][ \t]*+)?$|[。]",
    re.MULTILINE,
)
"""A line of a block that is a sentence and no code."""

_MAX_QUOTE = 600
_WORD = re.compile(r"[^\W\d_]{2}")
_LAST_WORD = re.compile(r"\S+\Z")


class CodeBlock(Struct, frozen=True):
    """A block of an answer with its code, and the markers of the sentence before it.

    A block of sentences is compared as a sentence, its `prose`. Code may contain values that the
    question names.
    """

    fence: Fence
    code: Code
    prose: ParsedClaim | None
    claim: Claim
    before: tuple[int, ...]
    question: CodeIndex | None = None


class CodeCheck(Struct, frozen=True):
    """A block, the evidence that supports it, its warnings and its unsupported comments.

    `is_covered` when a marker of the sentence before it already names the evidence.
    """

    block: CodeBlock
    supporting: tuple[IndexedEvidence, ...] = ()
    warnings: tuple[AnswerWarning, ...] = ()
    comments: tuple[Comment, ...] = ()

    @property
    def claim(self) -> Claim:
        """The block as a claim."""
        return self.block.claim

    @property
    def is_covered(self) -> bool:
        """Whether the sentence before the block has the markers of its evidence."""
        return all(one.marker in self.block.before for one in self.supporting)

    def select_quote(self, evidence: IndexedEvidence) -> Quote:
        """Return the lines of a passage that contain most of the code."""
        return _select_lines(self.block.code, evidence)


def verify_blocks(
    marked: MarkedText,
    checks: Sequence[ClaimCheck],
    evidence: Mapping[int, IndexedEvidence],
    question: str = "",
) -> list[CodeCheck]:
    """Check each fenced block against the evidence.

    `checks` are those of the sentences of the answer. The code may contain values of the question.
    """
    found: list[CodeCheck] = []
    given = CodeIndex(question)
    for fence in find_fences(marked):
        before: list[ClaimCheck | CodeCheck] = [*checks, *found]
        block = _read_block(marked, fence, before, given)
        if block.code.lines or block.prose is not None:
            found.append(_verify_block(block, evidence))
    return found


def _read_block(
    marked: MarkedText, fence: Fence, checks: Sequence[ClaimCheck | CodeCheck], question: CodeIndex
) -> CodeBlock:
    text = marked.text[slice(*fence.content)]
    if not fence.is_closed:
        text = _LAST_WORD.sub("", text)  # it may be cut off
    own = [one.marker for one in marked.markers if fence.end <= one.start < fence.tail]
    own += [one.marker for one in fence.inner]
    last = max(
        (one for one in checks if one.claim.start < fence.start),
        key=lambda one: one.claim.start,
        default=None,
    )
    after = last.claim.end if last else 0
    before = [one.marker for one in last.supporting] if last else []
    before += [one.marker for one in marked.markers if after <= one.start < fence.start]
    claim = Claim(fence.start, fence.tail, text, tuple(dict.fromkeys(own)))
    low, unmarked = fence.content[0], text
    for one in fence.inner:
        blank = " " * (one.end - one.start)
        unmarked = unmarked[: one.start - low] + blank + unmarked[one.end - low :]
    code = parse_code(unmarked, classify_language(fence.info))
    is_prose = code.kind in {"", "text"} and _SENTENCE.search(text) is not None
    words = text if is_prose else " ".join(one.text for one in code.comments if not code.lines)
    prose = parse_claim(words) if _WORD.search(words) else None
    return CodeBlock(fence, code, prose, claim, tuple(before), question)


def _verify_block(block: CodeBlock, evidence: Mapping[int, IndexedEvidence]) -> CodeCheck:
    """Find the passages that support a block: its own, those before it, or others."""
    own = [evidence[one] for one in block.claim.markers if one in evidence]
    before = [evidence[one] for one in dict.fromkeys(block.before) if one in evidence]
    others = [one for one in evidence.values() if one not in own and one not in before]
    supporting = _find_support(block, own) or _find_support(block, before)
    supporting = supporting or _find_support(block, others, together=False)
    # Passages of one document may contain the code together.
    ordered = sorted(evidence.values(), key=lambda one: one.passage.chunk.doc_id)
    for _, group in groupby(ordered, key=lambda one: one.passage.chunk.doc_id):
        supporting = supporting or _find_support(block, list(group))
    if not supporting:
        return CodeCheck(block, warnings=(_explain(block, own, list(evidence.values())),))
    warnings: list[AnswerWarning] = []
    if own and not any(one in own for one in supporting):
        numbers = "".join(f"[{one.marker}]" for one in supporting)
        missing = format_missing(_find_missing(block, own[0]))
        message = f"replaced by {numbers}: not in passage {own[0].marker}: {missing}"
        warnings.append(_warn(block, WarningCode.MARKER_CORRECTED, own[0].marker, message))
    comments = [one for one in block.code.comments if not _is_supported(one, block, supporting)]
    low, code = block.fence.content[0], WarningCode.UNSUPPORTED_COMMENT.value
    for one in comments:
        message = f"a comment that the passages do not support: {one.text[:80]}"
        span = (low + one.span[0], low + one.span[1])
        warnings.append(AnswerWarning(code=code, message=message, marker=None, span=span))
    return CodeCheck(block, supporting, tuple(warnings), tuple(comments))


def _explain(
    block: CodeBlock, own: Sequence[IndexedEvidence], every: Sequence[IndexedEvidence]
) -> AnswerWarning:
    """Return the warning that names what the nearest passage lacks."""
    if not every:
        return _warn(block, WarningCode.UNSUPPORTED_CODE, None, "there is no passage")
    lists = [(_find_missing(block, one), one) for one in own or every]
    missing, nearest = min(lists, key=lambda pair: len(pair[0]))
    cited = nearest in own or nearest.marker in block.before
    where = f"not in passage {nearest.marker}" if cited else "no passage contains"
    message = f"{where}: {format_missing(missing)}"
    marker = nearest.marker if cited else None
    return _warn(block, WarningCode.UNSUPPORTED_CODE, marker, message)


def _find_missing(block: CodeBlock, one: IndexedEvidence) -> list[str]:
    """Return what a passage lacks of a block."""
    if block.prose is None:
        return one.facts.code.find_missing(block.code, block.question)
    result = check_support(block.prose, [one])
    return [] if result.supported else list(result.missing) or [result.reason or ""]


def _find_support(
    block: CodeBlock, cited: Sequence[IndexedEvidence], *, together: bool = True
) -> tuple[IndexedEvidence, ...]:
    """Return the first passage that contains all of the code, or all of them together."""
    for one in cited:
        if not _find_missing(block, one):
            return (one,)
    if together and len(cited) > 1 and _contain(block, cited):
        return drop_redundant(cited, lambda rest: _contain(block, rest))
    return ()


def _contain(block: CodeBlock, passages: Sequence[IndexedEvidence]) -> bool:
    """Return whether several passages contain a block together."""
    if block.prose is not None:
        return check_support(block.prose, passages).supported
    index = CodeIndex("\n".join(one.whole for one in passages))
    return not index.find_missing(block.code, block.question)


def _is_supported(
    comment: Comment, block: CodeBlock, supporting: Sequence[IndexedEvidence]
) -> bool:
    """Return whether a passage and the code contain what a comment says."""
    parsed = parse_claim(comment.text)
    if not parsed.facts.count and len(parsed.terms) < _MIN_COMMENT_TERMS:
        return True
    result = check_support(parsed, supporting)
    if result.supported:
        return True
    code = "\n".join(" ".join(line.parts) for line in block.code.lines)
    passages = [
        IndexedEvidence(replace(one.passage, text=f"{one.passage.text}\n{code}"))
        for one in supporting
    ]
    facts = merge_missing([list(one.facts.find_missing(parsed.facts)) for one in passages])
    tokens = frozenset().union(*(one.tokens for one in passages))
    is_denied = bool(result.reason) and not result.missing
    return not (facts or is_denied) and compute_share(parsed.terms, tokens) >= _MIN_COMMENT_SHARE


def _warn(block: CodeBlock, code: WarningCode, marker: int | None, message: str) -> AnswerWarning:
    return AnswerWarning(code=code.value, message=message, marker=marker, span=block.claim.span)


def _select_lines(code: Code, evidence: IndexedEvidence) -> Quote:
    """Return the lines around the best one as long as they contain parts of the code."""
    text, start = evidence.passage.text, evidence.passage.start
    counts = CodeIndex(text).count_found(code)
    lines = text.split("\n")
    best = max(range(len(lines)), key=lambda index: counts[index])
    low = high = best
    while low > 0 and counts[low - 1] and _length(lines, low - 1, high) <= _MAX_QUOTE:
        low -= 1
    while (
        high + 1 < len(lines) and counts[high + 1] and _length(lines, low, high + 1) <= _MAX_QUOTE
    ):
        high += 1
    begin = sum(len(line) + 1 for line in lines[:low])
    part = "\n".join(lines[low : high + 1])
    begin += len(part) - len(part.lstrip())
    first = start + begin
    return Quote(chunk=evidence.passage.chunk, start=first, end=first + len(part.strip()))


def _length(lines: Sequence[str], low: int, high: int) -> int:
    return sum(len(line) + 1 for line in lines[low : high + 1])


def edit_block(
    text: str, check: CodeCheck, tail: Sequence[MarkerSpan], mark: str | None
) -> Iterator[Edit]:
    """Yield the edits of a block; its code stays as it is, except for markers inside.

    `tail` are the markers after it, `mark` is what follows an unsupported block, if anything.
    """
    fence = check.block.fence
    markers = [one.marker for one in check.supporting]
    if not markers and mark is None:
        return
    yield from (Edit(one.start, one.end) for one in fence.inner)
    if not markers:
        yield Edit(fence.end, fence.tail, _build_line(text, check, mark or ""))
    elif [one.marker for one in tail] != markers and (tail or not check.is_covered):
        numbers = "".join(f"[{marker}]" for marker in markers)
        yield Edit(fence.end, fence.tail, _build_line(text, check, numbers))


def edit_comments(check: CodeCheck, mark: str) -> Iterator[Edit]:
    """Yield the edits that mark the unsupported comments of a block."""
    low = check.block.fence.content[0]
    for one in check.comments:
        position = low + one.span[1]
        yield Edit(position, position, f" {mark}")


def _build_line(text: str, check: CodeCheck, words: str) -> str:
    """Return a line after a block, which is closed before it, and apart from what follows."""
    fence = check.block.fence
    closing = "" if fence.is_closed else f"{fence.indent}{fence.sign}"
    if closing and text[fence.end - 1 : fence.end] != "\n":
        closing = f"\n{closing}"
    after = text[fence.tail :]
    follows = after.startswith("\n") and after[1:2] not in {"", "\n"}
    return f"{closing}\n{fence.indent}{words}" + ("\n" if follows else "")
