"""Copies a database, checks a copy that comes from elsewhere, and moves a damaged one aside."""

import os
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from kebab.core.documents import EMBEDDING_VERSION
from kebab.errors.catalog import StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import translate_os_errors
from kebab.store.sqlite import connection
from kebab.store.sqlite.catalogue import find_file_faults, read_objects
from kebab.store.sqlite.sources import ListedSource, list_sources, write_sources

DAMAGED = "damaged"
"""What the name of a database that was moved aside has behind its own."""


class Contents(NamedTuple):
    """The numbers of what an index holds."""

    schema_version: int
    embedding_version: str | None
    documents: int
    passages: int
    vectors: int
    sessions: int


def copy_database(path: Path, target: Path) -> None:
    """Write a private copy of one state of a database, also while another process writes.

    Raises:
        IoError: The file system refused.
        StoreCorrupt: The database is damaged.
    """
    with translate_os_errors(target, "create"):
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        connection.translate_sqlite_errors(str(path), "read"),
        closing(connection.connect_read_only(path)) as database,
    ):
        database.execute("VACUUM INTO ?", (str(target),))


def read_contents(path: Path) -> Contents:
    """Return what an index holds.

    Raises:
        IoError: The file system refused.
        StoreCorrupt: It is damaged, or not an index.
    """
    with (
        connection.translate_sqlite_errors(str(path), "read"),
        closing(connection.connect_read_only(path)) as database,
    ):
        counts = (
            "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks),"
            " (SELECT count(*) FROM vectors WHERE state = 'committed'),"
            " (SELECT count(DISTINCT session) FROM turns)"
        )
        return Contents(
            connection.read_schema_version(database),
            connection.get_value(database, EMBEDDING_VERSION),
            *map(int, next(database.execute(counts))),
        )


def find_contents(path: Path) -> Contents | None:
    """Return what an index holds, as far as it can be read; None when it cannot."""
    with suppress(Signal):
        return read_contents(path)
    return None


def find_sources(path: Path) -> list[ListedSource]:
    """Return the sources of a damaged index; none when they cannot be read."""
    with (
        suppress(Signal),
        connection.translate_sqlite_errors(str(path), "read"),
        closing(connection.connect_read_only(path)) as database,
    ):
        return list_sources(database)
    return []


def adopt_copy(path: Path, below: str = "", stdin_dir: Path | None = None) -> None:
    """Check and migrate a database that comes from elsewhere.

    `below` names its migrations, and is empty for an index. Of an index the texts from standard
    input are in `stdin_dir` here, and the list of its sources is written beside it.

    Raises:
        IoError: The file system refused.
        NotIndexed: A newer kebab wrote it.
        StoreCorrupt: It is damaged, or kebab did not write it.
    """
    with (
        connection.translate_sqlite_errors(str(path), "write"),
        closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as database,
    ):
        # What the schema of a stranger calls is not trusted.
        database.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        database.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        version = connection.read_schema_version(database)
        connection.migrate(database, path.parent, below)
        faults = find_file_faults(database, below)
        foreign = read_objects(database).keys() - read_objects(connection.create_schema(below))
        if foreign or not version:
            faults.append("kebab did not write it")
        if faults:
            raise StoreCorrupt(path=str(path), cause=faults[0])
        database.execute("PRAGMA journal_mode = WAL")
        if stdin_dir is not None:
            with database:
                sql = "UPDATE sources SET root = ? WHERE kind = 'stdin'"
                database.execute(sql, (stdin_dir.as_posix(),))
                connection.advance_revision(database)
            write_sources(path.parent, list_sources(database))


def move_aside(path: Path, now: float) -> Path:
    """Move a damaged database with its log to a new name beside it, and return the name.

    Raises:
        IoError: The file system refused.
    """
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    target = path.with_name(f"{path.name}.{DAMAGED}-{moment}")
    while os.path.lexists(target):
        target = target.with_name(f"{target.name}-")
    with translate_os_errors(path, "write"):
        # Without its database, SQLite deletes a log; so a kill in between harms nothing.
        for end in ("", "-wal", "-shm"):
            if os.path.lexists(f"{path}{end}"):
                Path(f"{path}{end}").rename(f"{target}{end}")
    return target
