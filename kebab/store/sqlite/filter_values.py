"""Reads which values of filters exist, and how many documents pass a filter."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from kebab.core.documents import Source, SourceCounts
from kebab.core.queries import Filters
from kebab.store.sqlite import filters as sql_filters
from kebab.store.sqlite.errors import translate_sqlite_errors
from kebab.store.sqlite.reader import SqliteReader

_VALUES: Mapping[str, str] = {
    "tag": "SELECT t.tag FROM document_tags t GROUP BY t.tag ORDER BY count(*) DESC, t.tag",
    "lang": "SELECT d.lang FROM documents d WHERE d.lang IS NOT NULL"
    " GROUP BY d.lang ORDER BY count(*) DESC, d.lang",
    "media": "SELECT d.media FROM documents d GROUP BY d.media ORDER BY count(*) DESC, d.media",
    "author": "SELECT a.author FROM document_authors a"
    " GROUP BY a.author ORDER BY count(*) DESC, a.author",
    "path_glob": "SELECT d.path FROM documents d ORDER BY d.path",
}
"""The query for the values of each filter, the most frequent first."""


class FilterValues:
    """Reads the snapshot of a reader, which the caller closes."""

    def __init__(self, reader: SqliteReader) -> None:
        self._database = reader.connection
        self._path = reader.path

    def has_documents(self, filters: Filters) -> bool:
        """Return whether any document passes the filters."""
        where, values = sql_filters.build_condition(filters)
        sql = f"SELECT EXISTS (SELECT 1 FROM documents d WHERE {where})"  # noqa: S608 - values are bound
        with self._translate_errors():
            return bool(self._database.execute(sql, values).get)

    def count_documents(self, filters: Filters) -> int:
        """Return how many documents pass the filters."""
        where, values = sql_filters.build_condition(filters)
        sql = f"SELECT count(*) FROM documents d WHERE {where}"  # noqa: S608 - values are bound
        with self._translate_errors():
            return int(self._database.execute(sql, values).get)

    def list_values(self, name: str) -> list[str]:
        """Return the existing values of a filter: `tag`, `author`, `lang`, `media`, `path_glob`."""
        with self._translate_errors():
            return [str(value) for (value,) in self._database.execute(_VALUES[name])]

    def list_sources(self) -> list[Source]:
        """Return the registered sources by name."""
        with self._translate_errors():
            rows = self._database.execute("SELECT name, root, kind FROM sources ORDER BY name")
            return [Source(name=name, root=root, kind=kind) for name, root, kind in rows]

    def count_sources(self) -> list[SourceCounts]:
        """Return the registered sources by name, with the numbers of their documents."""
        with self._translate_errors():
            rows = self._database.execute(
                "SELECT s.name, s.root, s.kind, count(d.doc),"
                " (SELECT count(*) FROM chunks c JOIN documents o ON o.doc = c.doc"
                " WHERE o.source = s.source), max(d.indexed_at)"
                " FROM sources s LEFT JOIN documents d ON d.source = s.source"
                " GROUP BY s.source ORDER BY s.name"
            )
            return [
                SourceCounts(Source(name=name, root=root, kind=kind), *counts)
                for name, root, kind, *counts in rows
            ]

    def get_time_range(self) -> tuple[float, float] | None:
        """Return the oldest and the newest date, in seconds; None without documents."""
        with self._translate_errors():
            rows: list[Any] = self._database.execute(
                "SELECT min(moment) / 1e9, max(moment) / 1e9"
                " FROM (SELECT coalesce(date_ns, mtime_ns) AS moment FROM documents)"
                " HAVING count(*)"
            ).fetchall()
        return tuple(rows[0]) if rows else None

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_sqlite_errors(self._path, "read")
