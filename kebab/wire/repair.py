"""Declares the requests and reports of `doctor --fix` and `verify` as wire records."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from kebab.wire.health import Doctor
from kebab.wire.record import Hinted, Reply, Request

RepairOutcome = Literal["planned", "repaired", "refused", "failed"]
RepairKind = Literal[
    "permissions", "database", "reviews", "vectors", "embedding_files", "leftovers"
]


class Repair(Hinted, frozen=True, kw_only=True):
    """A fault that was found, and what is or was done about it."""

    kind: RepairKind
    """What is repaired."""
    check: str
    """The check of `doctor` that finds the fault, and that must find nothing afterwards."""
    summary: str
    """The fault in one sentence."""
    action: str
    """What would be or was done, in one sentence."""
    outcome: RepairOutcome
    """`planned` was not tried. `repaired` means that the check finds nothing wrong any more.
    `refused` means that nothing was changed, `failed` that the fault is still there; `reason` says
    why."""
    drops: bool = False
    """Whether the repair replaces or deletes files with content, so that a copy is made before."""
    bytes: int = 0
    """The size of the files that are replaced or deleted."""
    reason: str | None = None
    """Why it was refused or failed; null otherwise."""
    hint: str | None = None
    """The command that helps then; null when there is none."""


class RepairCopy(Hinted, frozen=True, kw_only=True):
    """The copy of the index before the repairs."""

    path: str
    """Its folder."""
    bytes: int
    """Its size."""
    hint: str | None
    """The command that puts it back; null when it would be too long."""


class LostText(Struct, frozen=True, kw_only=True):
    """A document that lost passages and whose file is gone, so that it cannot be read again."""

    doc_path: str
    """The path of its file."""
    passages: int
    """How many of its passages are left in the index."""


class RepairReport(Reply, frozen=True, kw_only=True, tag="repair_report.v1"):
    """The result of `doctor --fix`."""

    ok: bool
    """Whether no check of `health` failed."""
    dry_run: bool
    """Whether nothing was changed, because the caller only wants to see the plan."""
    cancelled: bool = False
    """Whether the caller stopped the repairs; a further call does what is left."""
    repairs: list[Repair]
    """Every fault that has a repair, in the order of the repairs."""
    copy: RepairCopy | None = None
    """The copy of the index; null when nothing was dropped."""
    read_again: int = 0
    """The number of documents whose files are read again because their rows are damaged."""
    lost: list[LostText] = field(default_factory=list)
    """The documents that lost passages for good; the old text is in the copy only."""
    unplaced: int = 0
    """The number of passages whose document is not known any more; they are in the copy only."""
    health: Doctor
    """What `doctor` finds: after the repairs, and without them for a dry run."""


class RepairRequest(Request["RepairReport"], frozen=True, kw_only=True, tag="repair_request.v1"):
    """Repair what `doctor` finds."""

    dry_run: bool = False
    """Whether to report only what would be done."""
    sources: list[str] = field(default_factory=list)
    """Folders or files that were indexed, for an index that does not tell any more."""


VerifyKind = Literal["changed", "same_size", "gone", "unreadable", "passages"]


class Difference(Struct, frozen=True, kw_only=True):
    """A document that differs from its file, or whose passages are not what was indexed."""

    kind: VerifyKind
    """`changed`: the file has another size. `same_size`: only its content differs. `gone`: there is
    no file. `unreadable`: it cannot be read. `passages`: the file is equal, but the stored passages
    are damaged or do not stand in it."""
    doc_id: str
    """The id of the document."""
    doc_path: str
    """The path of the document, below its source."""
    source: str
    """The name of the source."""
    detail: str | None = None
    """What exactly differs; null when the kind says it."""


class VerifyCounts(Struct, frozen=True, kw_only=True):
    """The number of documents of each kind; they are complete, whatever is listed."""

    equal: int = 0
    """Documents whose file has the content that was indexed, and whose passages stand in it."""
    changed: int = 0
    """Documents whose file has another size."""
    same_size: int = 0
    """Documents whose file has the same size and another content."""
    gone: int = 0
    """Documents whose file does not exist."""
    unreadable: int = 0
    """Documents whose file cannot be read."""
    passages: int = 0
    """Documents with damaged passages."""


class VerifyReport(Reply, frozen=True, kw_only=True, tag="verify_report.v1"):
    """The result of `verify`."""

    equal: bool
    """Whether every document equals its file and everything was compared."""
    cancelled: bool = False
    """Whether the caller stopped it; the counts are those of the documents so far."""
    documents: int
    """The number of documents that were compared."""
    bytes: int
    """The number of bytes that were read."""
    counts: VerifyCounts
    """The number of documents of each kind."""
    differences: list[Difference]
    """The first differences, by source and path."""
    left_out: int = 0
    """The number of differences that are not listed."""
    passages: int
    """The number of passages that were compared with their hashes."""
    vectors: int
    """The number of these passages that have a vector according to the database."""
    missing_vectors: int
    """The number of these that the vector index lacks."""
    pending_vectors: int
    """The number of passages that wait for a vector."""


class VerifyRequest(Request["VerifyReport"], frozen=True, kw_only=True, tag="verify_request.v1"):
    """Compare the index with the files."""

    paths: list[str] = field(default_factory=list)
    """Folders or files; empty means every document."""
    limit: Annotated[int, Meta(ge=0)] = 20
    """How many differences are listed."""
