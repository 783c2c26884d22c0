"""Readers kept open between questions, with what they hold in memory."""

from pathlib import Path

from kebab.store.sqlite.fts import EVEN, Weights
from kebab.store.sqlite.reader import SqliteReader


class ReaderPool:
    """Lends readers of one data directory; one that comes back is lent again, on a new snapshot.

    Opening a database reads its schema, and what SQLite holds in memory of it is lost on closing.
    One thread lends and gives back; a reader that was closed is no longer its borrower's.
    """

    def __init__(self, data_dir: Path, weights: Weights = EVEN) -> None:
        self._data_dir = data_dir
        self._weights = weights
        self._idle: SqliteReader | None = None

    def lend(self) -> SqliteReader:
        """Return a reader with a snapshot of its own; to close it gives it back.

        Raises:
            NotIndexed: There is no database, or its schema is not the one of this build.
            IoError: The file system refused.
            StoreCorrupt: The file is not a database.
        """
        reader, self._idle = self._idle, None
        if reader is not None:
            if reader.renew():
                return reader
            reader.discard()
        return SqliteReader(self._data_dir, self._weights, self._take)

    def close(self) -> None:
        """Close what is not lent."""
        if self._idle is not None:
            self._idle.discard()
            self._idle = None

    def _take(self, reader: SqliteReader) -> bool:
        if self._idle is not None:
            return False
        self._idle = reader
        return True
