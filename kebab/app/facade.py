"""The facade: every surface calls these methods, and gets the object that `--json` prints."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kebab.app.compose import Workshop
from kebab.config.model import Settings
from kebab.core.cancel import Cancel
from kebab.core.progress import Report, silent

if TYPE_CHECKING:
    from kebab.app.requests import (
        DupesOptions,
        FetchOptions,
        IngestOptions,
        ListOptions,
        RelatedOptions,
        TextOptions,
        WhyOptions,
    )
    from kebab.wire.ask import Answer, AnswerEvent, AskRequest
    from kebab.wire.dupes import Duplicates
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
    from kebab.wire.related import RelatedDocs
    from kebab.wire.search import BulkSearchItem, SearchRequest, SearchResponse
    from kebab.wire.session import SessionList, SessionRemoved, SessionTranscript
    from kebab.wire.why import Explanation


class Kebab:
    """One knowledge base. Stores and models are opened when a method first needs them.

    Use it as a context manager, or call `close`. All methods raise the signals of
    `kebab.errors.catalog`.
    """

    def __init__(self, settings: Settings, *, config_path: Path, read_only: bool = False) -> None:
        self._shop = Workshop(settings, config_path=config_path, read_only=read_only)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what stays open between calls."""
        self._shop.close()

    def search(self, request: "SearchRequest") -> "SearchResponse":
        """Return one page of hits."""
        from kebab.app.search import search

        return search(self._shop, request)

    def bulk(self, lines: Iterable[bytes]) -> "Iterator[BulkSearchItem]":
        """Yield the answer to each line: a JSON string or a search request."""
        from kebab.app.bulk import bulk

        return bulk(self._shop, lines)

    def ask(
        self, request: "AskRequest", tell: "Callable[[AnswerEvent], None]" = lambda _: None
    ) -> "Answer":
        """Return an answer with its citations, or a refusal; `tell` gets events as they come.

        `final` and `error` are not among them. After the first token a `KeyboardInterrupt` ends
        the server's work and gives the answer so far, refused as `llm_stream_aborted`.
        """
        from kebab.app.ask import ask

        return ask(self._shop, request, tell)

    def sessions(self) -> "SessionList":
        """Return every session."""
        from kebab.app.sessions import sessions

        return sessions(self._shop)

    def session(self, name: str) -> "SessionTranscript | NotFound":
        """Return a session with its turns."""
        from kebab.app.sessions import transcript

        return transcript(self._shop, name)

    def forget_sessions(self, names: Sequence[str]) -> "SessionRemoved | NotFound":
        """Forget sessions; when one is unknown none is forgotten."""
        from kebab.app.sessions import forget

        return forget(self._shop, names)

    def ingest(
        self, options: "IngestOptions", report: Report = silent, cancel: Cancel | None = None
    ) -> "IngestReport":
        """Bring the index up to date with the files."""
        from kebab.app.ingest import ingest

        return ingest(self._shop, options, report, cancel or Cancel())

    def ingest_text(
        self, options: "TextOptions", report: Report = silent, cancel: Cancel | None = None
    ) -> "IngestReport":
        """Index text that is no file."""
        from kebab.app.ingest import ingest_text

        return ingest_text(self._shop, options, report, cancel or Cancel())

    def list_documents(self, options: "ListOptions") -> "DocList":
        """Return a part of the list of documents."""
        from kebab.app.library import documents

        return documents(self._shop, options)

    def inspect_doc(self, name: str) -> "DocInspection | NotFound":
        """Return all that is known of a document."""
        from kebab.app.library import inspect_doc

        return inspect_doc(self._shop, name)

    def inspect_chunk(self, name: str) -> "ChunkInspection | NotFound":
        """Return all that is known of a passage."""
        from kebab.app.library import inspect_chunk

        return inspect_chunk(self._shop, name)

    def related(self, options: "RelatedOptions") -> "RelatedDocs | NotFound":
        """Return the nearest documents."""
        from kebab.app.related import related

        return related(self._shop, options)

    def why(self, options: "WhyOptions") -> "Explanation | NotFound":
        """Return why a document is among the hits of a search, or where it was lost."""
        from kebab.app.why import why

        return why(self._shop, options)

    def dupes(self, options: "DupesOptions", report: Report = silent) -> "Duplicates":
        """Return a page of groups of copies."""
        from kebab.app.dupes import dupes

        return dupes(self._shop, options, report)

    def fetch_chunk(self, options: "FetchOptions") -> "FetchResult | NotFound":
        """Return the lines of a passage."""
        from kebab.app.fetch import fetch_chunk

        return fetch_chunk(self._shop, options)

    def fetch_doc(self, options: "FetchOptions") -> "FetchResult | NotFound":
        """Return a whole file."""
        from kebab.app.fetch import fetch_doc

        return fetch_doc(self._shop, options)

    def fetch_span(self, options: "FetchOptions") -> "FetchResult | NotFound":
        """Return lines of a file."""
        from kebab.app.fetch import fetch_span

        return fetch_span(self._shop, options)

    def remove(self, names: Sequence[str]) -> "RemoveReport | NotFound":
        """Take documents out of the index."""
        from kebab.app.library import remove

        return remove(self._shop, names)

    def plan_reset(self, *, models: bool) -> "ResetReport":
        """Return what a reset would delete."""
        from kebab.app.reset import plan

        return plan(self._shop, models=models)

    def reset(self, *, models: bool) -> "ResetReport":
        """Delete everything that kebab made."""
        from kebab.app.reset import reset

        return reset(self._shop, models=models)

    def doctor(self) -> "Doctor":
        """Return the health of the knowledge base and of what it needs."""
        from kebab.app.health import doctor

        return doctor(self._shop)

    def introspect(self) -> "Introspection":
        """Return what this build is, can do and holds."""
        from kebab.app.introspect import introspect

        return introspect(self._shop)

    def init(self, *, workspace: str | None, force: bool) -> "InitReport":
        """Write the settings file and make the data directory."""
        from kebab.app.init import init

        return init(self._shop, workspace=workspace, force=force)

    def models(self) -> "ModelList":
        """Return every embedding model."""
        from kebab.app.models import models

        return models(self._shop)

    def pull(
        self, name: str, report: Report = silent, cancel: Cancel | None = None
    ) -> "ModelReport":
        """Fetch the weights of a model."""
        from kebab.app.models import pull

        return pull(self._shop, name, report, cancel or Cancel())

    def use(
        self, name: str, report: Report = silent, cancel: Cancel | None = None
    ) -> "ModelReport":
        """Change the model of the knowledge base."""
        from kebab.app.models import use

        return use(self._shop, name, report, cancel or Cancel())
