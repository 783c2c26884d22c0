"""What the knowledge base remembers of itself: named values, its revision and its runs."""

import apsw

_REVISION = "corpus_revision"
_RUNS_KEPT = 256


def get_value(database: apsw.Connection, name: str) -> str | None:
    """Return a value by name."""
    row = database.execute("SELECT value FROM kv WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def set_value(database: apsw.Connection, name: str, value: str | None) -> None:
    """Store a value by name; None forgets it."""
    if value is None:
        database.execute("DELETE FROM kv WHERE name = ?", (name,))
        return
    database.execute(
        "INSERT INTO kv (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def revision(database: apsw.Connection) -> int:
    """Return the corpus revision: it rises with every change that search can see."""
    return int(get_value(database, _REVISION) or 0)


def advance(database: apsw.Connection) -> None:
    """Raise the corpus revision by one."""
    set_value(database, _REVISION, str(revision(database) + 1))


def note_run(
    database: apsw.Connection, scope: str, started: float, finished: float, changed: int
) -> None:
    """Remember a run and forget old ones, but never the last that changed anything."""
    database.execute(
        "INSERT INTO runs (scope, started, finished, changed) VALUES (?, ?, ?, ?)",
        (scope, started, finished, changed),
    )
    database.execute(
        "DELETE FROM runs WHERE run <= (SELECT max(run) FROM runs) - ?"
        " AND run <> (SELECT max(run) FROM runs WHERE changed > 0)",
        (_RUNS_KEPT,),
    )


def last_change(database: apsw.Connection) -> float | None:
    """Return when the last run that changed anything finished."""
    sql = "SELECT finished FROM runs WHERE changed > 0 ORDER BY run DESC LIMIT 1"
    row = database.execute(sql).fetchone()
    return None if row is None else float(row[0])
