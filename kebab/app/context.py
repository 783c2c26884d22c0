"""Builds the stores and models of the operations. Only this package imports adapters."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kebab.config.settings import AUTO, Paths, Settings, is_address, resolve_paths
from kebab.core.documents import EMBEDDING_VERSION, PLUGIN_FORMATS, PUBLISHED_BASES
from kebab.core.files import IMAGE, OcrSettings, ScanRules
from kebab.core.media import READABLE_NAMES
from kebab.errors.catalog import (
    ConfigInvalid,
    InvalidInput,
    IoError,
    Locked,
    NotIndexed,
    ReadOnly,
    StoreCorrupt,
)
from kebab.errors.hints import NOT_UTF8
from kebab.errors.system import escape_undecodable, resolve_path, translate_os_errors
from kebab.platform import create_folder, limit_blas_threads, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kebab.app.masking import SecretMask
    from kebab.app.model_adapters import Embedders
    from kebab.chunk.budget import Budget
    from kebab.config.load import SettingsReport
    from kebab.core.chunks import Matrix
    from kebab.core.ports import Embedder, Parser
    from kebab.store.published_copy import PublishedCopy
    from kebab.store.sqlite.catalogue import Catalogue
    from kebab.store.sqlite.reader import QueryCache, SqliteReader
    from kebab.store.sqlite.reviews import SqliteReviewStore
    from kebab.store.sqlite.sessions import SqliteSessionStore
    from kebab.store.sqlite.writer import SqliteWriter
    from kebab.store.vectors import LanceVectors, MappedVectors
    from kebab.wire.published import Registration

LOCAL = "local"
"""The name of the knowledge base itself in `base`."""
MERGED = frozenset({"search", "ask"})
"""The operations that read several bases at once; any other reads one."""
UNUSABLE = (IoError, Locked, NotIndexed, StoreCorrupt)
"""Why an index, or a database beside it, cannot be read at present."""
_DEFAULT_DIMENSION = 384
_DIMENSION = re.compile(r"-(\d+)-v\d+$")
"""Matches the dimension in an embedding version."""


def format_index_version(embedding_version: str | None) -> str:
    """Return the label of the vector index of an embedding version.

    Without vectors it names the default dimension.
    """
    return f"lance-flat-l2-{parse_dimension(embedding_version) or _DEFAULT_DIMENSION}-v1"


def parse_dimension(embedding_version: str | None) -> int:
    """Return the dimension that an embedding version names, 0 without one."""
    dimension = _DIMENSION.search(embedding_version or "")
    return int(dimension[1]) if dimension else 0


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()


class AppContext:
    """The paths, stores and models of one knowledge base, each opened on first use.

    Raises:
        ConfigInvalid: The settings name an embedding model that does not exist.
    """

    published: "PublishedCopy | None" = None
    """The copy of the published base that the settings name in place of a folder."""

    def __init__(
        self,
        settings: Settings,
        *,
        config_path: Path,
        read_only: bool = False,
        report: "SettingsReport | None" = None,
        embedders: "Embedders | None" = None,
        is_owner: bool = True,
    ) -> None:
        limit_blas_threads()
        if is_address(settings.data_dir):
            from kebab.store.published_copy import PublishedCopy

            self.published = PublishedCopy(settings)
            # The stored vectors tell the model, and nothing is written.
            settings, read_only = self.published.settings, True
        if embedders:
            self.embedders = embedders
        self.settings = settings
        self.report = report
        self.config_path = config_path
        self.read_only = read_only
        self.base: str | None = None
        """The name of a published base among those that another knowledge base lists."""
        self.is_owner = is_owner
        """Whether the caller is the user of the files; a client of a server is not."""
        self.clock = SystemClock()
        self.model_windows: dict[str, int] = {}
        """The windows that model servers told, by the name of the model."""
        self._indexes: dict[str, MappedVectors] = {}
        self._vectors: dict[str, LanceVectors] = {}
        if settings.models.embedding.model != AUTO:
            try:
                _ = self.embedders
            except ConfigInvalid as fault:
                if self.report is None:
                    raise
                self.report = self.report._replace(faults=(*self.report.faults, fault))
                from kebab.config.load import replace_setting

                self.settings = replace_setting(self.settings, "models.embedding.model", AUTO)

    @cached_property
    def paths(self) -> Paths:
        """The folders of the knowledge base.

        Raises:
            ConfigInvalid: A name is not valid UTF-8, so SQLite and JSON cannot store it.
        """
        paths = resolve_paths(self.settings)
        if self.published:
            paths = paths._replace(data=self.published.open(self.clock.now()))
        for path in (paths.data, paths.models, self.config_path):
            if escape_undecodable(str(path)) != str(path) or "\0" in str(path):
                raise ConfigInvalid(path=resolve_path(path), cause=NOT_UTF8)
        return paths

    def follow_published(self) -> None:
        """Use the current snapshot if this is the copy of a published base."""
        if self.published and self.published.has_changed(self.clock.now()):
            self.use_index(None)

    def use_index(self, data: Path | None) -> None:
        """Read another data folder from now on; None means that of the settings."""
        paths = self.paths
        self.close()
        for name in ("paths", "session_store", "cache"):
            self.__dict__.pop(name, None)
        if data is not None:
            self.__dict__["paths"] = paths._replace(data=data)

    @property
    def log(self) -> Path:
        """The log of errors; it is readable even if another folder has an invalid name."""
        return resolve_paths(self.settings).log

    @cached_property
    def masks(self) -> "SecretMask":
        """What masks secrets in replies."""
        from kebab.app.masking import SecretMask

        return SecretMask(enabled=self.settings.output.mask_secrets)

    def list_folders(self) -> list[str]:
        """Return the indexed folders; none without an index that can be read."""
        try:
            with self.open_reader() as reader:
                sources = self.build_catalogue(reader).list_sources()
        except UNUSABLE:
            return []
        return [one.root for one in sources if one.kind == "folder"]

    def refuse_when_read_only(self, operation: str) -> None:
        """Raise `ReadOnly` when writing is switched off."""
        if self.read_only:
            raise ReadOnly(operation=operation, published=self.published is not None)

    @property
    def database(self) -> Path:
        """The path of the database."""
        from kebab.store.sqlite.connection import get_database_path

        return get_database_path(self.paths.data)

    def open_reader(self) -> "SqliteReader":
        """Open a snapshot of the library; the caller closes it.

        Raises:
            NotIndexed: There is no library that this version can read.
        """
        from kebab.store.sqlite.reader import SqliteReader

        return SqliteReader(self.paths.data)

    def build_catalogue(self, reader: "SqliteReader") -> "Catalogue":
        """Return the catalogue of a snapshot, which finds documents and chunks by name."""
        from kebab.store.sqlite.catalogue import Catalogue

        return Catalogue(reader)

    @contextmanager
    def open_catalogue(self) -> "Iterator[Catalogue]":
        """Yield the catalogue of a new snapshot, and close the snapshot afterwards."""
        with self.open_reader() as reader:
            yield self.build_catalogue(reader)

    def open_writer(self, operation: str) -> "SqliteWriter":
        """Open the library under the writer lock; the caller closes it.

        Raises:
            ReadOnly: Writing is switched off.
            Locked: Another process is writing.
        """
        from kebab.store.sqlite.writer import SqliteWriter
        from kebab.text.tokenizer import join_tokens

        self.refuse_when_read_only(operation)
        return SqliteWriter(self.paths.data, join_tokens, self.clock.now)

    def acquire_writer_lock(self) -> AbstractContextManager[object]:
        """Acquire the writer lock."""
        from kebab.store.sqlite.lock import WriterLock

        return WriterLock(self.paths.data)

    @cached_property
    def cache(self) -> "QueryCache | None":
        """The cache of search results; None when writing is switched off."""
        from kebab.store.sqlite.reader import QueryCache

        return None if self.read_only else QueryCache(self.paths.data)

    @cached_property
    def session_store(self) -> "SqliteSessionStore":
        """The store of sessions and their turns."""
        from kebab.store.sqlite.sessions import SqliteSessionStore

        limit = self.settings.ask.history_turns
        return SqliteSessionStore(self.paths.data, limit, read_only=self.read_only)

    def open_review_store(self) -> "SqliteReviewStore":
        """Open the store of reviews; the caller closes it."""
        from kebab.store.sqlite.reviews import SqliteReviewStore

        keep_days = self.settings.review.keep_days
        return SqliteReviewStore(
            self.paths.data, keep_days, read_only=self.read_only, now=self.clock.now
        )

    def open_vector_index(self, version: str) -> "MappedVectors":
        """Open the vectors of an embedding version for search.

        Those of a model that is not known here can only be counted.
        """
        from kebab.store.vectors import MappedVectors

        if version not in self._indexes:
            self._indexes[version] = MappedVectors(*self._describe_vectors(version))
        return self._indexes[version]

    def open_vector_table(self, version: str) -> "LanceVectors":
        """Open the vectors of an embedding version for writing.

        Those of a model that is not known here can only be listed and deleted.
        """
        from kebab.store.vectors import LanceVectors

        if version not in self._vectors:
            self._vectors[version] = LanceVectors(*self._describe_vectors(version))
        return self._vectors[version]

    def _describe_vectors(
        self, version: str
    ) -> "tuple[Path, str, int, Callable[[], Matrix | None]]":
        """Return the folder, version and dimension of vectors, and what loads their axes."""
        from kebab.embed.registry import find_named

        model = find_named(version)
        if model is None:  # the run may install the model only later
            return self.paths.data, version, parse_dimension(version), lambda: None
        return self.paths.data, version, model.dimension, model.load_language_axes

    @cached_property
    def embedders(self) -> "Embedders":
        """The embedding models."""
        from kebab.app.model_adapters import Embedders

        return Embedders(self.settings, self.paths.models)

    def get_stored_version(self) -> str | None:
        """Return the embedding version of the stored vectors; None without vectors.

        Like `open_reader`, it raises `NotIndexed`.
        """
        with self.open_reader() as reader:
            return reader.get_value(EMBEDDING_VERSION)

    def build_budget(self, embedder: "Embedder | None") -> "Budget":
        """Return the token limit of a chunk; an embedder counts its own tokens."""
        from kebab.chunk.budget import Budget, make_mixed_counter

        limit = self.settings.index.chunk_tokens
        if embedder is None:
            return Budget(limit)
        limit = min(limit, embedder.profile.window)
        if not embedder.profile.has_tokens:
            return Budget(limit)
        return Budget(limit, make_mixed_counter(embedder.count_tokens, embedder.supports))

    @property
    def private_folders(self) -> tuple[str, str]:
        """The folders that no scan enters: those of the index and of the models."""
        return str(self.paths.data), str(self.paths.models)

    def build_parsers(self, *, asks: bool = False) -> "Mapping[str, Parser]":
        """Return the parsers by media type; those of pictures read them as the settings say.

        Only with `asks` a model is asked about pictures that it has not seen.

        Raises:
            ConfigInvalid: The model server may not have pictures.
        """
        from kebab.parse.registry import configure_parsers

        ingest, model = self.settings.ingest, None
        if ingest.captions or ingest.ocr == "model":
            from kebab.app.pictures import PictureModel

            model = PictureModel(self.settings, self.paths.data, asks=asks)
        ocr = OcrSettings(ingest.ocr_languages, ingest.ocr_page_deadline_s)
        return configure_parsers(ocr if ingest.ocr is True else None, model)

    def build_scan_rules(self, formats: Mapping[str, str] | None = None) -> ScanRules:
        """Return the rules of a scan under these settings.

        Without `formats` those of plugins are the ones that the last ingest knew.
        """
        if formats is None:
            with (
                suppress(*UNUSABLE),  # other steps report it
                self.open_reader() as reader,
            ):
                text = reader.get_value(PLUGIN_FORMATS) or "{}"
                with suppress(msgspec.MsgspecError):
                    formats = msgspec.json.decode(text, type=dict[str, str])
        settings = self.settings.ingest
        return ScanRules(
            exclude=tuple(settings.exclude),
            secret_files=tuple(settings.secret_files),
            hidden=settings.hidden,
            max_file_bytes=settings.max_file_bytes,
            left_out=frozenset(() if settings.ocr or settings.captions else (IMAGE,)),
            archives=settings.archives,
            readable=READABLE_NAMES,
            added=formats or {},
        )

    def decode_text(self, data: bytes, path: object) -> str:
        """Decode the bytes of a file to the text whose lines are cited.

        Raises:
            ParseFailed: They are not text.
        """
        from kebab.parse.encoding import decode

        return decode(data, str(path)).text

    @property
    def chunker_version(self) -> str:
        """The version of the chunker under these settings."""
        from kebab.chunk.budget import format_chunker_version

        return format_chunker_version(self.settings.index.chunk_tokens)

    @cached_property
    def bases(self) -> "PublishedBases":
        """The published bases that are searched with this one."""
        return PublishedBases(self)

    def close(self) -> None:
        """Close the stores that stay open between calls; the next call opens them again.

        What readers keep in memory stays, and serves the same state of the library.
        """
        self._indexes.clear()
        self._vectors.clear()
        if "bases" in self.__dict__:
            self.bases.close()


class PublishedBases:
    """The published bases that a knowledge base lists, each opened on first use."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._opened: dict[str, AppContext] = {}

    @property
    def _folder(self) -> Path:
        return self._context.paths.data / PUBLISHED_BASES

    def load(self) -> "dict[str, Registration]":
        """Return the bases by their names; the copy of a published base lists none.

        Raises:
            StoreCorrupt: A file of the list is damaged.
        """
        if not self._folder.is_dir():
            return {}
        from kebab.store.published import load_bases

        return load_bases(self._folder)

    def find(self, names: Sequence[str]) -> "dict[str, Registration | None]":
        """Return the bases of these names, without names all; the knowledge base itself is None.

        Raises:
            InvalidInput: No base has a name.
        """
        known = {LOCAL: None, **self.load()}
        for name in names:
            if name not in known:
                from kebab.core.spelling import find_nearest

                near = find_nearest(name, known.keys() - {LOCAL}, 1)
                suggestion = f", did you mean `{near[0]}`?" if near else ""
                cause = f"no published base has this name: {name}{suggestion}"
                raise InvalidInput(field="$.base", cause=cause)
        return {name: base for name, base in known.items() if name in (names or known)}

    def choose(self, names: Sequence[str]) -> AppContext:
        """Return the context of the only base that an operation reads.

        Raises:
            InvalidInput: No base has this name, or there are several.
        """
        if len({*names}) > 1:
            cause = f"only {' and '.join(sorted(MERGED))} read several bases at once"
            raise InvalidInput(field="$.base", cause=cause)
        (base,) = self.find(names).values()
        return self._context if base is None else self.open(base)

    def save(self, base: "Registration") -> None:
        """List a base, in place of one of this name."""
        path = self._folder / f"{base.name}.json"
        with translate_os_errors(path, "write"):
            create_folder(path.parent, 0o700)
            with replace_file(path) as draft:
                draft.write(msgspec.json.encode(base))
        self.close()

    def remove(self, name: str) -> None:
        """List a base no more."""
        path = self._folder / f"{name}.json"
        with translate_os_errors(path, "write"):
            path.unlink(missing_ok=True)
        self.close()

    def open(self, base: "Registration") -> AppContext:
        """Return the context of a base, at its current snapshot.

        It raises what `PublishedCopy.refresh` raises.
        """
        opened = self._opened.get(base.name)
        if opened is None or opened.settings.data_dir != base.url:
            from kebab.config.load import replace_setting

            context = self._context
            model = context.settings.models.embedding.model
            settings = replace_setting(context.settings, "data_dir", base.url)
            opened = self._opened[base.name] = AppContext(
                replace_setting(settings, "published.mode", base.mode),
                config_path=context.config_path,
                read_only=True,
                embedders=context.embedders if model == AUTO else None,
                is_owner=context.is_owner,
            )
            opened.base = base.name
        opened.follow_published()
        _ = opened.paths
        return opened

    def close(self) -> None:
        """Close what is open."""
        for opened in self._opened.values():
            opened.close()
        self._opened.clear()
