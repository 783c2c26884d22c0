"""A library in memory, for tests of what stands above the stores.

It serves as writer and as reader at once. Its word search understands terms in quotes joined by
`OR` or `AND`, optionally `{column column} :` before a term, and counts how often terms occur.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from kebab.core.chunks import ChunkRow, KeyedScore, PassageHashes, PendingChunk
from kebab.core.documents import (
    EMBEDDING_REASON,
    EMBEDDING_VERSION,
    NEXT_VECTORS,
    ChunkChanges,
    DocumentRow,
    FileStamp,
    KnownDocument,
    Listing,
    MovedDocument,
    Source,
    SourcePlan,
)
from kebab.core.ids import ChunkId, DocId, DocNumber, Key, Keys, sort_keys
from kebab.core.queries import Filters, NamedDocument, StoredChunk, VectorState
from kebab.core.spelling import count_edits
from kebab.text.names import list_index_words
from tests.fakes.passing import passes

_TERM = re.compile(r'"((?:[^"]|"")*)"')


@dataclass(slots=True)
class _Entry:
    """A stored chunk with its document."""

    key: Key
    document: DocumentRow
    row: ChunkRow
    indexed_at: float
    state: VectorState = "pending"
    version: str | None = None


@dataclass
class MemoryLibrary:
    """A `LibraryWriter` and `LibraryReader`; `runs` and `checkpoints` show what was asked."""

    tokens: Callable[[str], list[str]] = field(default=lambda text: text.lower().split())
    now: Callable[[], float] = time.time
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    runs: list[tuple[str, float, float, int]] = field(default_factory=list)
    checkpoints: int = 0
    unread: dict[tuple[str, str], str | None] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    closed: bool = False

    def __post_init__(self) -> None:
        self._sources: dict[str, Source] = {}
        self._documents: dict[DocId, DocumentRow] = {}
        self._entries: dict[ChunkId, _Entry] = {}
        self._values: dict[str, str] = {}
        self._revision = 0
        self._last_key = 0

    @contextmanager
    def batch(self) -> Iterator[None]:
        yield

    def add_source(self, source: Source) -> None:
        self._sources[source.name] = source

    def list_sources(self) -> list[Source]:
        return list(self._sources.values())

    def load_known_documents(
        self, source: str, at: Collection[str] | None = None
    ) -> dict[str, KnownDocument]:
        return {
            row.path: KnownDocument(
                doc_id=row.doc_id,
                path=row.path,
                size=row.stamp.size,
                mtime_ns=row.stamp.mtime_ns,
                inode=row.stamp.inode,
                content_hash=row.content_hash,
                recipe=row.recipe,
                title=row.title,
            )
            for row in self._documents.values()
            if row.source == source
            and (
                at is None
                or any(f"{row.path}/".startswith((f"{path}/", f"{path}!/")) for path in at)
            )
        }

    def list_children(self, source: str, folder: str) -> set[str]:
        known = [row.path for row in self._documents.values() if row.source == source]
        known += [path for name, path in self.unread if name == source]
        return {path for path in known if path.rpartition("/")[0] == folder}

    def load_listing(self, source: str) -> Listing:
        return Listing(
            self.rules.get(source), {path for name, path in self.unread if name == source}
        )

    def store_plans(self, plans: Sequence[SourcePlan]) -> None:
        for plan in plans:
            below = [plan.below] if plan.files is None else plan.files
            for place in list(self.unread):
                if place[0] == plan.source and any(
                    (not path or f"{place[1]}/".startswith((f"{path}/", f"{path}!/")))
                    for path in below
                ):
                    del self.unread[place]
            self.unread |= {(plan.source, file.path): file.reason for file in plan.unread}
            if plan.files is None and not plan.below:
                self.rules[plan.source] = plan.rules

    def mark_failed(self, source: str, path: str, reason: str) -> None:
        if (source, path) in self.unread:
            self.unread[source, path] = reason

    def forget_unread(self, source: str, path: str) -> None:
        self.unread.pop((source, path), None)

    def commit_when_due(self) -> None:
        pass

    def has_document(self, doc_id: DocId) -> bool:
        return doc_id in self._documents

    def put_document(self, document: DocumentRow) -> ChunkChanges:
        evicted = self._evict(document.doc_id, document.source, document.path)
        now = self.now()
        old = {id_: entry for id_, entry in self._entries.items() if _of(entry, document.doc_id)}
        rows = (*document.chunks, *(row for rows in document.more_chunks for row in rows))
        document = replace(document, chunks=rows, more_chunks=())
        new = {row.chunk_id: row for row in rows}
        kept = {
            id_
            for id_, row in new.items()
            if id_ in old and old[id_].row.embed_hash == row.embed_hash
        }
        self._drop([id_ for id_ in old if id_ not in kept])
        for id_, row in new.items():
            if id_ in kept:
                entry = self._entries[id_]
                entry.row, entry.document, entry.indexed_at = row, document, now
            else:
                self._last_key += 1
                self._entries[id_] = _Entry(Key(self._last_key), document, row, now)
        self._documents[document.doc_id] = document
        self.forget_unread(document.source, document.path)
        self._revision += 1
        removed = len(old) - len(kept) + evicted
        return ChunkChanges(kept=len(kept), added=len(new) - len(kept), removed=removed)

    def move_document(
        self, doc_id: DocId, source: str, path: str, stamp: FileStamp
    ) -> MovedDocument:
        self._evict(doc_id, source, path)
        self.update_stamp(doc_id, stamp)
        row = replace(self._documents[doc_id], source=source, path=path)
        self._documents[doc_id] = row
        own = [entry for entry in self._entries.values() if _of(entry, doc_id)]
        for entry in own:
            entry.document, entry.indexed_at = row, self.now()
        self.forget_unread(source, path)
        return MovedDocument(len(own), row.warnings)

    def update_stamp(self, doc_id: DocId, stamp: FileStamp) -> None:
        row = replace(self._documents[doc_id], stamp=stamp)
        self._documents[doc_id] = row
        for entry in self._entries.values():
            if _of(entry, doc_id):
                entry.document = row
        self._revision += 1

    def remove_documents(self, doc_ids: Sequence[DocId]) -> int:
        if not doc_ids:
            return 0
        gone = [id_ for id_, entry in self._entries.items() if entry.document.doc_id in doc_ids]
        self._drop(gone)
        for doc_id in doc_ids:
            self._documents.pop(doc_id, None)
        self._revision += 1
        return len(gone)

    def list_pending(self, limit: int, first: Sequence[ChunkId] = ()) -> list[PendingChunk]:
        waiting = [entry for entry in self._ordered() if entry.state == "pending"]
        wanted = {self._entries[one].document.path for one in first if one in self._entries}
        waiting.sort(key=lambda entry: (-entry.document.stamp.mtime_ns, entry.document.path))
        waiting.sort(key=lambda entry: entry.document.path not in wanted)
        return [self._to_chunk(entry) for entry in waiting[:limit]]

    def count_all_chunks(self) -> int:
        return len(self._entries)

    def list_chunks(self, after: Key, limit: int) -> list[PendingChunk]:
        return [self._to_chunk(each) for each in self._ordered() if each.key > after][:limit]

    def _to_chunk(self, entry: _Entry) -> PendingChunk:
        return PendingChunk(
            key=entry.key,
            chunk_id=entry.row.chunk_id,
            doc_id=entry.document.doc_id,
            title=entry.document.title,
            heading_path=entry.row.chunk.heading_path,
            text=entry.row.chunk.text,
            embed_hash=entry.row.embed_hash,
        )

    def replace_vectors(self, version: str, reason: str | None, unknown: Collection[Key]) -> None:
        self.set_value(NEXT_VECTORS, None)
        self.set_value(EMBEDDING_VERSION, version)
        self.set_value(EMBEDDING_REASON, reason)
        for entry in self._entries.values():
            entry.state = "unsupported" if entry.key in unknown else "committed"
            entry.version = version
        self._revision += 1

    def count_pending(self) -> int:
        return sum(entry.state == "pending" for entry in self._entries.values())

    def find_equal_embeddings(self, embed_hashes: Collection[str]) -> dict[str, Key]:
        found: dict[str, Key] = {}
        for entry in self._ordered():
            if entry.state == "committed" and entry.row.embed_hash in embed_hashes:
                found.setdefault(entry.row.embed_hash, entry.key)
        return found

    def mark_vectors(self, keys: Collection[Key], state: VectorState, version: str) -> None:
        changed = False
        for entry in self._entries.values():
            if entry.key in keys and (entry.state, entry.version) != (state, version):
                entry.state, entry.version = state, version
                changed = True
        self._revision += changed

    def measure_languages(self) -> dict[str, int]:
        sizes: Counter[str] = Counter()
        for row in self._documents.values():
            sizes[row.lang or ""] += row.stamp.size
        return dict(sizes)

    def list_committed_keys(self) -> Keys:
        return sort_keys(e.key for e in self._entries.values() if e.state == "committed")

    def count_committed(self, doc_ids: Collection[DocId]) -> dict[DocId, int]:
        counts = dict.fromkeys(doc_ids, 0)
        for entry in self._entries.values():
            if entry.state == "committed" and entry.document.doc_id in counts:
                counts[entry.document.doc_id] += 1
        return counts

    def get_value(self, name: str) -> str | None:
        return self._values.get(name)

    def set_value(self, name: str, value: str | None) -> None:
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value

    def record_run(self, scope: str, started: float, finished: float, changed: int) -> None:
        self.runs.append((scope, started, finished, changed))

    def checkpoint(self) -> None:
        self.checkpoints += 1

    def sync(self) -> None:
        pass

    def get_revision(self) -> int:
        return self._revision

    def count_chunks(self) -> int:
        return len(self._entries)

    def search_lexical(self, match: str, filters: Filters, limit: int) -> list[KeyedScore]:
        terms = [term.replace('""', '"') for term in _TERM.findall(match)]
        need = all if " AND " in match else any
        scored = []
        for entry in self._ordered():
            counts = [self._weight(entry, term) for term in terms]
            if counts and need(counts) and passes(entry.document, filters):
                scored.append((entry.key, sum(counts)))
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def get_document_frequencies(self, terms: Collection[str]) -> dict[str, int]:
        return {
            term: sum(
                any(term in words for words in self._words(entry)) for entry in self._ordered()
            )
            for term in terms
        }

    def list_tokens(self, start: str) -> list[str]:
        texts = [text for entry in self._ordered() for text in self._words(entry)]
        return sorted({word for words in texts for word in words if word.startswith(start)})

    def list_allowed_keys(self, filters: Filters) -> list[Key] | None:
        if not filters.is_active:
            return None
        return [entry.key for entry in self._ordered() if passes(entry.document, filters)]

    def find_committed_keys(self, keys: Collection[Key]) -> set[Key]:
        return set(keys).intersection(map(Key, self.list_committed_keys()))

    def load_chunks(self, keys: Sequence[Key]) -> list[StoredChunk]:
        found = {entry.key: entry for entry in self._entries.values()}
        return [self._stored(found[key]) for key in keys if key in found]

    def find_doc_ids(self, keys: Collection[Key]) -> dict[Key, DocId]:
        return {entry.key: entry.document.doc_id for entry in self._ordered() if entry.key in keys}

    def find_doc_numbers(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        order = list(self._documents)
        return {
            entry.key: DocNumber(order.index(entry.document.doc_id))
            for entry in self._ordered()
            if entry.key in keys
        }

    def find_named_documents(
        self, tokens: Collection[str], filters: Filters, limit: int
    ) -> list[NamedDocument]:
        found = []
        for number, row in enumerate(self._documents.values()):
            held = len({*tokens}.intersection(list_index_words(row.path, row.title, row.aliases)))
            if held and row.chunks and passes(row, filters):
                first = self._entries[row.chunks[0].chunk_id].key
                name = NamedDocument(DocNumber(number), first, row.path, row.title, row.aliases)
                found.append((-held, number, name))
        return [name for _, _, name in sorted(found)[:limit]]

    def list_similar_words(self, word: str) -> list[str]:
        words = {
            found
            for row in self._documents.values()
            for found in list_index_words(row.path, row.title, row.aliases).values()
        }
        return [found for found in sorted(words) if count_edits(word, found, 1) <= 1]

    def list_passages(self, filters: Filters) -> PassageHashes:
        order = list(self._sources)
        found: list[Any] = []
        rows = sorted(self._documents.values(), key=lambda row: (order.index(row.source), row.path))
        for number, row in enumerate(rows):
            for chunk in row.chunks if passes(row, filters) else ():
                key = self._entries[chunk.chunk_id].key
                found.append((key, number, row.content_hash, chunk.text_hash))
        return PassageHashes(*([row[column] for row in found] for column in range(4)))

    def load_texts(self, keys: Collection[Key]) -> dict[Key, str]:
        return {chunk.key: chunk.text for chunk in self.load_chunks(sorted(keys))}

    def close(self) -> None:
        self.closed = True

    def _ordered(self) -> list[_Entry]:
        return sorted(self._entries.values(), key=lambda entry: entry.key)

    def _words(self, entry: _Entry) -> tuple[list[str], list[str], list[str]]:
        headings = [word for part in entry.row.chunk.heading_path for word in self.tokens(part)]
        return self.tokens(entry.document.title), headings, self.tokens(entry.row.chunk.text)

    def _weight(self, entry: _Entry, term: str) -> float:
        words = self._words(entry)
        return sum(
            weight * column.count(term) for weight, column in zip(self.weights, words, strict=True)
        )

    def _evict(self, doc_id: DocId, source: str, path: str) -> int:
        others = [
            row.doc_id
            for row in self._documents.values()
            if (row.source, row.path) == (source, path) and row.doc_id != doc_id
        ]
        return self.remove_documents(others)

    def _drop(self, chunk_ids: Collection[ChunkId]) -> None:
        for chunk_id in chunk_ids:
            del self._entries[chunk_id]

    def _stored(self, entry: _Entry) -> StoredChunk:
        document, chunk = entry.document, entry.row.chunk
        return StoredChunk(
            key=entry.key,
            chunk_id=entry.row.chunk_id,
            doc_id=document.doc_id,
            ordinal=chunk.ordinal,
            text=chunk.text,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            heading_path=chunk.heading_path,
            source=document.source,
            root=self._sources[document.source].root,
            path=document.path,
            title=document.title,
            media=document.media,
            lang=document.lang,
            tags=tuple(sorted(set(document.tags))),
            size=document.stamp.size,
            mtime_ns=document.stamp.mtime_ns,
            indexed_at=entry.indexed_at,
            chunker_version=document.chunker_version,
            embedding_version=entry.version if entry.state == "committed" else None,
            vector_state=entry.state,
            context=chunk.context,
            place=chunk.place,
        )


def _of(entry: _Entry, doc_id: DocId) -> bool:
    return entry.document.doc_id == doc_id
