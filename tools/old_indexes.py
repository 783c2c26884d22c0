"""Builds small indexes with earlier revisions of kebab, as fixtures of the tests of migrations.

    python -m tools.old_indexes [--models FOLDER] [--out FOLDER]

Each revision is the last one before a migration. Its own code reads `NOTES`, answers a question in
a session and reviews a note, if it can. The indexes are stored as `NAME.zip`, without the paths and
times of the machine that built them. The models must be installed, because schema 4 and later have
vectors. The packages of this environment are used, so the revisions must still run with them.
"""

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import apsw

NOTES = {
    "a.md": "---\ntags: [backup, ops]\nauthor: Ada\naliases: [Restore]\n---\n# Snapshots\n\n"
    "How to restore a snapshot of the database.\n\n## Schedule\n\nEvery night at two.\n",
    "deep/b.md": "# Garden\n\nPlants want water. See [the snapshots](../a.md).\n",
    "c.txt": "The dentist moved to Friday.\n",
}
HOME = "/home/ada/notes"
"""The folder of the notes in the fixtures."""

REVISIONS = {
    "schema-3": "c484daa0^",
    "schema-4": "ad98b69b^",
    "schema-5": "9e5bd1cd^",
    "schema-6-reviews-1": "ea2f49ac^",
    "schema-6-reviews-2": "8f81b7aa^",
    "schema-7": "0bf17936^",
    "schema-8": "e8a14874^",
    "schema-9": "775980d9",
}
"""The revision of each index. Schemas 1 and 2 were never written by a released command."""

FOLDER = Path(__file__).parents[1] / "tests" / "cases" / "indexes"
_COMMANDS = (
    ("ingest", "{notes}"),
    ("ask", "--extractive", "--session", "talk", "How do I restore a snapshot?"),
    ("review", "{notes}/a.md", "--no-llm"),
)
_TIMES = ("created", "updated", "used", "started", "finished", "indexed_at")
_TIME = 1_000_000_000
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def main() -> int:
    """Build every index."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", default=str(Path.home() / ".cache/kebab/models"))
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, revision in REVISIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            data = _build_index(Path(folder), revision, options.models)
            path = options.out / f"{name}.zip"
            _pack(data, path)
            sys.stdout.write(f"{name}: {path.stat().st_size:,} bytes\n")
    return 0


def _build_index(folder: Path, revision: str, models: str) -> Path:
    """Return the data folder that a revision has written, without paths and times."""
    code, notes, data = (folder / name for name in ("code", "notes", "data"))
    archive = subprocess.run(  # noqa: S603 - a developer program
        ["git", "archive", revision, "kebab", "migrations"],  # noqa: S607 - a developer program
        cwd=Path(__file__).parents[1],
        capture_output=True,
        check=True,
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(code, filter="data")
    write_notes(notes)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "KEBAB_OFFLINE": "1",
        "KEBAB_DATA_DIR": str(data),
        "KEBAB_MODELS_DIR": models,
    }
    if (code / "kebab" / "warm").exists():
        environment["KEBAB_DAEMON_AUTO"] = "0"
    for command in _COMMANDS:
        if (code / "kebab" / "cli" / "commands" / f"{command[0]}.py").exists():
            words = [word.format(notes=notes) for word in command]
            line = [sys.executable, "-m", "kebab", *words]
            subprocess.run(line, cwd=code, env=environment, capture_output=True, check=True)  # noqa: S603 - fixed words
    for database in data.glob("*.sqlite"):
        _remove_traces(database, str(notes))
    return data


def write_notes(folder: Path) -> None:
    """Write the notes that every index holds."""
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _remove_traces(path: Path, notes: str) -> None:
    with closing(apsw.Connection(str(path))) as database:
        tables = database.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT%'"
        ).fetchall()
        for table, _ in tables:
            columns = database.execute(f"PRAGMA table_info({table})").fetchall()
            for _, column, kind, *_ in columns:
                if kind == "TEXT":
                    database.execute(
                        f'UPDATE {table} SET "{column}" = replace("{column}", ?, ?)',  # noqa: S608 - names of the schema
                        (notes, HOME),
                    )
                elif column in _TIMES:
                    database.execute(f'UPDATE {table} SET "{column}" = {_TIME}')  # noqa: S608 - names of the schema
        if path.name == "kebab.sqlite":
            database.execute("DELETE FROM query_cache")
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("VACUUM")


def _pack(data: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(data.rglob("*")):
            name = str(path.relative_to(data))
            if path.is_file() and (path.suffix == ".sqlite" or name.startswith("lance/")):
                info = zipfile.ZipInfo(name, _EARLIEST)
                archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)


def unpack(name: str, data: Path, notes: Path) -> None:
    """Write an index into a data folder, as if its notes were in another folder."""
    shutil.unpack_archive(FOLDER / f"{name}.zip", data)
    for path in data.glob("*.sqlite"):
        with closing(apsw.Connection(str(path))) as database:
            if path.name == "kebab.sqlite":
                database.execute("UPDATE sources SET name = ?1, root = ?1", (str(notes),))
            database.execute("PRAGMA journal_mode = WAL")


if __name__ == "__main__":
    sys.exit(main())
