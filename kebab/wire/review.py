"""Declares reviews and translations as wire records: requests, pages, runs and fixes.

A finding names its place by numbers and copies no text. Sentences are counted from 0 by
`kebab.text.sentences`, characters as UTF-16 code units of the file, its own line ends included and
without a byte order mark.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from kebab.wire.record import Count, FinishName, LookupRequest, Positive, Reply
from kebab.wire.search import DegradedChannel, Unit

MAX_PAGE_ITEMS = 1000
TRANSLATION = "translation"
"""The kind of items that are translated segments and no findings."""
MAX_REASON_CHARS = 160
MAX_NOTE_CHARS = 120

SeverityName = Literal["error", "warning", "suggestion"]
EditName = Literal["replace", "insert", "delete", "note"]
SideName = Literal["src", "tgt", "both"]
ReviewTierName = Literal["quick", "deep"]
TierName = Literal["quick", "deep", "draft"]
FailOnName = Literal["error", "warning", "suggestion", "never"]
ItemWarning = Literal[
    "downshift_exhausted",
    "items_dropped",
    "no_model_text",
    "run_not_stored",
    "unit_incomplete",
]
KindName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]


class ReviewRequest(
    LookupRequest["AgentItems"], frozen=True, kw_only=True, tag="review_request.v1"
):
    """Documents to review, or the next page of a review that is stored."""

    names: list[str] = msgspec.field(default_factory=list)
    """Files, folders and patterns such as `notes/**/*.md`; empty with `run_id`."""
    tier: ReviewTierName = "quick"
    """What the language model looks for: `quick` finds spelling, grammar, punctuation and
    terminology, `deep` also style."""
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE_ITEMS)] | None = None
    """The maximum number of items on a page; null means the most that one request to the model may
    return, 32 for `quick` and 48 for `deep`. The pages of a run keep the limit of the first."""
    run_id: str | None = None
    """The run to continue, or to read again from its first page."""
    cursor: str | None = None
    """The `next_cursor` of a page of the run."""
    rules: list[str] | None = None
    """The rules to apply; null means all that the settings do not switch off."""
    no_llm: bool = False
    """Whether to apply the rules only, without a language model."""
    model: str | None = None
    """The language model; null means the model of the settings. A model that is named, or that the
    tier `deep` needs, must answer; otherwise the rules go on alone, and `degraded` says so."""
    fail_on: FailOnName = "suggestion"
    """The least severity of a finding that makes the exit status 1."""
    all_pages: bool = False
    """Whether to work until all documents are done. The events carry every page, and the reply is
    the last one. Otherwise the work ends as soon as the page is full."""
    changed: str | None = None
    """A revision of git, such as `HEAD` or `main`; then only files and lines are reviewed that
    changed since its merge base with `HEAD`, those of new files included."""


class TranslateRequest(
    LookupRequest["AgentItems"], frozen=True, kw_only=True, tag="translate_request.v1"
):
    """A document to translate, or the next page of a translation that is stored."""

    name: str | None = None
    """The path of a file; null with `run_id`."""
    to: str | None = None
    """The language of the translation, such as `ko` or `pt-BR`; null with `run_id`."""
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE_ITEMS)] | None = None
    """The maximum number of items on a page; null means 32."""
    run_id: str | None = None
    """The run to continue, or to read again from its first page."""
    cursor: str | None = None
    """The `next_cursor` of a page of the run."""
    model: str | None = None
    """The language model; null means the model of the settings."""
    fail_on: FailOnName = "error"
    """The least severity of a finding that makes the exit status 1; translated segments are no
    findings."""
    all_pages: bool = False
    """Whether to work until the document is done. The events carry every page, and the reply is
    the last one."""
    with_text: bool = False
    """Whether the last page carries the translated document."""


class ItemFix(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to put in the place of the text."""

    text: str
    """The text that replaces `o`, or that is inserted there; empty to delete."""
    note: Annotated[str, Meta(max_length=MAX_NOTE_CHARS)] | UnsetType = UNSET
    safe: bool | UnsetType = UNSET
    """Whether the fix is certain; without it, the fix is written on request only."""


class AgentItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finding, or a translated segment. Its place is in numbers, and no text is copied."""

    uid: Annotated[str, Meta(pattern="^[0-9a-f]{40}$")]
    """The SHA-1 of `k|i|o|rule_id`, such as `spelling|3,3|120,127|`: the same finding has the same
    id in every run over the same text."""
    k: KindName
    """The kind, such as `spelling`, `grammar` or `link`."""
    s: SeverityName
    r: Annotated[str, Meta(max_length=MAX_REASON_CHARS)]
    """The reason in one sentence."""
    t: EditName
    """What to do with the text at `o`; a `note` changes nothing."""
    i: tuple[Count, Count]
    """The first and the last sentence, from 0, both inclusive."""
    o: tuple[Count, Count]
    """The text, as [start, end) UTF-16 code units; both are the same for an insertion."""
    cid: str | UnsetType = UNSET
    """The segment of a translation."""
    rule_id: str | UnsetType = UNSET
    """The rule; findings of the language model have none."""
    conf: Unit | UnsetType = UNSET
    """How sure the finding is."""
    lang: str | UnsetType = UNSET
    """The language of the text, or of the translation."""
    side: SideName | UnsetType = UNSET
    """Whether a translated segment, its source, or both are meant."""
    fix: ItemFix | UnsetType = UNSET


class ItemStats(Struct, frozen=True, kw_only=True):
    """The size of a page."""

    item_count: Count
    avg_item_bytes: float
    """The mean size of an item in bytes of JSON; 0 without items."""


class ReviewedDocument(Struct, frozen=True, kw_only=True):
    """The document that the items of a page are about."""

    doc_id: str | None
    """The id of the document; null when it is not in the index."""
    doc_path: str
    """The path of the document below its source; as it was given when it is not in the index."""
    file: str
    """The absolute path of the file."""
    media: str
    lang: str | None
    content_hash: str
    """The BLAKE2b hash of the file that was reviewed, 64 hex digits."""
    index: Count
    """The position of the document in the run, from 0."""
    of: Positive
    """The number of documents in the run."""


class TranslatedText(Struct, frozen=True, kw_only=True):
    """A translated document. What is no prose, such as code and targets of links, is as it was."""

    text: str
    segments: Count
    translated: Count
    """The number of segments that are translated; the others are as in the source."""
    findings: list[AgentItem]
    """The segments whose translation was left out, because it changes the structure of the
    document."""


class AgentItems(Reply, frozen=True, kw_only=True, tag="agent_items.v2"):
    """A page of a review or a translation."""

    version: Literal["v2"] = "v2"
    run_id: str
    """The run, which is stored; the same run and cursor give the same items."""
    chunk_id: str
    """Where the page begins: `chunk-N` for a review, `stage:RUN` or `stage:RUN:CURSOR` for a
    translation."""
    tier: TierName
    model: str | None
    """The language model; null when none was asked."""
    document: ReviewedDocument | None
    """The document that the items are about; null when there was nothing to review."""
    latency_ms: float
    """The time that the requests to the model took."""
    prompt_tokens: Count | None
    """The tokens that the model read; null when the server did not count all of them."""
    completion_tokens: Count | None
    """The tokens that the model wrote; null when the server did not count all of them."""
    finish_reason: FinishName | None
    """Why the model stopped, as its server says: that of a response without its end if there is
    one, null when the server says nothing."""
    truncated: bool
    """Whether responses were cut off under every limit, so that findings are missing."""
    partial: bool
    """Whether units of the run are still to be worked on, also those that the model did not
    answer; a request that continues the run asks it again."""
    warnings: list[ItemWarning]
    """What to know about the page."""
    degraded: list[DegradedChannel]
    """What was not available, such as the language model."""
    index_base: Literal[0] = 0
    """Sentences and characters are counted from 0."""
    offset_semantics: Literal["[start,end)"] = "[start,end)"
    """The end of a range is not part of it; offsets are UTF-16 code units of the file."""
    stats: ItemStats
    items: list[AgentItem]
    """The items of one document, in the order in which they were found."""
    unanswered_count: Count = 0
    """On the last page, how many parts of the text of the whole run the model did not answer."""
    model_required: bool = False
    """Whether the model was asked for by name, so that text without an answer makes the exit status
    1."""
    fail_on: FailOnName
    """The least severity that makes the exit status 1."""
    doubtful: Count = 0
    """The number of findings that are left out, because so many links of their kind lead nowhere in
    the source that its build probably makes the targets. With names of rules none is left out."""
    ignored: Count = 0
    """The number of findings that comments in the text ignore."""
    has_more: bool
    next_cursor: str | None
    translation: TranslatedText | UnsetType = UNSET
    """The translated document: on the last page of a translation, if it was asked for."""


class ReviewApplyRequest(
    LookupRequest["ReviewApplied"], frozen=True, kw_only=True, tag="review_apply_request.v1"
):
    """Fixes of a run to write into the files that were reviewed."""

    run_id: str
    """The run."""
    uids: list[str] | None = None
    """The items whose fixes are applied, certain or not; null means all whose fix is certain."""
    unsafe: bool = False
    """Whether fixes that are not certain are applied, too."""
    dry_run: bool = False


class AppliedFile(Struct, frozen=True, kw_only=True):
    """A file whose fixes were applied, or would be."""

    file: str
    """The absolute path of the file."""
    backup: str | None
    """The absolute path of the copy of the original; null for a dry run."""
    applied: Count
    overlapping: Count
    """The number of fixes that were left out, because an earlier one changes the same text."""
    diff: str
    """The differences in the unified format."""


class ReviewApplied(Reply, frozen=True, kw_only=True, tag="review_applied.v1"):
    """What applying the fixes of a run changed."""

    run_id: str
    dry_run: bool
    files: list[AppliedFile]
    waiting: Count = 0
    """The number of fixes that were left out, because they are not certain."""
    refused: Count = 0
    """The number of fixes that were left out, because they would change code, lose a block or a
    link, or lead to another error."""
