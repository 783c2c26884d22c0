"""Keeps the list of the sources in a small file beside the database.

When the database is lost, a new one starts with the sources of this file, so that the next ingest
reads them again. The file also has the names of what no scan of a folder finds: single files, and
files that the user named although ignore rules skip them.
"""

import json
from pathlib import Path
from typing import Any

import apsw
import msgspec

from kebab.core.documents import Source, build_named_files_key, parse_named_files
from kebab.core.durable import delete_path, replace_file
from kebab.errors.system import translate_os_errors
from kebab.store.sqlite.connection import get_value, set_value
from kebab.store.sqlite.fts import parse_strings
from kebab.store.sqlite.lock import SOURCES


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


def list_sources(database: apsw.Connection) -> list[ListedSource]:
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
            files=sorted(parse_strings(files)),
            exempt=sorted(parse_named_files(get_value(database, build_named_files_key(name)))),
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
                "INSERT OR IGNORE INTO sources (name, root, kind, listed_rules)"
                " VALUES (?, ?, ?, ?)",
                (one.name, one.root, one.kind, None if one.kind == "folder" else ""),
            )
            database.execute(
                "INSERT OR IGNORE INTO unread_files (source, path, indexed)"
                " SELECT s.source, f.value, 0 FROM json_each(?) f, sources s WHERE s.name = ?",
                (json.dumps(one.files), one.name),
            )
            if one.exempt:
                set_value(database, build_named_files_key(one.name), json.dumps(one.exempt))
