"""Migrations: numbered SQL files, each applied once and together with its number."""

from pathlib import Path

import apsw

from kebab.errors.catalog import NotIndexed

_WHEEL = Path(__file__).parents[2] / "_data" / "migrations"
_CHECKOUT = Path(__file__).parents[3] / "migrations"


def folder() -> Path:
    """Return where the SQL files lie: inside the wheel, else in the checkout."""
    return _WHEEL if _WHEEL.is_dir() else _CHECKOUT


def scripts() -> list[Path]:
    """Return the SQL files in the order in which they are applied."""
    return sorted(folder().glob("V[0-9][0-9][0-9]__*.sql"))


def number(script: Path) -> int:
    """Return the schema version that a file leads to: `V002__search.sql` is 2."""
    return int(script.name[1:4])


def expected() -> int:
    """Return the schema version that this build reads and writes."""
    return number(scripts()[-1])


def found(database: apsw.Connection) -> int:
    """Return the schema version of a database; 0 before the first migration."""
    return int(database.execute("PRAGMA user_version").get)


def require(database: apsw.Connection, data_dir: Path) -> None:
    """Refuse a database that waits for a migration or comes from a newer build.

    Raises:
        NotIndexed: The versions differ.
    """
    version, wanted = found(database), expected()
    if version != wanted:
        raise NotIndexed(data_dir=str(data_dir), expected=wanted, found=version)


def upgrade(database: apsw.Connection, data_dir: Path) -> None:
    """Bring a database to the version of this build, one transaction for each step.

    Raises:
        NotIndexed: The database comes from a newer build.
    """
    version, wanted = found(database), expected()
    if version > wanted:
        raise NotIndexed(data_dir=str(data_dir), expected=wanted, found=version)
    for script in scripts():
        if number(script) > version:
            _apply(database, script)


def _apply(database: apsw.Connection, script: Path) -> None:
    sql = script.read_text(encoding="utf-8")
    with database:
        database.execute(sql)
        database.execute(f"PRAGMA user_version = {number(script)}")
