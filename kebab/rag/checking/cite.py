"""Citing: an answer of a language model, checked against the passages that it was shown.

Nothing of it is believed unchecked: markers are read, the answer is split into claims, each claim
is held against what it cites, and what carries it is quoted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import structs

from kebab.core.answer import Passage, Quote, Support
from kebab.rag.checking.assemble import Assembled
from kebab.rag.checking.caveats import Caveat
from kebab.rag.checking.claims import claims
from kebab.rag.checking.edits import edits
from kebab.rag.checking.ground import Ground
from kebab.rag.checking.judge import Finding, judge
from kebab.rag.checking.markers import Placed, read
from kebab.rag.checking.quote import quote
from kebab.rag.checking.wrapping import unwrapped
from kebab.wire.ask import AnswerWarning


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked answer: its text, what carries it, what is odd, and how many claims hold.

    All spans are [start, end) code points of `text`. Without one supported claim it is no answer.
    """

    text: str
    citations: tuple[Support, ...]
    warnings: tuple[AnswerWarning, ...]
    supported: int
    unsupported: int


def cite(text: str, passages: Sequence[Passage], policy: Literal["mark", "withhold"]) -> Checked:
    """Return an answer with its markers in one form, checked claim by claim.

    A claim that cites nothing gets the marker of a passage that carries it. Markers that name no
    passage, or one that does not carry its claim while another does, are taken out.

    Args:
        text: What the model said.
        passages: What it was shown, by their markers.
        policy: `mark` puts ` [unsupported]` in place of the markers of a claim that nothing
            carries; `withhold` leaves it as it stands, for nobody is to see it.
    """
    grounds = {passage.marker: Ground(passage) for passage in passages}
    marked = read(unwrapped(text), grounds)
    findings = judge(claims(marked), grounds)
    done = Assembled(marked.text, edits(marked, findings, mark=policy == "mark"))
    warnings = [*_unknown(marked.unknown, findings), *_doubts(findings), *_silence(findings)]
    supported = sum(bool(one.carriers) for one in findings)
    return Checked(
        text=done.text,
        citations=tuple(_supports(findings, done)),
        warnings=tuple(_moved(one, done) for one in warnings),
        supported=supported,
        unsupported=len(findings) - supported,
    )


def _supports(findings: Sequence[Finding], done: Assembled) -> Iterator[Support]:
    """Yield each quote once with all that it carries, by marker and place."""
    found: dict[tuple[int, int, int], tuple[Quote, list[tuple[int, int]]]] = {}
    for one in findings:
        for ground in one.carriers:
            quoted = quote(one.said, ground)
            key = (ground.marker, quoted.start, quoted.end)
            found.setdefault(key, (quoted, []))[1].append(done.moved(one.claim.span))
    for (marker, _, _), (quoted, spans) in sorted(found.items()):
        yield Support(marker=marker, quote=quoted, spans=tuple(spans))


def _unknown(taken: Sequence[Placed], findings: Sequence[Finding]) -> Iterator[AnswerWarning]:
    """Yield a warning for each marker that names no passage, with the claim that it stood in."""
    index = 0
    told: set[tuple[int, int]] = set()
    for one in taken:
        while index + 1 < len(findings) and findings[index + 1].claim.start <= one.start:
            index += 1
        near = findings[index].claim.span if findings else None
        span = near if near and near[0] <= one.start <= near[1] else None
        if (one.marker, index if span else -1) not in told:
            told.add((one.marker, index if span else -1))
            message = f"taken out, as no passage has this number: [{one.marker}]"
            yield AnswerWarning(
                code=Caveat.UNKNOWN_MARKER.value, message=message, marker=one.marker, span=span
            )


def _doubts(findings: Sequence[Finding]) -> Iterator[AnswerWarning]:
    """Yield warnings of claims that nothing carries, and of markers that carry nothing."""
    for one in findings:
        for caveat, marker, message in one.doubts:
            yield AnswerWarning(
                code=caveat.value, message=message, marker=marker, span=one.claim.span
            )


def _silence(findings: Sequence[Finding]) -> Iterator[AnswerWarning]:
    """Yield a warning of an answer without any claim."""
    if not findings:
        yield AnswerWarning(
            code=Caveat.NO_CLAIM.value,
            message="it claims nothing that can be checked",
            marker=None,
            span=None,
        )


def _moved(warning: AnswerWarning, done: Assembled) -> AnswerWarning:
    span = done.moved(warning.span) if warning.span else None
    return structs.replace(warning, span=span)
