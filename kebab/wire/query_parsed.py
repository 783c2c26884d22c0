"""Declares how the text of a query was read."""

import msgspec
from msgspec import UNSET, Struct, UnsetType


class ActiveFilters(Struct, frozen=True, kw_only=True):
    """The filters of a search that are set, from its flags and from its text."""

    tag: list[str] | UnsetType = UNSET
    """Only documents with one of these tags."""
    lang: list[str] | UnsetType = UNSET
    """Only documents in one of these languages."""
    media: list[str] | UnsetType = UNSET
    """Only documents of one of these media types."""
    path_glob: str | UnsetType = UNSET
    """Only documents whose path matches."""
    source: list[str] | UnsetType = UNSET
    """Only documents of one of these sources."""
    doc_id: str | UnsetType = UNSET
    """Only this document."""
    folder: str | UnsetType = UNSET
    """Only documents below this folder."""
    author: list[str] | UnsetType = UNSET
    """Only documents by one of these authors."""
    links_to: str | UnsetType = UNSET
    """Only documents that link to this one."""
    since: str | UnsetType = UNSET
    """Only documents dated at or after this time, RFC 3339."""
    until: str | UnsetType = UNSET
    """Only documents dated before this time, RFC 3339."""


class QueryParsed(Struct, frozen=True, kw_only=True):
    """How the text of a query was read."""

    terms: list[str] = msgspec.field(default_factory=list)
    """The words that are searched for, as they are written, without stop words."""
    phrases: list[str] = msgspec.field(default_factory=list)
    """The phrases that a passage must hold; a phrase of one field is `title:phrase`."""
    excluded: list[str] = msgspec.field(default_factory=list)
    """The words and phrases that no passage may hold."""
    filters: ActiveFilters = ActiveFilters()
    """The filters that are set."""
