"""Opens database connections, applies migrations, and runs write transactions.

One table translates the exceptions of SQLite to signals.
"""

import time
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial, wraps
from inspect import isgeneratorfunction
from pathlib import Path
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

import apsw

from kebab.errors.catalog import Cancelled, IoError, Locked, NotIndexed, Op, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import translate_os_errors
from kebab.platform import create_folder, find_data_folder
from kebab.store.sqlite import lock
from kebab.store.sqlite.fts import lower_text

P = ParamSpec("P")
T = TypeVar("T")
SignalBuilder: TypeAlias = Callable[[str, Op, str], Signal]


def _list_errors(names: str) -> list[type[apsw.Error]]:
    return [getattr(apsw, f"{name}Error") for name in names.split()]


# A lack of any resource, memory included, is as temporary as a full disk.
_IO = _list_errors(
    "IO CantOpen Full Permissions ReadOnly NoLFS Auth VFSNotImplemented VFSFileClosed NoMem TooBig"
    " Abort"
)
_LOCKED = _list_errors("Busy Locked Protocol")
# The statements of kebab are fixed and tested, so one that fails means a damaged schema.
_CORRUPT = _list_errors(
    "Corrupt NotADB Format Empty Constraint Mismatch SchemaChange Internal NotFound SQL"
)
_FAULTS_IN_KEBAB = _list_errors(
    "ThreadingViolation ForkingViolation IncompleteExecution Bindings ExecutionComplete"
    " ExtensionLoading ConnectionNotClosed ConnectionClosed CursorClosed NoFTS5 InvalidContext"
    " Misuse Range"
)

SIGNALS: Mapping[type[apsw.Error], SignalBuilder | None] = {
    **dict.fromkeys(_IO, lambda path, op, cause: IoError(path=path, op=op, cause=cause)),
    **dict.fromkeys(_LOCKED, lambda path, _op, _cause: Locked(path=path, holder_pid=None)),
    **dict.fromkeys(_CORRUPT, lambda path, _op, cause: StoreCorrupt(path=path, cause=cause)),
    apsw.InterruptError: lambda _path, op, _cause: Cancelled(operation=op),
    **dict.fromkeys((*_FAULTS_IN_KEBAB, apsw.ExecTraceAbort), None),
}
"""Every exception class of apsw; None marks those that only a fault in kebab can raise."""


@contextmanager
def translate_sqlite_errors(path: str, op: Op) -> Iterator[None]:
    """Raise what SQLite reports in the block as signals.

    Raises:
        IoError: The file system refused.
        Locked: Another connection holds the database for longer than the timeout.
        StoreCorrupt: The database is damaged, or a stored value cannot be decoded.
    """
    try:
        yield
    except apsw.Error as error:
        build = SIGNALS.get(type(error))
        if build is None:
            raise
        raise build(path, op, str(error)) from error
    except UnicodeEncodeError:
        raise  # a value of a caller that was not checked
    except ValueError as error:
        # kebab stores valid text, JSON and numbers only.
        is_text = isinstance(error, UnicodeDecodeError)
        cause = "a stored text is not valid UTF-8" if is_text else "a stored value cannot be read"
        raise StoreCorrupt(path=path, cause=cause) from error


def forward(
    query: Callable[Concatenate[apsw.Connection, P], T],
) -> Callable[Concatenate[Any, P], T]:
    """Return a query as a method of an object with `database`."""

    @wraps(query)
    def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return query(self.database, *args, **kwargs)

    return run


def translate_reads(kind: type[T]) -> type[T]:
    """Let the public methods of a class raise what SQLite reports as signals.

    An object has its `path` for errors. A generator translates by itself.
    """

    def translate(method: FunctionType) -> Callable[..., Any]:
        @wraps(method)
        def run(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            with translate_sqlite_errors(self.path, "read"):
                return method(self, *args, **kwargs)

        return run

    for name, method in list(vars(kind).items()):
        if isinstance(method, FunctionType) and name[0] != "_" and not isgeneratorfunction(method):
            setattr(kind, name, translate(method))
    return kind


FILE_NAME = lock.FILES[0]

_BUSY_MS = 5_000
_PAUSE_S = 0.001
_WRITER_CACHE_KIB, _READER_CACHE_KIB = 65_536, 16_384
_LOG_PAGES = 8_192
"""How many pages of the log are moved into the database at once: many are written repeatedly."""


def get_database_path(data_dir: Path) -> Path:
    """Return the path of the database of a data directory."""
    return data_dir / FILE_NAME


def open_reader(data_dir: Path) -> apsw.Connection:
    """Open a snapshot of an existing database, which begins with the first read; create nothing.

    Raises:
        NotIndexed: There is none, or its schema is not the one of this build.
    """
    path = get_database_path(data_dir)
    lock.await_replacement(data_dir)
    _refuse_missing(path)
    with translate_sqlite_errors(str(path), "read"), ExitStack() as undo:
        database = connect_read_only(path)
        undo.callback(database.close)
        create: Any = partial(database.create_scalar_function, deterministic=True)
        create("path_matches", _matches_path, 2)
        create("lower_text", lower_text, 1)
        create("property_matches", _matches_property, 2)
        check_schema_version(database, data_dir)
        database.execute("BEGIN")
        undo.pop_all()
    return database


def _refuse_missing(path: Path) -> None:
    if not path.exists() or not path.stat().st_size:
        expected = str(get_expected_schema_version())
        raise NotIndexed(data_dir=str(path.parent), expected=expected, found=None)


def connect_read_only(path: Path) -> apsw.Connection:
    """Open an existing database for reading, also in a folder without write permission."""
    flags = apsw.SQLITE_OPEN_READONLY
    try:
        return _prepare_reader(apsw.Connection(str(path), flags=flags))
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # SQLite cannot create its shared memory in a read-only folder. The database file alone is
        # complete only when there is no log beside it.
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise
    flags |= apsw.SQLITE_OPEN_URI
    return _prepare_reader(apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=flags))


def _prepare_reader(database: apsw.Connection) -> apsw.Connection:
    with ExitStack() as undo:
        undo.callback(database.close)
        database.set_busy_timeout(_BUSY_MS)
        read_schema_version(database)
        database.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")
        # The folder may be read-only or full; within a transaction this cannot be changed any more.
        database.execute("PRAGMA temp_store = MEMORY")
        undo.pop_all()
    return database


def _matches_path(pattern: str, path: str) -> bool:
    from kebab.text.filters import matches_glob

    return matches_glob(pattern, path)


def _matches_property(condition: str, value: str) -> bool:
    from kebab.text.filters import matches_property

    return matches_property(condition, value)


def open_writer(data_dir: Path, name: str = FILE_NAME, below: str = "") -> apsw.Connection:
    """Open a database for writing; create or migrate it if needed.

    `below` is the folder of the migrations of a database other than the index.

    Raises:
        NotIndexed: It was written by a newer build.
        Locked: Another connection holds it.
    """
    path = data_dir / name
    with translate_os_errors(data_dir, "create"):
        create_folder(data_dir, 0o700)
    with translate_sqlite_errors(str(path), "write"), ExitStack() as undo:
        database = apsw.Connection(str(path))
        undo.callback(database.close)
        database.set_busy_timeout(_BUSY_MS)
        database.transaction_mode = "IMMEDIATE"  # two that begin as readers could not both write
        database.execute("PRAGMA journal_mode = WAL")
        # The disk has every commit, also one that a reader keeps in the log.
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("PRAGMA temp_store = MEMORY")
        database.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
        database.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        # Closing leaves the log empty, so that the database file alone is complete.
        database.execute("PRAGMA journal_size_limit = 0")
        persist_log(database)
        if not check_schema_version(database, data_dir, below, may_be_older=True):
            migrate(database, data_dir, below)
        undo.pop_all()
    return database


def truncate_log(database: apsw.Connection) -> None:
    """Move the log into the database as far as active readers allow, without waiting for them."""
    database.set_busy_timeout(0)
    with suppress(apsw.BusyError):
        database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    database.set_busy_timeout(_BUSY_MS)


def persist_log(database: apsw.Connection) -> None:
    """Keep the log files on closing, so that no later reader has to create them."""
    flag = array("i", [1])
    database.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, flag.buffer_info()[0])


@contextmanager
def open_side_writer(data_dir: Path, wait_s: float) -> Iterator[apsw.Connection]:
    """Yield an existing database for short writes without the writer lock.

    Other writers are waited for so many seconds. A transaction that is open at the end is undone.

    Raises:
        NotIndexed: There is no database with the schema of this build.
    """
    path = get_database_path(data_dir)
    _refuse_missing(path)
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as database:
        database.set_busy_handler(build_busy_handler(wait_s) if wait_s else None)
        check_schema_version(database, data_dir)
        database.transaction_mode = "IMMEDIATE"
        database.execute("PRAGMA synchronous = NORMAL")
        # Closing must be cheap, so the next ingest moves the log into the database.
        database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        persist_log(database)
        yield database


def build_busy_handler(seconds: float) -> Callable[[int], bool]:
    """Return a busy handler that waits for another writer.

    An ingest is between two transactions for only a few milliseconds, about twice a second. The
    growing pauses of SQLite's own timeout miss these for seconds.
    """
    end = time.monotonic() + seconds

    def wait(_: int) -> bool:
        time.sleep(_PAUSE_S)
        return time.monotonic() < end

    return wait


def read_migrations(below: str = "") -> dict[int, Path]:
    """Return the SQL files of a database by the schema version that each makes, in order.

    `V002__search.sql` makes version 2. `below` is the folder of a database other than the index.
    """
    folder = find_data_folder("migrations", "migrations") / below
    scripts = sorted(folder.glob("V[0-9][0-9][0-9]__*.sql"))
    return {int(script.name[1:4]): script for script in scripts}


def get_expected_schema_version(below: str = "") -> int:
    """Return the schema version that this build reads and writes."""
    return max(read_migrations(below))


def read_schema_version(database: apsw.Connection) -> int:
    """Return the schema version of a database; 0 before the first migration."""
    return int(database.execute("PRAGMA user_version").get)


def check_schema_version(
    database: apsw.Connection, data_dir: Path, below: str = "", *, may_be_older: bool = False
) -> bool:
    """Return whether the schema of a database is that of this build; refuse another one.

    Raises:
        NotIndexed: It is newer, or older unless it may be; it names a file other than the index.
    """
    found, expected = read_schema_version(database), get_expected_schema_version(below)
    if found > expected or (found < expected and not may_be_older):
        raise NotIndexed(
            data_dir=str(data_dir),
            expected=str(expected),
            found=found,
            file=database.filename if below else None,
        )
    return found == expected


def migrate(database: apsw.Connection, data_dir: Path, below: str = "") -> None:
    """Migrate a database to the version of this build, in one transaction.

    So a full disk leaves the schema that was there, and not one between two versions.

    Raises:
        NotIndexed: It comes from a newer build.
    """
    with database:
        check_schema_version(database, data_dir, below, may_be_older=True)
        found = read_schema_version(database)
        for version, script in read_migrations(below).items():
            if version > found:
                database.execute(script.read_text(encoding="utf-8"))
                database.execute(f"PRAGMA user_version = {version}")


def create_schema(below: str = "") -> apsw.Connection:
    """Return an empty database in memory with the schema of this build."""
    database = apsw.Connection(":memory:")
    migrate(database, Path(), below)
    return database


_UNITS_PER_COMMIT = 256
_SECONDS_PER_COMMIT = 1.0


class Transactions:
    """Runs units of work, each as a whole or not at all; inside `batch` they share commits."""

    def __init__(
        self, database: apsw.Connection, path: str, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._path = path
        self._monotonic = monotonic
        self._batching = self._is_whole = False
        self._is_changed = False
        self._units = 0
        self._began = 0.0

    @contextmanager
    def unit(self, *, changes: bool = False) -> Iterator[None]:
        """Run the block; an error undoes all since the last commit.

        `changes` says that search can see it.
        """
        with translate_sqlite_errors(self._path, "write"), ExitStack() as undo:
            undo.callback(self._rollback)
            if not self._database.in_transaction:
                self._database.execute("BEGIN IMMEDIATE")
                self._units, self._is_changed = 0, False
                self._began = self._monotonic()
            yield
            self._is_changed |= changes
            self._units += 1
            is_late = self._monotonic() - self._began >= _SECONDS_PER_COMMIT
            is_due = is_late or self._units >= _UNITS_PER_COMMIT
            if not self._batching or (is_due and not self._is_whole):
                self._commit()
            undo.pop_all()

    @contextmanager
    def batch(self, *, whole: bool = False) -> Iterator[None]:
        """Let the units in the block share commits; an interrupt between two keeps the finished.

        As a `whole` they are one transaction, which an error undoes.
        """
        self._batching, self._is_whole = True, whole
        try:
            yield
        except BaseException:
            if whole:
                self._rollback()
            raise
        finally:
            self._batching = self._is_whole = False
            if self._database.in_transaction:
                with self.unit():
                    pass  # its end commits

    def mark_changed(self) -> None:
        """Mark a change that search can see, so that the commit raises the revision."""
        self._is_changed = True

    def _commit(self) -> None:
        if self._database.in_transaction:
            if self._is_changed:
                advance_revision(self._database)
            self._database.execute("COMMIT")

    def _rollback(self) -> None:
        # With a full disk, SQLite has already rolled back.
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")


REVISION = "corpus_revision"


def get_value(database: apsw.Connection, name: str) -> str | None:
    """Return a stored value by name."""
    row = database.execute("SELECT value FROM kv WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def set_value(database: apsw.Connection, name: str, value: str | None) -> None:
    """Store a value by name; None deletes it."""
    database.execute("DELETE FROM kv WHERE name = ?", (name,))
    if value is not None:
        database.execute("INSERT INTO kv (name, value) VALUES (?, ?)", (name, value))


def get_revision(database: apsw.Connection) -> int:
    """Return the corpus revision, which rises with every change that search can see."""
    return int(get_value(database, REVISION) or 0)


def advance_revision(database: apsw.Connection) -> None:
    """Raise the corpus revision by one."""
    set_value(database, REVISION, str(get_revision(database) + 1))
