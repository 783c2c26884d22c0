"""Indexes that earlier revisions of kebab have written over `NOTES`."""

import shutil
from contextlib import closing
from pathlib import Path

import apsw

from tests.shape.tree import ROOT

NOTES = {
    "a.md": "---\ntags: [backup, ops]\nauthor: Ada\naliases: [Restore]\n---\n# Snapshots\n\n"
    "How to restore a snapshot of the database.\n\n## Schedule\n\nEvery night at two.\n",
    "deep/b.md": "# Garden\n\nPlants want water. See [the snapshots](../a.md).\n",
    "c.txt": "The dentist moved to Friday.\n",
}
FOLDER = ROOT / "tests" / "cases" / "indexes"


def write_notes(folder: Path) -> None:
    """Write the notes that every index holds."""
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def unpack(name: str, data: Path, notes: Path) -> None:
    """Write an index into a data folder, as if its notes were in another folder."""
    shutil.unpack_archive(FOLDER / f"{name}.zip", data)
    for path in data.glob("*.sqlite"):
        with closing(apsw.Connection(str(path))) as database:
            if path.name == "kebab.sqlite":
                database.execute("UPDATE sources SET name = ?1, root = ?1", (str(notes),))
            database.execute("PRAGMA journal_mode = WAL")
