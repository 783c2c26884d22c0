"""Queries: what is asked of the index, already checked."""

from dataclasses import dataclass, field
from enum import StrEnum


class Mode(StrEnum):
    """Which channels answer a search."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    VECTOR = "vector"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions on the documents that may answer: all must hold, repeated values are alternatives.

    `since` (inclusive) and `until` (exclusive) bound the file's modification time, in seconds
    since the epoch. `path_glob` uses `*` (within a folder), `**` and `?`.
    """

    tag: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    path_glob: str | None = None
    source: tuple[str, ...] = ()
    doc_id: str | None = None
    since: float | None = None
    until: float | None = None

    @property
    def active(self) -> bool:
        """Whether any condition is set."""
        return self != Filters()


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One search; in prose words may be quoted, and nothing else in the text is an operator."""

    text: str
    prose: bool = False
    mode: Mode = Mode.HYBRID
    limit: int = 10
    offset: int = 0
    filters: Filters = field(default_factory=Filters)
    per_doc: int | None = None
    snippet_chars: int = 240
    max_tokens: int | None = None
    trace: bool = False
