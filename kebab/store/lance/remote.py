"""Contains passages as Lance tables on object storage, which are searched where they are.

`write_passages` writes them to a folder or a URL such as `s3://bucket/base`; credentials come from
the environment. `RemoteLibrary` is the library and the vector index of one version of the tables.
It reads the parts of their indexes that a search needs, so it seeks fewer candidates than a local
search: a page of hits is whole, its tail may differ.
"""

import re
from collections import Counter, UserList
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kebab.core.chunks import (
    NO_BACKGROUND,
    CosineBackground,
    KeyedScore,
    PassageHashes,
    Place,
    remove_language,
)
from kebab.core.ids import ChunkId, DocId, DocNumber, Key
from kebab.core.queries import Filters, StoredChunk
from kebab.errors.catalog import InvalidInput
from kebab.store.lance.engine import import_lancedb, translate_lance_errors

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector
    from kebab.core.queries import NamedDocument

CANDIDATES = 64
"""How many candidates of each channel a search seeks: each costs a read of the store."""

_PASSAGES, _TERMS = "passages", "terms"
_LEAST_INDEXED = 5_000
"""The engine compares all vectors of fewer passages: so few do not train an index."""
_COMPONENTS_PER_CODE = 8
_PROBES, _REFINE = 20, 2
_SAMPLE = 256
_TERMS_AT_ONCE = 100_000
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_BEYOND_WORDS = re.compile(r"\b(?:AND|NOT)\b|[*:]")


class Passage(NamedTuple):
    """A passage to publish, its words as the word index has them, and its vector if it has one."""

    chunk: StoredChunk
    tokens: str
    vector: "Vector | None"


class Versions(msgspec.Struct, frozen=True):
    """The versions of the tables that belong together."""

    passages: int
    terms: int


def write_passages(
    uri: str, parts: Iterable[Sequence[Passage]], dimension: int, tick: Callable[[int], object]
) -> Versions:
    """Write passages and their indexes as new versions of the tables; older readers keep theirs.

    `tick` gets how many passages are written.

    Raises:
        IoError: The store refused.
    """
    with translate_lance_errors(uri, "write"):
        import pyarrow as pa

        store, schema, done = _connect(uri), _build_schema(dimension), 0
        frequencies = Counter[str]()

        def build() -> Iterator[pa.RecordBatch]:
            nonlocal done
            for part in parts:
                rows = [_build_row(passage) for passage in part]
                for row in rows:
                    frequencies.update(set(row["tokens"].split()))
                done += len(rows)
                yield pa.RecordBatch.from_pylist(rows, schema)
                tick(done)

        passages = store.create_table(_PASSAGES, build(), schema=schema, mode="overwrite")
        _index_passages(passages, dimension, done)
        names = sorted(frequencies)
        columns = {"term": names, "passages": [frequencies[name] for name in names]}
        terms = store.create_table(_TERMS, pa.table(columns), mode="overwrite")
        _index_keys(terms, "term")
        return Versions(passages.version, terms.version)


def _connect(uri: str) -> Any:
    return import_lancedb().connect(uri)


def _build_schema(dimension: int) -> Any:
    import pyarrow as pa

    text = ("chunk_id", "doc_id", "text", "source", "path", "title", "media", "lang", "place")
    more = ("chunker_version", "embedding_version", "context", "tokens")
    whole = ("key", "ordinal", "start_line", "end_line", "size", "mtime_ns")
    return pa.schema(
        [
            *((name, pa.string()) for name in (*text, *more)),
            *((name, pa.int64()) for name in whole),
            *((name, pa.list_(pa.string())) for name in ("heading_path", "tags")),
            ("indexed_at", pa.float64()),
            ("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def _build_row(passage: Passage) -> dict[str, Any]:
    chunk = passage.chunk._asdict()
    # The folder of the source is a path of the machine that publishes.
    del chunk["root"], chunk["vector_state"]
    place = chunk["place"] and msgspec.json.encode(chunk["place"]).decode()
    return {**chunk, "place": place, "tokens": passage.tokens, "vector": passage.vector}


def _index_keys(table: Any, column: str) -> None:
    from lancedb.index import BTree

    table.create_index(column, config=BTree())


def _index_passages(table: Any, dimension: int, count: int) -> None:
    from lancedb.index import FTS, IvfPq

    _index_keys(table, "key")
    words = FTS(
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
    )
    table.create_index("tokens", config=words)
    if count >= _LEAST_INDEXED:
        codes = max(1, dimension // _COMPONENTS_PER_CODE)
        config = IvfPq("dot", num_partitions=int(count**0.5), num_sub_vectors=codes)
        table.create_index("vector", config=config)


class _Matching(UserList[Key]):
    """The keys of the passages that a condition of the store allows, read when they are asked."""

    def __init__(self, condition: str, load: Callable[[], list[Key]]) -> None:
        self.condition = condition
        self._load = load

    @cached_property
    def data(self) -> list[Key]:  # type: ignore[override]
        """The keys in rising order."""
        return self._load()


class RemoteLibrary:
    """A `LibraryReader` and `Vectors` of one version of the tables; it stays the same until closed.

    Every method raises `IoError` when the store refuses and `StoreCorrupt` when it is damaged.
    """

    def __init__(
        self,
        uri: str,
        versions: Versions,
        values: Mapping[str, str],
        axes: "Matrix | None" = None,
    ) -> None:
        self._uri = uri
        self._versions = versions
        self._values = values
        self._axes = axes
        self._doc_ids: dict[Key, DocId] = {}
        self._numbers: dict[DocId, DocNumber] = {}
        self._vectors: dict[Key, Vector] = {}
        self._sample: Matrix | None = None
        with self._translate():
            store = _connect(uri)
            self._passages, self._terms = store.open_table(_PASSAGES), store.open_table(_TERMS)
            self._passages.checkout(versions.passages)
            self._terms.checkout(versions.terms)
            self._count = int(self._passages.count_rows())

    def get_revision(self) -> int:
        """Return the version of the passages."""
        return self._versions.passages

    def get_value(self, name: str) -> str | None:
        """Return a value that was published."""
        return self._values.get(name)

    def count_chunks(self) -> int:
        """Return how many passages there are."""
        return self._count

    def count(self) -> int:
        """Return how many passages there are, each with a vector or none."""
        return self._count

    def count_pending(self) -> int:
        """Return 0: what is published does not change."""
        return 0

    def find_nearest(
        self, query: "Vector", limit: int, allowed: Sequence[Key] | None = None
    ) -> list[KeyedScore]:
        """Return the passages of highest cosine, at most `CANDIDATES`; filters apply before."""
        asked = remove_language(query, self._axes)
        limit = min(limit, CANDIDATES)
        with self._translate():
            search = self._passages.search(asked, vector_column_name="vector")
            search = search.distance_type("dot").nprobes(_PROBES).refine_factor(_REFINE)
            rows = self._run(search, allowed, limit, ("vector",))
        found = self.compute_cosines(query, [Key(key) for key in rows])
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))

    def search_lexical(
        self, match: str, filters: Filters, limit: int, plain: Sequence[str] = ()
    ) -> list[KeyedScore]:
        """Return the passages with the best words, at most `CANDIDATES`.

        Raises:
            InvalidInput: The query has phrases, exclusions, fields or prefixes.
        """
        tokens = plain or self._parse_words(match)
        if not tokens:
            return []
        from lancedb.query import MatchQuery

        with self._translate():
            query = MatchQuery(" ".join(tokens), "tokens")
            search = self._passages.search(query, query_type="fts")
            rows = self._run(search, self.list_allowed_keys(filters), min(limit, CANDIDATES))
        scores = [(Key(key), float(row["_score"])) for key, row in rows.items()]
        return sorted(scores, key=lambda pair: (-pair[1], pair[0]))

    def _parse_words(self, match: str) -> list[str]:
        """Return the tokens of an FTS5 expression of alternatives."""
        if _BEYOND_WORDS.search(_QUOTED.sub("", match)):
            cause = (
                "a published base is searched by words, without phrases, exclusions and prefixes"
            )
            raise InvalidInput(field="query", cause=cause)
        quoted = (one.replace('""', '"').split() for one in _QUOTED.findall(match))
        return list(chain.from_iterable(quoted))

    def get_document_frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many passages each term occurs."""
        if not terms:
            return {}
        with self._translate():
            condition = f"term IN ({_join(terms)})"
            query = self._terms.search().where(condition).limit(len(terms))
            found = {row["term"]: row["passages"] for row in query.to_list()}
        return {term: found.get(term, 0) for term in terms}

    def list_tokens(self, start: str) -> list[str]:
        """Return the tokens that begin with some letters."""
        with self._translate():
            query = self._terms.search().where(f"starts_with(term, {_quote(start)})")
            return [row["term"] for row in query.limit(_TERMS_AT_ONCE).to_list()]

    def list_allowed_keys(self, filters: Filters) -> Sequence[Key] | None:
        """Return the keys that pass the filters; None when every passage does."""
        condition = build_condition(filters)
        if not condition:
            return None

        def load() -> list[Key]:
            with self._translate():
                query = self._passages.search().where(condition).select(["key"])
                rows = query.limit(self._count).to_list()
            return sorted(Key(row["key"]) for row in rows)

        return _Matching(condition, load)

    def find_committed_keys(self, keys: Collection[Key]) -> set[Key]:
        """Return these keys, because nothing changes."""
        return set(keys)

    def load_chunks(self, keys: Sequence[Key]) -> list[StoredChunk]:
        """Return the passages in the order of their keys; unknown keys are left out."""
        columns = [name for name in StoredChunk._fields if name not in ("root", "vector_state")]
        found = {row["key"]: _to_chunk(row) for row in self._load_rows(keys, columns)}
        return [found[key] for key in keys if key in found]

    def load_texts(self, keys: Collection[Key]) -> dict[Key, str]:
        """Return the texts of passages; unknown keys are left out."""
        return {Key(row["key"]): row["text"] for row in self._load_rows(keys, ["key", "text"])}

    def find_doc_ids(self, keys: Collection[Key]) -> dict[Key, DocId]:
        """Return the documents of these passages; unknown keys are left out."""
        for row in self._load_rows(set(keys) - self._doc_ids.keys(), ["key", "doc_id"]):
            self._doc_ids[Key(row["key"])] = DocId(row["doc_id"])
        return {key: self._doc_ids[key] for key in keys if key in self._doc_ids}

    def find_doc_numbers(self, keys: Collection[Key]) -> "dict[Key, DocNumber]":
        """Return document numbers of this reader by passage."""
        return {
            key: self._numbers.setdefault(doc, DocNumber(len(self._numbers)))
            for key, doc in self.find_doc_ids(keys).items()
        }

    def find_named_documents(
        self, tokens: Collection[str], filters: Filters, limit: int
    ) -> "list[NamedDocument]":
        """Return nothing: the tables have no index of names."""
        del tokens, filters, limit
        return []

    def list_similar_words(self, word: str) -> list[str]:
        """Return nothing: the tables have no index of names."""
        del word
        return []

    def list_passages(self, filters: Filters) -> PassageHashes:
        """Refuse: duplicates are sought in a local base."""
        del filters
        raise InvalidInput(field="filters", cause="a published base is not compared with itself")

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return the vectors of those of these passages that have one."""
        import numpy as np

        for row in self._load_rows(set(keys) - self._vectors.keys(), ["key", "vector"]):
            if row["vector"] is not None:
                self._vectors[Key(row["key"])] = np.array(row["vector"], np.float32)
        return {key: self._vectors[key] for key in keys if key in self._vectors}

    def compute_cosines(self, query: "Vector", keys: Collection[Key]) -> dict[Key, float]:
        """Return the cosine of those of these passages that have a vector."""
        asked = remove_language(query, self._axes)
        return {
            key: round(float(remove_language(vector, self._axes) @ asked), 6)
            for key, vector in self.get(keys).items()
        }

    def measure_background(self, query: "Vector") -> CosineBackground:
        """Return the mean and the deviation of the cosines of evenly spaced passages.

        The first call reads them; they belong to what a reader caches.
        """
        import numpy as np

        if self._sample is None:
            with self._translate():
                places = range(0, self._count, max(1, self._count // _SAMPLE))
                taken = self._passages.take_offsets(list(places)).select(["vector"]).to_list()
            rows = [row["vector"] for row in taken if row["vector"] is not None]
            self._sample = remove_language(np.array(rows, np.float32), self._axes)
        if not len(self._sample):
            return NO_BACKGROUND
        scores = self._sample @ remove_language(query, self._axes)
        return CosineBackground(self._count, float(scores.mean()), float(scores.std()))

    def close(self) -> None:
        """Keep nothing open."""

    def _load_rows(self, keys: Collection[Key], columns: list[str]) -> list[dict[str, Any]]:
        if not keys:
            return []
        with self._translate():
            query = self._passages.search().where(f"key IN ({','.join(map(str, sorted(keys)))})")
            rows: list[dict[str, Any]] = query.select(columns).limit(len(keys)).to_list()
        return rows

    def _run(
        self, search: Any, allowed: Sequence[Key] | None, limit: int, more: Sequence[str] = ()
    ) -> dict[Key, dict[str, Any]]:
        """Return the rows of a search by key, and remember their documents and vectors."""
        import numpy as np

        if isinstance(allowed, _Matching):
            search = search.where(allowed.condition, prefilter=True)
        elif allowed is not None:
            search = search.where(
                f"key IN ({','.join(map(str, allowed)) or 'NULL'})", prefilter=True
            )
        score = "_distance" if "vector" in more else "_score"
        rows = search.select(["key", "doc_id", *more, score]).limit(limit).to_list()
        found = {Key(row["key"]): row for row in rows}
        self._doc_ids.update({key: DocId(row["doc_id"]) for key, row in found.items()})
        if "vector" in more:
            vectors = {key: np.array(row["vector"], np.float32) for key, row in found.items()}
            self._vectors.update(vectors)
        return found

    def _translate(self) -> AbstractContextManager[None]:
        return translate_lance_errors(self._uri, "read")


def _to_chunk(row: dict[str, Any]) -> StoredChunk:
    place = row["place"] and msgspec.json.decode(row["place"], type=Place)
    fields = {name: row[name] for name in StoredChunk._fields if name in row}
    fields |= {"key": Key(row["key"]), "chunk_id": ChunkId(row["chunk_id"]), "place": place}
    fields |= {"heading_path": tuple(row["heading_path"]), "tags": tuple(row["tags"])}
    return StoredChunk(**fields, root="", vector_state="committed")


def build_condition(filters: Filters) -> str:
    """Return filters as a condition of the store, an empty text without any.

    Raises:
        InvalidInput: The tables do not have what a filter compares.
    """
    if filters.folder or filters.author or filters.links_to:
        cause = "a published base has no folders, authors and links to filter by"
        raise InvalidInput(field="filters", cause=cause)
    columns = {"lang": filters.lang, "media": filters.media, "source": filters.source}
    columns["doc_id"] = (filters.doc_id,) if filters.doc_id else ()
    conditions = [f"{name} IN ({_join(values)})" for name, values in columns.items() if values]
    if filters.tag:
        conditions.append(f"array_has_any(tags, [{_join(filters.tag)}])")
    if filters.path_glob:
        pattern = re.escape(filters.path_glob).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
        pattern = pattern.replace(r"\?", "[^/]")
        conditions.append(f"regexp_like(path, {_quote(f'^{pattern}$')})")
    for value, operator in ((filters.since, ">="), (filters.until, "<")):
        if value is not None:
            conditions.append(f"mtime_ns {operator} {round(value * 1e9)}")
    return " AND ".join(conditions)


def _join(values: Iterable[str]) -> str:
    return ", ".join(map(_quote, sorted(values)))


def _quote(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"
