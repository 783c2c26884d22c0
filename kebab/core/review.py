"""Declares what reviews work with: markup, units, and the stored runs.

Offsets are code points of the text unless a docstring says otherwise.

A run works on its documents in order, and on the units of each. What is finished is one list that
only grows, so the pages of a run never change. A unit without an answer of the language model is
asked about again by the next request, and its new items come at the end of the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from kebab.wire.record import FinishName
from kebab.wire.review import AgentItem, ItemWarning

if TYPE_CHECKING:
    from kebab.core.queries import StoredChunk

Span: TypeAlias = tuple[int, int]
"""[start, end)."""


class Heading(NamedTuple):
    """A heading; `text` is its text without markup, `anchor` an id that it declares itself."""

    level: int
    text: str
    start: int
    end: int
    anchor: str | None = None


class LinkUse(NamedTuple):
    """A link or an image at [start, end). `target` has its fragment, but no escapes.

    `target_span` is where the target is written; that of a reference link is in its definition.
    """

    target: str
    kind: Literal["inline", "reference", "wiki", "auto"]
    start: int
    end: int
    target_span: Span
    is_image: bool = False


class FrontMatterUse(NamedTuple):
    """The front matter at [start, end), and its top-level fields in order."""

    start: int
    end: int
    fields: tuple[tuple[str, str], ...]


class Markup(NamedTuple):
    """The parts of a document that rules look at, each in order.

    `code` holds code blocks, code spans, comments, HTML tags, math and addresses: no prose.
    """

    headings: tuple[Heading, ...] = ()
    links: tuple[LinkUse, ...] = ()
    anchors: tuple[str, ...] = ()
    """The ids outside headings, such as `<a id="x">`, `^block` and `(label)=`."""
    front_matter: FrontMatterUse | None = None
    code: tuple[Span, ...] = ()
    code_blocks: tuple[Span, ...] = ()


class SimilarParagraph(NamedTuple):
    """A passage of another note that is nearly the same as a paragraph, from 0 to 1."""

    chunk: StoredChunk
    similarity: float


UnitKind: TypeAlias = Literal["rules", "proofread", "draft", "unread"]
"""What is done with a unit: the rules, the model's findings, a translation, or nothing at all
because the document cannot be read."""


class Unit(NamedTuple):
    """A part of a document that is worked on at once.

    `sentences` are the indexes [first, last) and `start`, `end` the code points that they cover.
    The first `overlap` sentences belong to the unit before it too. A unit of kind `rules` is the
    whole document, and its sentences are not counted.
    """

    kind: UnitKind
    sentences: Span
    start: int
    end: int
    overlap: int = 0


class UnitUsage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the requests for a unit cost, and how they ended.

    `truncated` when all limits are exhausted, `unanswered` when the model gave no complete response
    about a part of the unit, and `unusable` when nothing at all could be used.
    """

    requests: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    latency_ms: float = 0.0
    finish: FinishName | None = None
    truncated: bool = False
    warnings: tuple[ItemWarning, ...] = ()
    unanswered: bool = False
    unusable: bool = False


class UnitResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a unit.

    Attributes:
        items: Its items.
        doubtful: The uids of findings that are probably no mistakes; they are left out.
        ignored: How many findings comments ignore.
        fault: Why the document cannot be read.
        usage: What it cost.
    """

    items: tuple[AgentItem, ...] = ()
    doubtful: tuple[str, ...] = ()
    ignored: int = 0
    fault: str | None = None
    usage: UnitUsage = UnitUsage()


class ReviewCounts(NamedTuple):
    """The units that the model was asked about.

    Of these the cut ones and those with several requests, and of the last those with an answer.
    """

    asked: int
    truncated: int
    followed_up: int
    answered: int


RunKind: TypeAlias = Literal["review", "translate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A stored run; `request` is the JSON of its first request, times are seconds since the epoch.

    `files` are the absolute paths of its documents in order, and `salt` makes its cursors secret.
    """

    run_id: str
    kind: RunKind
    tier: str
    model: str | None
    request: str
    files: tuple[str, ...]
    salt: str
    page_items: int
    created: float


class PlannedDocument(NamedTuple):
    """A document of a run that is divided into units; `number` is its place in `files`."""

    number: int
    content_hash: str
    units: tuple[Unit, ...]


class UnitKey(NamedTuple):
    """A unit of a run: the number of its document, and its place among the units of that."""

    document: int
    place: int


class FinishedUnit(NamedTuple):
    """An entry of the list of finished units, which are numbered in the order of the work.

    A unit that the model did not answer has a further entry when it was asked about it again.
    """

    number: int
    key: UnitKey
    result: UnitResult


class UnitState(NamedTuple):
    """An entry of that list without its result; `answered` unless the model is asked again."""

    key: UnitKey
    answered: bool


class Position(NamedTuple):
    """A place in the list of finished units: after `offset` items of the entry `unit`."""

    unit: int
    offset: int


class StoredPage(NamedTuple):
    """A page: its items lie between two positions; `end` is None until it was returned."""

    start: Position
    end: Position | None
