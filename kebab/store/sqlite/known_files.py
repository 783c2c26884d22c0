"""Contains what is known of files besides documents: unread files, and folders as listed.

The plan of a run is stored before its files are read. A row leaves it with the transaction that
stores the document, so that after a kill the rest is what was not read.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import apsw

from kebab.core.documents import Extent, FileCounts, Source, SourcePlan
from kebab.store.sqlite.errors import translate_sqlite_errors
from kebab.store.sqlite.reader import SqliteReader

_SOURCE = "(SELECT source FROM sources WHERE name = ?)"


def store_plan(database: apsw.Connection, plan: SourcePlan) -> None:
    """Replace what is known of the unread files and the folders of a scope."""
    paths = [plan.below] if plan.files is None else list(plan.files)
    for path in paths:
        where, values = _match_below(path)
        for table in ("unread_files", "listed_folders"):
            database.execute(
                f"DELETE FROM {table} WHERE source = {_SOURCE} AND {where}",  # noqa: S608 - constants
                (plan.source, *values),
            )
    database.executemany(
        "INSERT OR REPLACE INTO unread_files (source, path, indexed, reason)"  # noqa: S608 - a constant
        f" VALUES ({_SOURCE}, ?, ?, ?)",
        ((plan.source, *file) for file in plan.unread),
    )
    database.executemany(
        f"INSERT OR REPLACE INTO listed_folders (source, path, mtime_ns) VALUES ({_SOURCE}, ?, ?)",  # noqa: S608 - a constant
        ((plan.source, path, mtime_ns) for path, mtime_ns in plan.folders.items()),
    )
    if plan.files is None and not plan.below:
        database.execute(
            "UPDATE sources SET listed_rules = ? WHERE name = ?", (plan.rules, plan.source)
        )


def mark_failed(database: apsw.Connection, source: str, path: str, reason: str) -> None:
    """Store why a planned file could not be read."""
    database.execute(
        f"UPDATE unread_files SET reason = ? WHERE source = {_SOURCE} AND path = ?",  # noqa: S608 - a constant
        (reason, source, path),
    )


def forget_unread(database: apsw.Connection, source: str, path: str) -> None:
    """Delete a planned file, because it was stored or is gone."""
    database.execute(
        f"DELETE FROM unread_files WHERE source = {_SOURCE} AND path = ?",  # noqa: S608 - a constant
        (source, path),
    )


def list_children(database: apsw.Connection, source: str, folder: str) -> set[str]:
    """Return the documents, unread files and folders that are known directly in a folder."""
    where, values = _match_directly_in(folder)
    children: set[str] = set()
    for table in ("documents", "unread_files", "listed_folders"):
        rows = database.execute(
            f"SELECT path FROM {table} WHERE source = {_SOURCE} AND {where}",  # noqa: S608 - constants
            (source, *values),
        )
        children.update(path for (path,) in rows)
    return children


def _match_below(path: str, column: str = "path") -> tuple[str, tuple[str, ...]]:
    """Return the condition for a path and all below it; every path for an empty one."""
    if not path:
        return "1", ()
    return f"({column} = ? OR {column} >= ? AND {column} < ?)", (path, f"{path}/", f"{path}0")


def _match_directly_in(folder: str) -> tuple[str, tuple[str | int, ...]]:
    """Return the condition for the paths directly in a folder, without the folder itself."""
    where, values = _match_below(folder)
    start = len(folder) + 2 if folder else 1
    return f"{where} AND path <> ? AND instr(substr(path, ?), '/') = 0", (*values, folder, start)


class KnownFiles:
    """Reads what is known of files in the snapshot of a reader, which the caller closes."""

    def __init__(self, reader: SqliteReader) -> None:
        self._database = reader.connection
        self._path = reader.path

    def list_extents(self) -> list[Extent]:
        """Return all sources by name."""
        with self._translate_errors():
            rows = self._database.execute(
                "SELECT source, name, root, kind, listed_rules FROM sources ORDER BY name"
            )
            return [
                Extent(number, Source(name=name, root=root, kind=kind), rules)
                for number, name, root, kind, rules in rows
            ]

    def find_document_place(self, doc_id: str) -> tuple[int, str] | None:
        """Return the number of the source and the path of a document."""
        sql = "SELECT source, path FROM documents WHERE doc_id = ?"
        with self._translate_errors():
            row = self._database.execute(sql, (doc_id,)).fetchone()
        return None if row is None else (int(row[0]), str(row[1]))

    def count_files(self, extent: Extent) -> FileCounts:
        """Return the numbers of the files of an extent."""
        documents = self._select("count(*)", "documents", extent)
        unread = self._select(
            "count(*) - count(reason), count(reason), coalesce(sum(indexed), 0)",
            "unread_files",
            extent,
        )
        return FileCounts(*next(documents), *next(unread))

    def holds(self, extent: Extent) -> bool:
        """Return whether any document or listed folder is in an extent."""
        tables = ("listed_folders", "documents")
        return any(next(self._select("1", table, extent, " LIMIT 1"), None) for table in tables)

    def list_unread(self, extent: Extent) -> dict[str, str | None]:
        """Return the unread files of an extent, with the reason of those that failed."""
        return dict(self._select("path, reason", "unread_files", extent))

    def list_unread_in(self, extent: Extent, folder: str) -> set[str]:
        """Return the unread files directly in a folder of the source of an extent."""
        return self._list_in("unread_files", extent, folder)

    def list_documents_in(self, extent: Extent, folder: str) -> set[str]:
        """Return the documents directly in a folder of the source of an extent."""
        return self._list_in("documents", extent, folder)

    def _list_in(self, table: str, extent: Extent, folder: str) -> set[str]:
        where, values = _match_directly_in(folder)
        sql = f"SELECT path FROM {table} WHERE source = ? AND {where}"  # noqa: S608 - constants
        with self._translate_errors():
            return {path for (path,) in self._database.execute(sql, (extent.number, *values))}

    def iterate_documents(self, extent: Extent) -> Iterator[tuple[str, int, int]]:
        """Yield path, size and time of the documents of an extent whose file is not unread."""
        unread = (
            "SELECT 1 FROM unread_files u WHERE u.source = documents.source"
            " AND u.path = documents.path"
        )
        columns, condition = "path, size, mtime_ns", f" AND NOT EXISTS ({unread})"
        yield from self._select(columns, "documents", extent, condition)

    def find_content_hash(self, extent: Extent, path: str) -> str:
        """Return the hash of the content that a document was read from."""
        sql = (
            "SELECT content_hash FROM documents JOIN assets USING (asset)"
            " WHERE source = ? AND path = ?"
        )
        with self._translate_errors():
            return str(self._database.execute(sql, (extent.number, path)).get)

    def list_folders(self, extent: Extent) -> dict[str, int]:
        """Return the time of each listed folder and ignore file of an extent."""
        return dict(self._select("path, mtime_ns", "listed_folders", extent))

    def list_partial(self, extent: Extent) -> list[str]:
        """Return the paths of the documents of an extent of which only a part is searched."""
        return [path for (path,) in self._select("path", "documents", extent, " AND partial")]

    def count_pending(self, extents: Iterable[Extent]) -> int:
        """Return how many chunks of these extents lack a vector."""
        total = 0
        for extent in extents:
            where, values = _match_below(extent.below, "d.path")
            with self._translate_errors():
                # The second condition lets SQLite use the index of open states.
                total += self._database.execute(
                    "SELECT count(*) FROM vectors v JOIN chunks c ON c.key = v.key"  # noqa: S608 - constants
                    " JOIN documents d ON d.doc = c.doc WHERE v.state = 'pending'"
                    f" AND v.state <> 'committed' AND d.source = ? AND {where}",
                    (extent.number, *values),
                ).get
        return total

    def _select(
        self, columns: str, table: str, extent: Extent, condition: str = ""
    ) -> Iterator[tuple[Any, ...]]:
        where, values = _match_below(extent.below)
        sql = f"SELECT {columns} FROM {table} WHERE source = ? AND {where}{condition}"  # noqa: S608 - constants
        with self._translate_errors():
            yield from self._database.execute(sql, (extent.number, *values))

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_sqlite_errors(self._path, "read")
