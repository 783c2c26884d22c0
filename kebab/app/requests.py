"""What surfaces ask of the facade, where the wire has no request of its own."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kebab.core.query import Filters

if TYPE_CHECKING:
    from kebab.wire.search import SearchRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """A run: `paths` are folders or files; none means the workspace, or all known folders."""

    paths: tuple[str, ...] = ()
    force: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """Text from standard input that becomes a document of its own."""

    text: bytes
    title: str
    source_uri: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """Which documents to list."""

    filters: Filters = field(default_factory=Filters)
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedOptions:
    """Whose neighbours: `name` is an id, a unique beginning of one, or a path."""

    name: str
    filters: Filters = field(default_factory=Filters)
    limit: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyOptions:
    """Why a document answers a request or not: `name` is an id, the beginning of one, or a path."""

    name: str
    request: "SearchRequest"


@dataclass(frozen=True, slots=True, kw_only=True)
class DupesOptions:
    """Which copies: `threshold` is the least similarity, unless only `exact` ones count."""

    filters: Filters = field(default_factory=Filters)
    threshold: float = 0.7
    exact: bool = False
    limit: int = 20
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """Which lines to fetch: `name` is an id, a unique beginning of one, or a path.

    A span needs `start`; without `end` it is one line. `context` adds lines on both sides.
    """

    name: str
    start: int | None = None
    end: int | None = None
    context: int = 0
    max_chars: int | None = None
