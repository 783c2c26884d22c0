"""The facade: every surface calls these methods, and gets the object that `--json` prints."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kebab.app.requests import FetchOptions, IngestOptions, ListOptions, TextOptions
from kebab.config.model import Settings
from kebab.core.cancel import Cancel
from kebab.core.progress import Report, silent
from kebab.wire.error import ErrorCatalog
from kebab.wire.health import Doctor, InitReport, ResetReport
from kebab.wire.ingest import IngestReport
from kebab.wire.introspect import Introspection
from kebab.wire.library import (
    ChunkInspection,
    DocInspection,
    DocList,
    FetchResult,
    NotFound,
    RemoveReport,
)
from kebab.wire.model import ModelList, ModelReport
from kebab.wire.search import BulkSearchItem, SearchRequest, SearchResponse


class Kebab:
    """One knowledge base. Stores and models are opened when a method first needs them.

    Use it as a context manager, or call `close`. All methods raise the signals of
    `kebab.errors.catalog`.
    """
