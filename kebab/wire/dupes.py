"""Duplicates: groups of documents and passages that say the same, or nearly."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from kebab.wire.citation import Citation, Freshness
from kebab.wire.record import Record, Reply
from kebab.wire.search import Unit

GroupUnit = Literal["document", "passage"]


class DuplicateMember(Struct, frozen=True, kw_only=True):
    """One document or passage of a group."""

    similarity: Unit
    """How much it shares with the first member: the Jaccard index of their word triples."""
    exact: bool
    """Whether it equals the first member: a document byte for byte, a passage letter for letter."""
    doc_id: str
    """The document."""
    doc_path: str
    """Its path below its source, exactly as on disk."""
    file: str | None
    """Where its file lies, absolute; null for text from standard input."""
    source: str
    """The name of its source."""
    title: str
    """Its title."""
    chunk_id: str | None
    """The passage; null when the whole document is a duplicate."""
    heading_path: list[str]
    """The headings that lead to the passage; empty for a document."""
    citation: Citation
    """Where it stands: of a document from its first passage to its last."""
    freshness: Freshness
    """The file on disk against what was indexed."""


class DuplicateGroup(Record, frozen=True, kw_only=True, tag="duplicate_group.v1"):
    """Members that are all like the first one."""

    unit: GroupUnit
    """What the members are."""
    kind: Literal["exact", "near"]
    """Whether all equal the first member."""
    similarity: Unit
    """The least similarity of a member to the first one."""
    snippet: str
    """How the first member begins."""
    members: list[DuplicateMember]
    """At least two, by source and path."""


class Duplicates(Reply, frozen=True, kw_only=True, tag="duplicates.v1"):
    """A page of groups: documents before passages, the most alike first."""

    threshold: Unit
    """The similarity that counted as a near copy; 1 when only exact copies did."""
    exact: bool
    """Whether only exact copies were asked for."""
    groups: list[DuplicateGroup]
    """This page. Passages that repeat only because their documents do are left out."""
    total: Annotated[int, Meta(ge=0)]
    """How many groups there are in all."""
    has_more: bool
    """Whether there are more."""
    next_cursor: str | None
    """What to ask with for the next page; null at the end."""
    compared: Annotated[int, Meta(ge=0)]
    """How many passages were compared."""
    corpus_revision: int
    """The state of the index that answered."""
    timing_ms: float
    """How long it took."""
