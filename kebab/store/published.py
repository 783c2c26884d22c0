"""Contains the dataset of a published base: its tables in LanceDB, and the file that names them.

The table `documents` has a row for each document, `passages` one for each passage. The key of a row
is a hash of what it holds, so rows are added and deleted by the difference of keys, and one that is
changed gets another key. `base.json` is written last: it names the versions of the tables and the
files that a copy needs.

It also keeps the list of the bases that a knowledge base searches, a file of its data folder.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from kebab.config.settings import FILE_ADDRESS
from kebab.core.chunks import ChunkRow, add_tokens
from kebab.core.documents import PUBLISHED_BASES, DocumentRow
from kebab.core.ids import Key, compute_digest
from kebab.durable import create_folder, hold_lock, replace_file
from kebab.errors.catalog import IoError, Locked, NotIndexed, Op, StoreCorrupt
from kebab.errors.system import translate_import_errors, translate_os_errors
from kebab.store.lance import import_lancedb, name_manifest, translate_lance_errors
from kebab.store.objects import FEATURE, ObjectStore, Versioned
from kebab.store.sqlite.connection import get_expected_schema_version
from kebab.store.sqlite.copies import WholeDocument
from kebab.wire.published import PublishedFile, PublishedManifest, Registry

if TYPE_CHECKING:
    from kebab.core.chunks import Vector

BASE, DOCUMENTS, PASSAGES = "base.json", "documents", "passages"
FORMAT_VERSION = 5
"""The version of the tables and of `base.json`; rows of another one are sent anew."""

_BATCH, _KEYS_PER_DELETE = 4_096, 5_000
_MOST_FRAGMENTS, _STALE_SHARE = 32, 0.2
_KEEP = timedelta(days=1)
"""Readers of an older version finish within this time."""

_VECTOR_INDEX_FROM = 100_000
_TOKENS = ("title_tokens", "heading_tokens", "body_tokens")
_COPIED = re.compile(r"(?:documents|passages)\.lance/(?:data|_deletions)/[^/]+")

Row: TypeAlias = dict[str, Any]
"""A row of a table, by the names of its columns; `record` is the rest of it as JSON."""

_COLUMNS = {
    DOCUMENTS: (
        *("key", "document", "source", "path", "title", "media", "lang", "date", "tags"),
        "record",
    ),
    PASSAGES: (
        *("key", "document", "ordinal", "place", "heading", "text", *_TOKENS),
        *("vector", "record"),
    ),
}

_encode = msgspec.json.Encoder().encode


def build_passage_keys(document: WholeDocument, version: str | None) -> list[str]:
    """Return the key of each passage of a document: a hash of what its row holds."""
    row = document.row
    return [
        compute_digest(
            *(str(FORMAT_VERSION), row.doc_id, row.title, _encode(row.aliases).decode()),
            *(_encode(chunk[:4]).decode(), "" if key is None else version or ""),
        )
        for chunk, key in zip(row.chunks, document.keys, strict=True)
    ]


def build_document(row: DocumentRow, keys: Sequence[str]) -> Row:
    """Return the row of a document whose passages have these keys."""
    record = _encode(replace(row, chunks=())).decode()
    own = {"key": compute_digest(record, *keys), "document": row.doc_id, "record": record}
    return own | {name: getattr(row, name) for name in _COLUMNS[DOCUMENTS] if name not in own}


def build_passages(
    document: WholeDocument,
    keys: Sequence[str],
    vectors: Mapping[Key, "Vector"],
    tokens: Callable[[str], str],
) -> Iterator[Row]:
    """Yield the rows of the passages of a document; `vectors` are by the key of the chunk."""
    row = document.row
    title = " ".join(map(tokens, (row.title, *row.aliases)))
    for key, number, chunk in zip(keys, document.keys, add_tokens(row.chunks, tokens), strict=True):
        found = chunk.chunk
        rest = chunk._replace(chunk=found._replace(text=""), headings=None, words=None)
        values = (
            *(key, row.doc_id, found.ordinal, f"L{found.start_line}-L{found.end_line}"),
            *(" > ".join(found.heading_path), found.text),
            *(title, chunk.headings or "", chunk.words or ""),
            *(None if number is None else vectors.get(number), _encode(rest).decode()),
        )
        yield dict(zip(_COLUMNS[PASSAGES], values, strict=True))


def read_document(row: Mapping[str, Any], passages: Sequence[Mapping[str, Any]]) -> DocumentRow:
    """Return the document of a row with the chunks of its passages, which are in order.

    Raises:
        StoreCorrupt: A record is none of kebab.
    """
    chunks = []
    try:
        document = msgspec.json.decode(row["record"], type=DocumentRow)
        for one in passages:
            read = msgspec.json.decode(one["record"], type=ChunkRow)
            chunk = read.chunk._replace(ordinal=one["ordinal"], text=one["text"])
            tokens = {"headings": one["heading_tokens"], "words": one["body_tokens"]}
            chunks.append(read._replace(chunk=chunk, **tokens))
    except msgspec.MsgspecError as fault:
        raise StoreCorrupt(
            path=str(row["path"]), cause="a record cannot be read", published=True
        ) from fault
    return replace(document, chunks=tuple(chunks))


class Dataset:
    """The tables of a base in a folder or in an object store.

    Every method raises `IoError` when the store refuses and `StoreCorrupt` when a table cannot be
    read.
    """

    def __init__(self, address: str, dimension: int = 0) -> None:
        """Open nothing yet; `dimension` is that of the vectors of a new table."""
        self.address = address.removeprefix(FILE_ADDRESS)
        self._dimension = dimension
        self._connection: Any = None
        self._tables: dict[str, Any] = {}

    @contextmanager
    def _translate(self, op: Op) -> Iterator[None]:
        with warnings.catch_warnings(), translate_lance_errors(self.address, op):
            warnings.simplefilter("ignore")
            yield

    def _connect(self) -> Any:
        if self._connection is None:
            options = {"allow_http": "true"} if "://" in self.address else None
            self._connection = import_lancedb().connect(self.address, storage_options=options)
        return self._connection

    def _open(self, name: str) -> Any:
        """Return a table; None when there is none."""
        if name not in self._tables:
            if name not in self._connect().list_tables().tables:
                return None
            self._tables[name] = self._connect().open_table(name)
        return self._tables[name]

    def checkout(self, versions: Mapping[str, int]) -> None:
        """Read these versions of the tables from now on."""
        with self._translate("read"):
            for name, version in versions.items():
                table = self._open(name)
                if table is None:
                    raise StoreCorrupt(path=self.address, cause=f"no table {name}", published=True)
                table.checkout(version)

    def list_keys(self, name: str) -> Counter[str]:
        """Return how often each key occurs in a table: once, unless two publishers met."""
        with self._translate("read"):
            return Counter(row["key"] for row in self._read(name, "key"))

    def require_keys(self, wanted: Mapping[str, Counter[str]]) -> None:
        """Raise `Locked` when a table holds other rows: another publisher has written meanwhile."""
        if any(self.list_keys(name) != rows for name, rows in wanted.items()):
            raise Locked(path=self.address, holder_pid=None)

    def read_documents(self, documents: Collection[str] | None = None) -> list[dict[str, Any]]:
        """Return the rows of documents, all by default."""
        where = None if documents is None else f"document IN ({_quote(documents)})"
        with self._translate("read"):
            return list(self._read(DOCUMENTS, where=where))

    def iterate_passages(
        self, documents: Collection[str]
    ) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield documents with the rows of their passages in order."""
        for part in _split([*documents]):
            found: dict[str, list[dict[str, Any]]] = {name: [] for name in part}
            with self._translate("read"):
                for row in self._read(PASSAGES, where=f"document IN ({_quote(part)})"):
                    found[row["document"]].append(row)
            for name, rows in found.items():
                yield name, sorted(rows, key=lambda row: int(row["ordinal"]))

    def _read(self, name: str, *columns: str, where: str | None = None) -> Iterator[Any]:
        table = self._open(name)
        if table is None:
            return
        query = (
            table.search().select([*(columns or _COLUMNS[name])]).limit(max(1, table.count_rows()))
        )
        for batch in (query.where(where) if where else query).to_batches(_BATCH):
            yield from batch.to_pylist()

    def find_candidates(
        self, words: Sequence[str], vector: "Vector | None", weights: Sequence[float], limit: int
    ) -> list[dict[str, Any]]:
        """Return the passages that the store finds by words and by a vector, each once."""
        from lancedb.query import MultiMatchQuery

        rows: dict[str, dict[str, Any]] = {}
        with self._translate("read"):
            table = self._open(PASSAGES)
            queries = []
            if table is not None and words:
                match = MultiMatchQuery(" ".join(words), list(_TOKENS), boosts=list(weights))
                queries.append((table.search(match, query_type="fts"), "_score"))
            if table is not None and vector is not None:
                nearest = table.search(vector, vector_column_name="vector")
                queries.append((nearest.distance_type("l2"), "_distance"))
            for query, score in queries:
                for row in query.select([*_COLUMNS[PASSAGES], score]).limit(limit).to_list():
                    rows.setdefault(row["key"], row)
        return list(rows.values())

    def add(self, name: str, rows: Iterable[Row]) -> None:
        """Add rows to a table, which the first ones create."""
        rest = iter(rows)
        while part := list(islice(rest, _BATCH)):
            with self._translate("write"):
                self._make_table(name).add(self._build_rows(name, part), on_bad_vectors="null")

    def delete(self, name: str, keys: Collection[str]) -> None:
        """Delete the rows of these keys."""
        with self._translate("write"):
            for part in _split(sorted(keys)):
                self._make_table(name).delete(f"key IN ({_quote(part)})")

    def _make_table(self, name: str) -> Any:
        table = self._open(name)
        if table is None:
            schema = self._build_rows(name, []).schema
            table = self._tables[name] = self._connect().create_table(name, schema=schema)
        return table

    def _build_rows(self, name: str, rows: Sequence[Row]) -> Any:
        with translate_import_errors(FEATURE, "pyarrow"):
            import numpy as np
            import pyarrow as pa

        text = pa.string()
        kinds = {"ordinal": pa.int32(), "tags": pa.list_(text)}
        kinds["vector"] = pa.list_(pa.float16(), self._dimension or 1)
        schema = pa.schema([pa.field(one, kinds.get(one, text)) for one in _COLUMNS[name]])
        half = [
            row
            if row.get("vector") is None
            else {**row, "vector": row["vector"].astype(np.float16)}
            for row in rows
        ]
        return pa.Table.from_pylist(half, schema=schema)

    def maintain(self) -> None:
        """Index the words, and from many passages on the vectors; compact when it pays.

        Rows that no index covers yet are found too, so that an edit does not write an index anew.
        """
        from lancedb.index import FTS, IvfPq

        with self._translate("write"):
            for name in (DOCUMENTS, PASSAGES):
                table = self._make_table(name)
                stats = table.stats()
                rows, indexed = stats["num_rows"], {one.name for one in table.list_indices()}
                if name == PASSAGES and rows:
                    for column in _TOKENS:
                        if f"{column}_idx" not in indexed:
                            table.create_index(column, config=_build_words_index(FTS))
                    if rows >= _VECTOR_INDEX_FROM and "vector_idx" not in indexed:
                        table.create_index("vector", config=IvfPq(distance_type="l2"))
                fragments = stats["fragment_stats"]["num_fragments"]
                stale = max(
                    (table.index_stats(one).num_unindexed_rows for one in indexed), default=0
                )
                if fragments > _MOST_FRAGMENTS or stale > rows * _STALE_SHARE:
                    table.optimize(cleanup_older_than=_KEEP)

    def read_versions(self) -> dict[str, int]:
        """Return the version of each table."""
        with self._translate("read"):
            return {name: self._make_table(name).version for name in (DOCUMENTS, PASSAGES)}


def _build_words_index(kind: Any) -> Any:
    """Return the settings of an index over our own tokens, which nothing changes any more."""
    return kind(
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
        with_position=False,
    )


def _split(values: Sequence[str]) -> Iterator[Sequence[str]]:
    return (values[at : at + _KEYS_PER_DELETE] for at in range(0, len(values), _KEYS_PER_DELETE))


def _quote(values: Iterable[str]) -> str:
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def list_copied_files(store: ObjectStore, versions: Mapping[str, int]) -> list[PublishedFile]:
    """Return the files of the dataset that a copy of these versions needs, without indexes."""
    manifests = {
        f"{name}.lance/_versions/{name_manifest(version)}" for name, version in versions.items()
    }
    return sorted(
        (
            PublishedFile(name=one.name, bytes=one.size)
            for one in store.list("")
            if _COPIED.fullmatch(one.name) or one.name in manifests
        ),
        key=lambda file: file.name,
    )


class FoundBase(NamedTuple):
    """What `base.json` says, and what names this version of it."""

    manifest: PublishedManifest
    version: Versioned


def read_base(store: ObjectStore) -> FoundBase | None:
    """Return what is published; None when there is nothing.

    Raises:
        IoError: The store cannot be read.
        StoreCorrupt: It is damaged.
        NotIndexed: A newer kebab published it.
    """
    found = store.read_version(BASE)
    if found is None:
        return None
    address, newest = store.describe(BASE), get_expected_schema_version()
    try:
        version = int(msgspec.json.decode(found.data)["format_version"])
        if version > FORMAT_VERSION:
            raise NotIndexed(data_dir=address, expected=str(FORMAT_VERSION), found=version)
        if version < FORMAT_VERSION:
            cause = "an earlier kebab published it; `kebab publish` writes it anew"
            raise StoreCorrupt(path=address, cause=cause, published=True)
        manifest = msgspec.json.decode(found.data, type=PublishedManifest)
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as fault:
        cause = "it is no description of a published base"
        raise StoreCorrupt(path=address, cause=cause, published=True) from fault
    for name in [file.name for file in manifest.files]:
        if name.startswith("/") or ".." in name.split("/") or "\0" in name:
            cause = f"not a file of a base: {name}"
            raise StoreCorrupt(path=address, cause=cause, published=True)
    for name in manifest.sources:
        if "/" in name or name in ("", ".", ".."):
            cause = f"not the name of a source: {name}"
            raise StoreCorrupt(path=address, cause=cause, published=True)
    if manifest.index_schema > newest:
        raise NotIndexed(data_dir=address, expected=str(newest), found=manifest.index_schema)
    return FoundBase(manifest, found)


def require_base(store: ObjectStore) -> FoundBase:
    """Return what is published; raise `IoError` when there is nothing."""
    found = read_base(store)
    if found is None:
        address = store.describe(BASE)
        raise IoError(path=address, op="read", cause="nothing is published there")
    return found


def write_base(store: ObjectStore, manifest: PublishedManifest, before: Versioned | None) -> int:
    """Let a new state of the dataset count; return the size of the file.

    Raises:
        Locked: Another publisher was faster.
    """
    data = msgspec.json.format(_encode(manifest), indent=1)
    if not store.replace(BASE, data, before):
        raise Locked(path=store.describe(BASE), holder_pid=None)
    return len(data)


def load_registry(data_dir: Path) -> Registry:
    """Return the list of published bases of a data folder; it is empty without its file.

    Raises:
        StoreCorrupt: The file is damaged.
    """
    path = data_dir / PUBLISHED_BASES
    try:
        return msgspec.json.decode(path.read_bytes(), type=Registry)
    except (FileNotFoundError, NotADirectoryError):
        return Registry()
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise StoreCorrupt(path=str(path), cause="it cannot be read") from fault


def change_registry(data_dir: Path, change: Callable[[Registry], Registry]) -> None:
    """Replace the list of published bases of a data folder, one process at a time.

    Raises what `load_registry` and `change` raise.
    """
    path = data_dir / PUBLISHED_BASES
    with translate_os_errors(path, "write"):
        create_folder(data_dir, 0o700)
        with hold_lock(path.with_suffix(".lock")):
            registry = change(load_registry(data_dir))
            with replace_file(path) as draft:
                draft.write(msgspec.json.format(msgspec.json.encode(registry), indent=1))
