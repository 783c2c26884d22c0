"""Contains the state of the vector of each chunk, and the keys of deleted chunks."""

from array import array
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import apsw

from kebab.core.chunks import PendingChunk
from kebab.core.ids import ChunkId, DocId, Key, Keys
from kebab.core.queries import VectorState
from kebab.store.sqlite import transaction
from kebab.store.sqlite.values import parse_strings, to_json


def insert_pending(database: apsw.Connection, first: int) -> None:
    """Add the chunks from this key on as pending."""
    database.execute(
        "INSERT INTO vectors (key, state) SELECT key, 'pending' FROM chunks WHERE key >= ?",
        (first,),
    )


def record_deleted_keys(database: apsw.Connection, keys: Collection[Key]) -> None:
    """Record which of these chunks have a stored vector, before they are deleted."""
    database.execute(
        "INSERT OR IGNORE INTO vector_garbage (key)"
        " SELECT key FROM vectors"
        " WHERE key IN (SELECT value FROM json_each(?)) AND state = 'committed'",
        (to_json(keys),),
    )


def store_pending_count(database: apsw.Connection) -> None:
    """Store the number of pending chunks for the present revision."""
    revision, count = transaction.get_revision(database), count_in_state(database, "pending")
    transaction.set_value(database, _PENDING, f"{revision} {count}")


def count_pending(database: apsw.Connection, revision: int) -> int:
    """Return the number of pending chunks: the stored one of this revision, or else count them."""
    stored = (transaction.get_value(database, _PENDING) or "").split()
    if stored[:1] == [str(revision)] and stored[-1].isdecimal():
        return int(stored[1])
    return count_in_state(database, "pending")


_PENDING = "pending_count"
_CHUNK_COLUMNS = (
    "v.key, c.chunk_id, d.doc_id, d.title, c.heading_path, c.text, c.embed_hash, c.context"
)
_CHUNK_TABLES = "(vectors v JOIN chunks c ON c.key = v.key JOIN documents d ON d.doc = c.doc)"

_EMBED_ORDER = (
    "d.doc IN (SELECT doc FROM chunks WHERE chunk_id IN (SELECT value FROM json_each(?1))) DESC,"
    " d.mtime_ns DESC, d.path, v.key"
)


def list_pending(
    database: apsw.Connection, limit: int, first: Sequence[ChunkId] = ()
) -> list[PendingChunk]:
    """Return pending chunks: those of the document edited last first, then by path and key.

    The documents of the chunks `first` come before all others.

    The second condition on the state lets SQLite use the partial index of open states, so that the
    repeated queries of a run do not scan the committed chunks. The inner query sorts without texts.
    """
    rows = database.execute(
        f"SELECT {_CHUNK_COLUMNS} FROM (SELECT v.key AS next"  # noqa: S608 - constants
        f" FROM {_CHUNK_TABLES} WHERE v.state = 'pending' AND v.state <> 'committed'"
        f" ORDER BY {_EMBED_ORDER} LIMIT ?2)"
        f" JOIN {_CHUNK_TABLES} ON v.key = next ORDER BY {_EMBED_ORDER}",
        (to_json(first), limit),
    )
    return _make_chunks(rows)


def list_chunks(database: apsw.Connection, after: Key, limit: int) -> list[PendingChunk]:
    """Return chunks with a higher key, by key, whatever their state."""
    rows = database.execute(
        f"SELECT {_CHUNK_COLUMNS} FROM {_CHUNK_TABLES}"  # noqa: S608 - constants
        " WHERE v.key > ? ORDER BY v.key LIMIT ?",
        (after, limit),
    )
    return _make_chunks(rows)


def _make_chunks(rows: Iterable[tuple[Any, ...]]) -> list[PendingChunk]:
    return [PendingChunk._make(row)._replace(heading_path=parse_strings(row[4])) for row in rows]


def count_in_state(database: apsw.Connection, state: VectorState) -> int:
    """Return how many chunks are in a state; open states are counted in their partial index."""
    still_open = "" if state == "committed" else " AND state <> 'committed'"
    sql = f"SELECT count(*) FROM vectors WHERE state = ?{still_open}"  # noqa: S608 - a constant
    return int(database.execute(sql, (state,)).get)


def count_all(database: apsw.Connection) -> int:
    """Return how many chunks there are."""
    return int(database.execute("SELECT count(*) FROM vectors").get)


def find_equal_embeddings(
    database: apsw.Connection, embed_hashes: Collection[str]
) -> dict[str, Key]:
    """Return, by embed hash, the first chunk whose vector is stored."""
    rows = database.execute(
        "SELECT c.embed_hash, min(c.key) FROM chunks c JOIN vectors v ON v.key = c.key"
        " WHERE c.embed_hash IN (SELECT value FROM json_each(?)) AND v.state = 'committed'"
        " GROUP BY c.embed_hash",
        (to_json(embed_hashes),),
    )
    return {str(embed_hash): Key(key) for embed_hash, key in rows}


def set_state(
    database: apsw.Connection, keys: Collection[Key], state: VectorState, version: str
) -> int:
    """Set the state of chunks under an embedding version; return how many changed."""
    before = database.total_changes()
    database.execute(
        "UPDATE vectors SET state = ?1, version = ?2 WHERE key IN (SELECT value FROM json_each(?3))"
        " AND (state, version) IS NOT (?1, ?2)",
        (state, version, to_json(keys)),
    )
    return database.total_changes() - before


def replace_all(database: apsw.Connection, version: str, unsupported: Collection[Key]) -> None:
    """Make every chunk committed under a version, or unsupported, and forget deleted keys."""
    database.execute("UPDATE vectors SET state = 'committed', version = ?", (version,))
    set_state(database, unsupported, "unsupported", version)
    database.execute("DELETE FROM vector_garbage")


def list_committed_keys(database: apsw.Connection) -> Keys:
    """Return the keys of all chunks whose vector is stored."""
    rows = database.execute("SELECT key FROM vectors WHERE state = 'committed' ORDER BY key")
    return array("q", (key for (key,) in rows))


def find_committed_keys(database: apsw.Connection, keys: Collection[Key]) -> set[Key]:
    """Return which of these chunks have a stored vector."""
    rows = database.execute(
        "SELECT key FROM vectors"
        " WHERE key IN (SELECT value FROM json_each(?)) AND state = 'committed'",
        (to_json(keys),),
    )
    return {Key(key) for (key,) in rows}


def count_committed(database: apsw.Connection, doc_ids: Collection[DocId]) -> dict[DocId, int]:
    """Return how many chunks of each of these documents have a stored vector, 0 included."""
    rows = database.execute(
        "SELECT d.doc_id, count(*) FROM documents d JOIN chunks c ON c.doc = d.doc"
        " JOIN vectors v ON v.key = c.key"
        " WHERE d.doc_id IN (SELECT value FROM json_each(?)) AND v.state = 'committed'"
        " GROUP BY d.doc_id",
        (to_json(doc_ids),),
    )
    return dict.fromkeys(doc_ids, 0) | {DocId(doc_id): int(count) for doc_id, count in rows}


def list_deleted_keys(database: apsw.Connection) -> list[Key]:
    """Return the keys of deleted chunks whose vectors may still be stored."""
    return [Key(key) for (key,) in database.execute("SELECT key FROM vector_garbage ORDER BY key")]


def forget_deleted_keys(database: apsw.Connection, keys: Collection[Key]) -> None:
    """Forget the keys of deleted chunks."""
    database.execute(
        "DELETE FROM vector_garbage WHERE key IN (SELECT value FROM json_each(?))", (to_json(keys),)
    )
