"""Contains the writer of the database, and keeps the list of the sources in a file beside it.

When the database is lost, a new one starts with the sources of this file, so that the next ingest
reads them again. The file also has the names of what no scan of a folder finds: single files, and
files that the user named although ignore rules skip them.
"""

import json
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any

import apsw
import msgspec

from kebab.core.chunks import ChunkId, DocId, Key
from kebab.core.documents import (
    EMBEDDING_REASON,
    EMBEDDING_VERSION,
    ChunkChanges,
    DocumentRow,
    FileStamp,
    MovedDocument,
    Source,
    SourcePlan,
    build_named_files_key,
    parse_named_files,
)
from kebab.errors.signal import Signal
from kebab.errors.system import translate_os_errors
from kebab.platform import delete_path, replace_file
from kebab.store.sqlite import chunks, connection, documents, fts, reader
from kebab.store.sqlite.connection import (
    Transactions,
    forward,
    get_database_path,
    open_writer,
    translate_reads,
    translate_sqlite_errors,
    truncate_log,
)
from kebab.store.sqlite.lock import SOURCES, IngestState, WriterLock
from kebab.wire.record import VectorState

_MERGE_PAGES, _MERGE_STEPS = 500, 64


@translate_reads
class SqliteWriter(AbstractContextManager["SqliteWriter"]):
    """A `SqliteWriter` that holds the writer lock of its data directory until `close`."""

    load_known_documents = forward(documents.load_known_documents)
    list_children = forward(documents.list_children)
    load_listing = forward(documents.load_listing)
    list_sources = forward(documents.list_sources)
    has_document = forward(documents.has_document)
    count_pending = forward(reader.count_pending)
    list_pending = forward(chunks.list_pending)
    get_revision = forward(connection.get_revision)
    measure_languages = forward(documents.measure_languages)
    list_committed_keys = forward(chunks.list_committed_keys)
    get_value = forward(connection.get_value)

    def __init__(
        self, data_dir: Path, tokens: fts.Tokenizer, now: Callable[[], float] = time.time
    ) -> None:
        """Take the lock, then open and migrate the database.

        `tokens` returns the words of the index.
        """
        with ExitStack() as undo:
            self._lock = undo.enter_context(WriterLock(data_dir))
            self.database = open_writer(data_dir)
            undo.callback(self.database.close)
            self.path = str(get_database_path(data_dir))
            with translate_sqlite_errors(self.path, "write"):
                chunks.update_words(self.database, tokens)
                restore_sources(self.database, data_dir)
            undo.pop_all()
        self._data_dir = data_dir
        self._tokens = tokens
        self._now = now
        self._transactions = Transactions(self.database, self.path)

    def close(self) -> None:
        """Write the list of the sources, close the database and free the lock."""
        with ExitStack() as ends:
            ends.callback(self._lock.close)
            ends.callback(self.database.close)
            with suppress(Signal, apsw.ConnectionClosedError):  # other calls report damage
                self._save_sources()

    def __exit__(self, *_: object) -> None:
        self.close()

    def publish(self, state: IngestState) -> None:
        """Let other processes see the progress of this ingest."""
        self._lock.publish(state)

    def batch(self) -> AbstractContextManager[None]:
        """Let the calls in the block share commits (each 256 or each second); each stays atomic."""
        return self._transactions.batch()

    def transaction(self) -> AbstractContextManager[None]:
        """Let the calls in the block be one transaction: all count, or none."""
        return self._transactions.batch(whole=True)

    def list_pending_ids(self) -> list[tuple[ChunkId, Key]]:
        """Return the id and the key of every chunk that lacks a vector."""
        rows = self.database.execute(
            "SELECT c.chunk_id, c.key FROM vectors v JOIN chunks c ON c.key = v.key"
            " WHERE v.state = 'pending' AND v.state <> 'committed'"
        )
        return [(ChunkId(name), Key(key)) for name, key in rows]

    def add_source(self, source: Source) -> None:
        """Register a source, or update its kind."""
        with self._transactions.unit():
            self.database.execute(
                "INSERT INTO sources (name, root, kind) VALUES (?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET root = excluded.root, kind = excluded.kind",
                (source.name, source.root, source.kind),
            )
        self._save_sources()

    def _save_sources(self) -> None:
        with translate_sqlite_errors(self.path, "read"):
            write_sources(self._data_dir, list_stored_sources(self.database))

    def rebuild_words(self) -> None:
        """Write the words of all passages and names again from what is stored."""
        with self._transactions.unit(changes=True):
            chunks.rebuild_words(self.database, self._tokens)

    def remove_source(self, name: str) -> int:
        """Delete a source with its documents; return how many chunks these had."""
        database = self.database
        with self._transactions.unit(changes=True):
            rows = database.execute(
                f"SELECT doc_id FROM documents WHERE source = {documents.SOURCE}",  # noqa: S608 - a constant
                (name,),
            )
            found = [DocId(doc_id) for (doc_id,) in rows]
            count = documents.remove_documents(database, found)
            # A source above left these files to this one, so its folders there are listed again.
            sql = "DELETE FROM sources WHERE name = ? RETURNING root"
            for (root,) in database.execute(sql, (name,)):
                database.execute(
                    "UPDATE listed_folders SET mtime_ns = 0 FROM sources s WHERE s.source ="
                    " listed_folders.source AND rtrim(s.root || '/' || path, '/') IN (?, ?)",
                    (root, root.rpartition("/")[0]),
                )
        self._save_sources()
        return count

    def store_plans(self, plans: Sequence[SourcePlan]) -> None:
        """Store what a run is about to read, in place of what was known of its scopes."""
        with self._transactions.unit():
            for plan in plans:
                self._store_plan(plan)

    def _store_plan(self, plan: SourcePlan) -> None:
        database, source = self.database, documents.SOURCE
        for path in [plan.below] if plan.files is None else list(plan.files):
            where, values = fts.match_below(path)
            for table in ("unread_files", "listed_folders"):
                database.execute(
                    f"DELETE FROM {table} WHERE source = {source} AND {where}",  # noqa: S608 - constants
                    (plan.source, *values),
                )
        database.executemany(
            "INSERT OR REPLACE INTO unread_files (source, path, indexed, reason)"  # noqa: S608 - a constant
            f" VALUES ({source}, ?, ?, ?)",
            ((plan.source, *file) for file in plan.unread),
        )
        database.executemany(
            "INSERT OR REPLACE INTO listed_folders (source, path, mtime_ns)"  # noqa: S608 - a constant
            f" VALUES ({source}, ?, ?)",
            ((plan.source, path, mtime_ns) for path, mtime_ns in plan.folders.items()),
        )
        if plan.files is None and not plan.below:
            sql = "UPDATE sources SET listed_rules = ? WHERE name = ?"
            database.execute(sql, (plan.rules, plan.source))

    def mark_failed(self, source: str, path: str, reason: str) -> None:
        """Store why a planned file could not be read."""
        with self._transactions.unit():
            self.database.execute(
                f"UPDATE unread_files SET reason = ? WHERE source = {documents.SOURCE}"  # noqa: S608 - a constant
                " AND path = ?",
                (reason, source, path),
            )

    def commit_when_due(self) -> None:
        """Commit what was written a while ago, so that waiting blocks no other writer."""
        if self.database.in_transaction:
            with self._transactions.unit():
                pass  # the end of a unit commits what is a second old

    def forget_unread(self, source: str, path: str) -> None:
        """Delete a planned file that is gone."""
        with self._transactions.unit():
            self._forget_unread(source, path)

    def _forget_unread(self, source: str, path: str) -> None:
        self.database.execute(
            f"DELETE FROM unread_files WHERE source = {documents.SOURCE} AND path = ?",  # noqa: S608 - a constant
            (source, path),
        )

    def put_document(self, document: DocumentRow) -> ChunkChanges:
        """Store a document with exactly its chunks; delete another document at its path."""
        with self._transactions.unit(changes=True):
            evicted = self._evict(document.doc_id, document.source, document.path)
            saved = documents.save_document(self.database, document, self._now())
            target = chunks.ChunkTarget(self._tokens, document, *saved)
            written = chunks.replace_chunks(self.database, target)
            self._forget_unread(document.source, document.path)
        removed = written.removed + evicted
        return ChunkChanges(kept=written.kept, added=written.added, removed=removed)

    def move_document(
        self, doc_id: DocId, source: str, path: str, stamp: FileStamp
    ) -> MovedDocument:
        """Store that the file of a document is at another path, with the same content."""
        with self._transactions.unit(changes=True):
            self._evict(doc_id, source, path)
            doc, title, warnings, aliases = self.database.execute(
                f"UPDATE documents SET source = {documents.SOURCE}, path = ?, size = ?,"  # noqa: S608 - constants
                " mtime_ns = ?, inode = ?, indexed_at = ? WHERE doc_id = ?"
                " RETURNING doc, title, warnings, (SELECT json_group_array(alias)"
                " FROM document_aliases a WHERE a.doc = documents.doc)",
                (source, path, *documents.to_columns(stamp), self._now(), doc_id),
            ).get
            fts.write_names(self.database, doc, path, title, fts.parse_strings(aliases))
            self._forget_unread(source, path)
            sql = "SELECT count(*) FROM chunks WHERE doc = ?"
            count = int(self.database.execute(sql, (doc,)).get)
        return MovedDocument(count, fts.parse_strings(warnings))

    def update_stamp(self, doc_id: DocId, stamp: FileStamp) -> None:
        """Update the stamp of a file whose content did not change."""
        with self._transactions.unit(changes=True):
            self.database.execute(
                "UPDATE documents SET size = ?, mtime_ns = ?, inode = ? WHERE doc_id = ?",
                (*documents.to_columns(stamp), doc_id),
            )

    def _evict(self, doc_id: DocId, source: str, path: str) -> int:
        """Delete another document at a path; return how many chunks it had."""
        rows = self.database.execute(
            f"SELECT doc_id FROM documents WHERE source = {documents.SOURCE} AND path = ?"  # noqa: S608 - a constant
            " AND doc_id <> ?",
            (source, path, doc_id),
        ).fetchall()
        evicted = [DocId(str(doc)) for (doc,) in rows]
        return documents.remove_documents(self.database, evicted) if evicted else 0

    def remove_documents(self, doc_ids: Sequence[DocId]) -> int:
        """Delete documents with their chunks; return how many chunks that were."""
        if not doc_ids:
            return 0
        with self._transactions.unit(changes=True):
            return documents.remove_documents(self.database, doc_ids)

    def find_equal_embeddings(self, embed_hashes: Collection[str]) -> dict[str, Key]:
        """Return, by embed hash, a chunk whose vector is committed and can be copied."""
        sql = (
            "SELECT c.embed_hash, min(c.key) FROM chunks c JOIN vectors v ON v.key = c.key"
            " WHERE c.embed_hash IN (SELECT value FROM json_each(?)) AND v.state = 'committed'"
            " GROUP BY c.embed_hash"
        )
        return dict(self.database.execute(sql, (fts.to_json(embed_hashes),)))

    def mark_vectors(self, keys: Collection[Key], state: VectorState, version: str) -> None:
        """Set the state of chunks; call it after their vectors are durable."""
        sql = (
            "UPDATE vectors SET state = ?1, version = ?2 WHERE (state, version) IS NOT (?1, ?2)"
            " AND key IN (SELECT value FROM json_each(?3))"
        )
        with self._transactions.unit():
            self.database.execute(sql, (state, version, fts.to_json(keys)))
            if self.database.changes():
                self._transactions.mark_changed()

    def replace_model(self, version: str, reason: str | None) -> None:
        """Store the embedding version and its reason, and make all chunks pending."""
        with self._transactions.unit():
            self.database.execute(
                "UPDATE vectors SET state = 'pending', version = NULL WHERE state <> 'pending'"
                " AND key NOT IN (SELECT key FROM chunks WHERE text = '')"
            )
            if self.database.changes():
                self._transactions.mark_changed()
            connection.set_value(self.database, EMBEDDING_VERSION, version)
            connection.set_value(self.database, EMBEDDING_REASON, reason)

    def count_committed(self, doc_ids: Collection[DocId]) -> dict[DocId, int]:
        """Return how many chunks of each of these documents have a stored vector, 0 included."""
        rows = self.database.execute(
            "SELECT d.doc_id, count(*) FROM documents d JOIN chunks c ON c.doc = d.doc"
            " JOIN vectors v ON v.key = c.key"
            " WHERE d.doc_id IN (SELECT value FROM json_each(?)) AND v.state = 'committed'"
            " GROUP BY d.doc_id",
            (fts.to_json(doc_ids),),
        )
        return dict.fromkeys(doc_ids, 0) | dict(rows)

    def set_value(self, name: str, value: str | None) -> None:
        """Store a value by name; None deletes it."""
        with self._transactions.unit():
            connection.set_value(self.database, name, value)

    def record_run(self, scope: str, started: float, finished: float, changed: int) -> None:
        """Record a run that changed anything, in place of the one before."""
        if changed:
            with self._transactions.unit():
                sql = "INSERT OR REPLACE INTO runs VALUES (1, ?, ?, ?, ?)"
                self.database.execute(sql, (scope, started, finished, changed))

    def checkpoint(self) -> None:
        """Merge the segments of the word index and move the write-ahead log into the database."""
        merge = "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', ?)"
        with self._transactions.unit():
            for _ in range(_MERGE_STEPS):  # the command itself counts as one change
                before = self.database.total_changes()
                self.database.execute(merge, (_MERGE_PAGES,))
                if self.database.total_changes() - before <= 1:
                    break
        with translate_sqlite_errors(self.path, "write"):
            truncate_log(self.database)


class ListedSource(Source, frozen=True, kw_only=True):
    """A source with its single files, and the files of its folder that ignore rules would skip."""

    files: list[str]
    exempt: list[str]


def load_sources(data_dir: Path) -> list[ListedSource]:
    """Return the sources of the file; none without a file that can be read."""
    try:
        return msgspec.json.decode((data_dir / SOURCES).read_bytes(), type=list[ListedSource])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return []


def list_stored_sources(database: apsw.Connection) -> list[ListedSource]:
    """Return what the file has to say of a database."""
    rows: list[Any] = database.execute(
        "SELECT name, root, kind, (SELECT json_group_array(path) FROM documents d"
        " WHERE d.source = s.source AND s.kind = 'files' AND instr(path, '/') = 0)"
        " FROM sources s ORDER BY source"
    ).fetchall()
    return [
        ListedSource(
            name=name,
            root=root,
            kind=kind,
            files=sorted(fts.parse_strings(files)),
            exempt=sorted(
                parse_named_files(connection.get_value(database, build_named_files_key(name)))
            ),
        )
        for name, root, kind, files in rows
    ]


def write_sources(data_dir: Path, listed: list[ListedSource]) -> None:
    """Write the file unless it says the same already.

    Raises:
        IoError: The file system refused; the old file stays.
    """
    content = msgspec.json.format(msgspec.json.encode(listed), indent=1) + b"\n"
    path = data_dir / SOURCES
    with translate_os_errors(path, "write"):
        for draft_of_killed_call in data_dir.glob(f".{SOURCES}.*"):
            delete_path(draft_of_killed_call)
        if not path.is_file() or path.read_bytes() != content:
            with replace_file(path) as draft:
                draft.write(content)


def restore_sources(database: apsw.Connection, data_dir: Path) -> None:
    """Register the sources of the file in a database that has none; their files are unread."""
    if database.execute("SELECT EXISTS (SELECT 1 FROM sources)").get:
        return
    with database:
        for one in load_sources(data_dir):
            database.execute(
                "INSERT OR IGNORE INTO sources (name, root, kind) VALUES (?, ?, ?)",
                (one.name, one.root, one.kind),
            )
            database.execute(
                "INSERT OR IGNORE INTO unread_files (source, path, indexed)"
                " SELECT s.source, f.value, 0 FROM json_each(?) f, sources s WHERE s.name = ?",
                (json.dumps(one.files), one.name),
            )
            if one.exempt:
                connection.set_value(
                    database, build_named_files_key(one.name), json.dumps(one.exempt)
                )
