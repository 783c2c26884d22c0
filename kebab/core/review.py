"""Declares what reviews work with.

Markup, findings, units, the surroundings of a document, the stored runs, and the port that stores
them.

Offsets are code points of `ReviewText.text` unless a docstring says otherwise.

The documents of a run are worked on in order, and the units of all of them are numbered. A document
whose language model is not available is cut: its other units are planned again as a further part
behind all documents, so that no page changes that was returned. Units that the model did not answer
are planned again in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from kebab.wire.review import AgentItem, EditName, ItemCitation, SeverityName, SideName

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from pathlib import Path

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


class FootnoteUse(NamedTuple):
    """A footnote reference, or a definition."""

    label: str
    start: int
    end: int
    is_definition: bool


class AnchorUse(NamedTuple):
    """An id that the text declares at [start, end), outside headings."""

    anchor: str
    start: int
    end: int


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
    footnotes: tuple[FootnoteUse, ...] = ()
    anchors: tuple[AnchorUse, ...] = ()
    """The ids outside headings, such as `<a id="x">`, `^block` and `(label)=`."""
    front_matter: FrontMatterUse | None = None
    code: tuple[Span, ...] = ()
    code_blocks: tuple[Span, ...] = ()


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
    encoding: str = "utf-8"
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
    cites: StoredChunk | None = None
    """The passage of another note that the finding refers to; the item gets its `cid`."""


class GlossaryTerm(NamedTuple):
    """A term of the settings: the preferred form, the forbidden ones, and its language if any."""

    preferred: str
    forbidden: tuple[str, ...]
    lang: str | None = None


class SimilarParagraph(NamedTuple):
    """A passage of another note that is nearly the same as a paragraph, from 0 to 1."""

    chunk: StoredChunk
    similarity: float


class Surroundings(Protocol):
    """What a rule may ask about the world around a document; answers are cached per run."""

    @property
    def today(self) -> date:
        """The date of the review."""

    @property
    def stale_days(self) -> int:
        """After how many days a statement `as of` a date is stale; 0 means never."""

    @property
    def has_index(self) -> bool:
        """Whether there is an index, and so may be other notes to compare a paragraph with."""

    def exists(self, path: Path | str) -> bool:
        """Return whether a file or a folder exists."""

    def list_anchors(self, path: Path) -> frozenset[str] | None:
        """Return the anchors of a text file; None when it cannot be read or has another format."""

    def find_heading(self, document: ReviewText, key: str) -> Path | None:
        """Return the only Markdown file of the same source with this heading.

        `key` has the letters and digits of the heading in one case.
        """

    def find_note(self, document: ReviewText, target: str) -> Path | None:
        """Return the file of the same source with this path, name, title or alias."""

    def list_namesakes(self, document: ReviewText, name: str) -> Sequence[Path]:
        """Return the files of the same source whose name is this one; their case may differ."""

    def find_similar(self, document: ReviewText, paragraph: str) -> SimilarParagraph | None:
        """Return the most similar passage of another note when it is nearly the same."""


UnitKind: TypeAlias = Literal[
    "rules", "import", "proofread", "detect", "fix", "draft", "revise", "check", "rate"
]
"""The stage of the work that a unit belongs to."""


class Unit(NamedTuple):
    """A part of a document that is worked on at once.

    `sentences` are the indexes [first, last) and `start`, `end` the code points that they cover.
    The first `overlap` sentences belong to the unit before it too. A unit of kind `rules` or
    `import` is the whole document, and its sentences are not counted. Kinds name the stage:
    `proofread` of a quick review, `detect` and `fix` of a deep one, and `draft`, `revise`, `check`
    and `rate` of a translation.
    """

    kind: UnitKind
    sentences: Span
    start: int
    end: int
    overlap: int = 0


class UnitUsage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the requests for a unit cost, and how they ended.

    `unanswered` when the model gave no complete response about a part of the unit, so that the unit
    is asked about again later, and `unusable` when nothing at all could be used.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency_ms: float = 0.0
    finish: Literal["stop", "length"] | None = None
    policy: Literal["first", "downshift", "split", "paged"] = "first"
    downshifts: int = 0
    repairs: int = 0
    dropped: int = 0
    truncated: bool = False
    warnings: tuple[str, ...] = ()
    unanswered: bool = False
    unusable: bool = False


class UnitResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a unit.

    Attributes:
        items: The items of this unit for good.
        carried: Items that a later unit decides on, such as those in sentences that it also has.
        citations: The passages that the items refer to.
        scores: The ratings of translated segments by `cid`.
        doubtful: The uids of findings that are probably no mistakes; they are left out.
        ignored: How many findings comments ignore.
        usage: What it cost.
    """

    items: tuple[AgentItem, ...] = ()
    carried: tuple[AgentItem, ...] = ()
    citations: tuple[ItemCitation, ...] = ()
    scores: tuple[tuple[str, float], ...] = ()
    doubtful: tuple[str, ...] = ()
    ignored: int = 0
    usage: UnitUsage = UnitUsage()


RunKind: TypeAlias = Literal["review", "translate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A stored run; `request` is the JSON of its first request, times are seconds since the epoch.

    `files` are the absolute paths of its documents in order, and `salt` makes its cursors secret.
    `updated` is when a unit was last finished.
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
    updated: float


class RunSummary(NamedTuple):
    """A stored run in a list, with the number of its documents and of what is done."""

    run_id: str
    kind: RunKind
    tier: str
    model: str | None
    request: str
    created: float
    updated: float
    documents: int
    units_done: int
    items: int
    completed: bool


class Position(NamedTuple):
    """A place between two items of a run: `offset` items of unit `unit` are before it."""

    unit: int
    offset: int


class StoredUnit(NamedTuple):
    """A unit of a run, numbered over all its documents; `result` is None until it is finished.

    `unanswered` tells that the model has to be asked about it again, in a further part that does
    not exist yet.
    """

    number: int
    document: int
    unit: Unit
    result: UnitResult | None
    unanswered: bool = False


class RulesResult(Struct, frozen=True, kw_only=True):
    """What the rules found in a file, and all that this depends on.

    Attributes:
        content_hash: The hash of the file.
        rules: A text that changes with the rules, their settings and the program.
        lang: Its language.
        place: The root of its source, its media type, its id, path and language in the
            index, and the settings of its folder.
        answers: What the rules asked for about its surroundings, with digests of the answers.
    """

    content_hash: str
    lang: str | None
    rules: str
    place: tuple[str, ...]
    unit: Unit
    result: UnitResult
    answers: tuple[tuple[tuple[str, ...], str], ...]


class StoredDocumentReview(NamedTuple):
    """A planned document of a run, or a further part of one.

    Its units have the numbers [first, first + units), and the next part begins with `next`. `file`
    is the position in `StoredRun.files`. `skipped` units of the document belong to earlier parts.
    `waiting` tells that the other units of the document need a language model, and are planned as
    a further part when there is one. `again` marks a part of units that the model did not answer.
    """

    number: int
    file: int
    first: int
    units: int
    next: int
    content_hash: str
    skipped: int = 0
    waiting: bool = False
    again: bool = False


class StoredPage(NamedTuple):
    """A page that was returned: its items lie between two positions; `forced` ended it early."""

    start: Position
    end: Position
    forced: bool
    retries: int


class WorkCounts(NamedTuple):
    """The finished work of one kind and tier in a period; it outlives the runs.

    `answered` is the number of items of units with a request, and `latency_ms` the time of all
    requests.
    """

    kind: RunKind
    tier: str
    runs: int
    units: int
    items: int
    answered: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    latency_ms: float
    downshifts: int
    forced_pages: int
    cursor_retries: int
    json_repairs: int


class ReviewStore(Protocol):
    """Stores runs. Every write is one transaction; what is stored first stays."""

    def add_run(self, run: StoredRun) -> None:
        """Store a new run, and delete those that were not used within the age limit."""

    def load_run(self, run_id: str) -> StoredRun | None:
        """Return a run, or None."""

    def list_runs(self) -> list[RunSummary]:
        """Return every run, the newest first."""

    def add_document(
        self,
        run_id: str,
        document: StoredDocumentReview,
        units: Sequence[Unit],
        results: Sequence[UnitResult] = (),
    ) -> bool:
        """Store the plan of a document with the results of its first units.

        A part of the same document that was waiting no longer waits, and units of the document
        that are planned again are no longer unanswered. Nothing happens, and False is returned,
        when there is a part with this number.
        """

    def list_documents(self, run_id: str) -> list[StoredDocumentReview]:
        """Return the documents of a run that have a plan, in order."""

    def cut_document(self, run_id: str, number: int) -> None:
        """Take the unfinished units out of a part, which is waiting from now on if it had any."""

    def load_unit(self, run_id: str, number: int) -> StoredUnit | None:
        """Return a unit, or None when there is none with this number."""

    def list_units(self, run_id: str, first: int, end: int) -> list[StoredUnit]:
        """Return the units with the numbers [first, end), in order."""

    def list_unanswered(self, run_id: str) -> list[StoredUnit]:
        """Return the units that the model has to be asked about again, in order."""

    def finish_unit(self, run_id: str, number: int, result: UnitResult) -> UnitResult | None:
        """Store the result of a unit, and return the one that is stored, perhaps an earlier one.

        None is returned when the unit was cut off meanwhile, or the run deleted.
        """

    def add_cursor(self, run_id: str, cursor: str, position: Position) -> None:
        """Store what a cursor means."""

    def find_cursor(self, run_id: str, cursor: str) -> Position | None:
        """Return what a cursor of a run means, or None."""

    def add_page(self, run_id: str, page: StoredPage) -> StoredPage:
        """Store where a page ends, and return the stored page with the same start.

        A page that was stored before counts one more retry.
        """

    def find_page(self, run_id: str, start: Position) -> StoredPage | None:
        """Return the page that begins at a position, or None."""

    def find_rules_result(self, file: str) -> RulesResult | None:
        """Return what the rules found in a file the last time, or None."""

    def add_rules_results(self, results: Sequence[tuple[str, RulesResult]]) -> None:
        """Store what the rules found in files, instead of what they found before."""

    def delete_run(self, run_id: str) -> bool:
        """Delete a run with all that belongs to it; return whether there was one."""

    def count_work(self, since: float | None = None) -> list[WorkCounts]:
        """Return the work since a time, in whole minutes, by kind and tier."""
