"""Contains the dataset of a published base: its tables in LanceDB, and the file that names them.

The table `documents` has a row for each document, `passages` one for each passage. The key of a row
is a hash of what it holds, so rows are added and deleted by the difference of keys, and one that is
changed gets another key. `base.json` is written last: it names the versions of the tables and the
files that a copy needs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from kebab.config.settings import BASE_FILE, FILE_ADDRESS
from kebab.core.chunks import ChunkRow, Key, add_tokens, compute_digest
from kebab.core.documents import DocumentRow
from kebab.errors.catalog import IoError, Locked, NotIndexed, StoreCorrupt
from kebab.errors.system import translate_import_errors, translate_os_errors
from kebab.store.lance import import_lancedb, name_manifest, translate_lance_errors
from kebab.store.objects import FEATURE, ObjectStore, StoredObject
from kebab.store.sqlite.connection import get_expected_schema_version
from kebab.store.sqlite.copies import WholeDocument
from kebab.wire.published import PublishedFile, PublishedManifest, Registration

if TYPE_CHECKING:
    from kebab.core.chunks import Vector

DOCUMENTS, PASSAGES = "documents", "passages"
FORMAT_VERSION = 5
"""The version of the tables and of `base.json`; rows of another one are sent anew."""

_BATCH, _KEYS_PER_DELETE, _DOCUMENTS_AT_ONCE = 4_096, 5_000, 500
_MOST_FRAGMENTS, _STALE_SHARE = 32, 0.2
_KEEP = timedelta(days=1)
"""Readers of an older version finish within this time."""

_VECTOR_INDEX_FROM = 100_000
_TOKENS = ("title_tokens", "heading_tokens", "body_tokens")
_CHANGES = ("lower_case", "stem", "remove_stop_words", "ascii_folding", "with_position")
"""What LanceDB does to words by default, and not to our own tokens."""

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

    def __init__(
        self, address: str, versions: Mapping[str, int] | None = None, dimension: int = 0
    ) -> None:
        """Open nothing yet; the tables are read at these versions, or written without any.

        Vectors that are written have this dimension.
        """
        self.address = address.removeprefix(FILE_ADDRESS)
        self._versions, self._dimension = versions, dimension
        self._tables: dict[str, Any] = {}
        self._translate = partial(translate_lance_errors, self.address)

    def _open(self, name: str) -> Any:
        """Return a table; one with other columns or another dimension is written anew."""
        if name not in self._tables:
            options = {"allow_http": "true"} if "://" in self.address else None
            database = import_lancedb().connect(self.address, storage_options=options)
            if self._versions is not None:
                table = database.open_table(name)
                table.checkout(self._versions[name])
            else:
                schema = _build_schema(name, self._dimension)
                is_there = name in database.list_tables().tables
                table = database.open_table(name) if is_there else None
                if table is None or table.schema != schema:
                    mode = "overwrite" if is_there else "create"
                    table = database.create_table(name, schema=schema, mode=mode)
            self._tables[name] = table
        return self._tables[name]

    def read_versions(self) -> dict[str, int]:
        """Return the version of each table."""
        with self._translate("read"):
            return {name: self._open(name).version for name in (DOCUMENTS, PASSAGES)}

    def list_keys(self, name: str) -> Counter[str]:
        """Return how often each key occurs in a table: once, unless two publishers met."""
        with self._translate("read"):
            return Counter(row["key"] for row in self._read(name, "key"))

    def require_keys(self, name: str, wanted: Collection[str]) -> None:
        """Raise `Locked` when a table holds other rows: another publisher has written meanwhile."""
        if self.list_keys(name) != Counter(wanted):
            raise Locked(path=self.address, holder_pid=None)

    def read_documents(self, documents: Collection[str] | None = None) -> list[Row]:
        """Return the rows of documents, all by default."""
        where = None if documents is None else f"document IN ({_quote(documents)})"
        with self._translate("read"):
            return list(self._read(DOCUMENTS, where=where))

    def iterate_passages(self, documents: Collection[str]) -> Iterator[tuple[str, list[Row]]]:
        """Yield documents with the rows of their passages in order."""
        for part in _split([*documents], _DOCUMENTS_AT_ONCE):
            found: dict[str, list[Row]] = {name: [] for name in part}
            with self._translate("read"):
                for row in self._read(PASSAGES, where=f"document IN ({_quote(part)})"):
                    found[row["document"]].append(row)
            for name, rows in found.items():
                yield name, sorted(rows, key=lambda row: int(row["ordinal"]))

    def _read(self, name: str, *columns: str, where: str | None = None) -> Iterator[Any]:
        table = self._open(name)
        query = table.search().select([*(columns or _COLUMNS[name])])
        query = query.limit(max(1, table.count_rows()))
        for batch in (query.where(where) if where else query).to_batches(_BATCH):
            yield from _list_rows(batch)

    def find_candidates(
        self, words: Sequence[str], vector: "Vector | None", weights: Sequence[float], limit: int
    ) -> list[Row]:
        """Return the passages that the store finds by words and by a vector, each once."""
        from lancedb.query import MultiMatchQuery

        searches: dict[str, Any] = {}
        with self._translate("read"):
            table = self._open(PASSAGES)
            if words:
                match = MultiMatchQuery(" ".join(words), list(_TOKENS), boosts=list(weights))
                searches["_score"] = table.search(match, query_type="fts")
            if vector is not None:
                nearest = table.search(vector, vector_column_name="vector")
                searches["_distance"] = nearest.distance_type("l2")
            found = [
                search.select([*_COLUMNS[PASSAGES], score]).limit(limit).to_arrow()
                for score, search in searches.items()
            ]
        return list({row["key"]: row for one in found for row in _list_rows(one)}.values())

    def add(self, name: str, rows: Iterable[Row]) -> None:
        """Add rows to a table."""
        rest = iter(rows)
        while part := list(islice(rest, _BATCH)):
            with self._translate("write"):
                self._open(name).add(part, on_bad_vectors="null")

    def delete(self, name: str, keys: Collection[str]) -> None:
        """Delete the rows of these keys."""
        with self._translate("write"):
            for part in _split(sorted(keys), _KEYS_PER_DELETE):
                self._open(name).delete(f"key IN ({_quote(part)})")

    def maintain(self) -> None:
        """Index the words, and from many passages on the vectors; compact when it pays.

        Rows that no index covers yet are found too, so that an edit does not write an index anew.
        """
        from lancedb.index import FTS, IvfPq

        own: Any = {"base_tokenizer": "whitespace", "max_token_length": None}
        words = FTS(**own, **dict.fromkeys(_CHANGES, False))
        with self._translate("write"):
            for name in (DOCUMENTS, PASSAGES):
                table = self._open(name)
                stats = table.stats()
                rows, indexed = stats["num_rows"], {one.name for one in table.list_indices()}
                if name == PASSAGES and rows:
                    for column in _TOKENS:
                        if f"{column}_idx" not in indexed:
                            table.create_index(column, config=words)
                    if rows >= _VECTOR_INDEX_FROM and "vector_idx" not in indexed:
                        table.create_index("vector", config=IvfPq(distance_type="l2"))
                fragments = stats["fragment_stats"]["num_fragments"]
                unindexed = (table.index_stats(one).num_unindexed_rows for one in indexed)
                stale = max(unindexed, default=0)
                if fragments > _MOST_FRAGMENTS or stale > rows * _STALE_SHARE:
                    table.optimize(cleanup_older_than=_KEEP)


def _list_rows(table: Any) -> list[Row]:
    """Return rows; a vector as an array, because Python's numbers take 16 times the memory."""
    names = table.schema.names
    rows: list[Row] = table.select([one for one in names if one != "vector"]).to_pylist()
    for row, found in zip(rows, table["vector"] if "vector" in names else (), strict=False):
        row["vector"] = found.values.to_numpy() if found.is_valid else None
    return rows


def _build_schema(name: str, dimension: int) -> Any:
    with translate_import_errors(FEATURE, "pyarrow"):
        import pyarrow as pa

    kinds = {"ordinal": pa.int32(), "tags": pa.list_(pa.string())}
    kinds["vector"] = pa.list_(pa.float16(), dimension or 1)
    return pa.schema([pa.field(one, kinds.get(one, pa.string())) for one in _COLUMNS[name]])


def _split(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (values[at : at + size] for at in range(0, len(values), size))


def _quote(values: Iterable[str]) -> str:
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def list_copied_files(
    stored: Iterable[StoredObject], versions: Mapping[str, int]
) -> list[PublishedFile]:
    """Return the files of the dataset that a copy of these versions needs, without indexes."""
    starts = tuple(
        f"{name}.lance/{part}"
        for name, version in versions.items()
        for part in ("data/", "_deletions/", f"_versions/{name_manifest(version)}")
    )
    files = [
        PublishedFile(name=one.name, bytes=one.size)
        for one in stored
        if one.name.startswith(starts)
    ]
    return sorted(files, key=lambda file: file.name)


def require_base(store: ObjectStore) -> PublishedManifest:
    """Return what is published.

    Raises:
        IoError: The store cannot be read, or nothing is published there.
        StoreCorrupt: It is damaged.
        NotIndexed: A newer kebab published it.
    """
    found, address = store.read_version(BASE_FILE), store.describe(BASE_FILE)
    if found is None:
        raise IoError(path=address, op="read", cause="nothing is published there")
    return parse_base(found.data, address)


def parse_base(data: bytes, address: str) -> PublishedManifest:
    """Return what a `base.json` says; it raises what `require_base` raises."""
    newest = get_expected_schema_version()
    try:
        version = int(msgspec.json.decode(data)["format_version"])
        if version > FORMAT_VERSION:
            raise NotIndexed(data_dir=address, expected=str(FORMAT_VERSION), found=version)
        manifest = msgspec.json.decode(data, type=PublishedManifest)
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as fault:
        cause = "it is no description of a published base of this version"
        raise StoreCorrupt(path=address, cause=cause, published=True) from fault
    if manifest.index_schema > newest:
        raise NotIndexed(data_dir=address, expected=str(newest), found=manifest.index_schema)
    return manifest


def load_bases(folder: Path) -> dict[str, Registration]:
    """Return the published bases that are listed in a folder, by their names.

    Raises:
        StoreCorrupt: A file of the list is damaged.
    """
    bases = {}
    for path in sorted(folder.glob("*.json")):
        try:
            with translate_os_errors(path, "read"):
                base = msgspec.json.decode(path.read_bytes(), type=Registration)
        except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
            raise StoreCorrupt(path=str(path), cause="it cannot be read") from fault
        bases[base.name] = base
    return bases
