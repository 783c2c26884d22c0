"""Copies a database, checks a copy that comes from elsewhere, and moves a damaged one aside.

It also reads whole documents of a snapshot, for a base that is published: SQLite writes the rows of
a document as JSON with the names of the records, which are decoded. What tells only about this
machine stays here: a source is named by the last part of its folder.
"""

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from kebab.core.chunks import ChunkRow, Key
from kebab.core.documents import EMBEDDING_VERSION, STDIN, DocumentRow
from kebab.errors.catalog import StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import translate_os_errors
from kebab.store.sqlite import connection
from kebab.store.sqlite.catalogue import find_file_faults, read_objects
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import list_stored_sources, write_sources

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


@contextmanager
def _open(path: Path) -> Iterator[apsw.Connection]:
    with (
        connection.translate_sqlite_errors(str(path), "read"),
        closing(connection.connect_read_only(path)) as database,
    ):
        yield database


def copy_database(path: Path, target: Path) -> None:
    """Write a copy of one state of a database to a new file, also while others write."""
    with _open(path) as database:
        database.execute("VACUUM INTO ?", (str(target),))


def read_contents(path: Path) -> Contents:
    """Return what an index holds."""
    with _open(path) as database:
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


def adopt_copy(path: Path, below: str = "", stdin_dir: Path | None = None) -> None:
    """Check and migrate a database that comes from elsewhere.

    `below` names its migrations, and is empty for an index. Of an index the texts from standard
    input are in `stdin_dir` here, and the list of its sources is written beside it.

    Raises:
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
            write_sources(path.parent, list_stored_sources(database))


def move_aside(path: Path, now: float) -> Path:
    """Move a damaged database with its log to a new name beside it, and return the name."""
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


def _select_list(value: str, order: str) -> str:
    """Return the SQL of a JSON list of what a document has in a table of its own."""
    return (
        f"json((SELECT json_group_array({value} ORDER BY {order}) FROM"  # noqa: S608 - constants
        f" document_{{}} o WHERE o.doc = d.doc))"
    )


_FIELDS = ("path", "title", "media", "lang", "recipe", "parser_version", "chunker_version", "date")
_LISTS = {"tags": "tag", "authors": "author", "aliases": "alias", "links": "target"}
_MEMBERS = {
    "doc_id": "d.doc_id",
    "source": "CAST(d.source AS TEXT)",
    "content_hash": "a.content_hash",
    "stamp": "json_object('size', d.size, 'mtime_ns', d.mtime_ns, 'inode', 0)",
    "warnings": "json(d.warnings)",
    "chunks": "json_array()",
    "omissions": _select_list("json_array(reason, words)", "reason").format("omissions"),
    "properties": _select_list("json_array(key, value)", "key, value").format("properties"),
    **{name: f"d.{name}" for name in _FIELDS},
    **{name: _select_list(one, one).format(name) for name, one in _LISTS.items()},
}
_RECORD = ", ".join(f"'{name}', {sql}" for name, sql in _MEMBERS.items())
_DOCUMENTS = (
    f"SELECT d.doc, json_object({_RECORD})"  # noqa: S608 - constants
    " FROM documents d JOIN assets a ON a.asset = d.asset ORDER BY d.doc"
)
_CHUNKS = """
    SELECT iif(v.state = 'committed', c.key, NULL), json_array(
        json_array(c.ordinal, c.text, c.start, c."end", c.start_line, c.end_line,
            json(c.heading_path), c.context, json(iif(c.place = '', 'null', c.place))),
        c.chunk_id, c.text_hash, c.embed_hash)
    FROM chunks c JOIN vectors v ON v.key = c.key WHERE c.doc = ? ORDER BY c.ordinal
"""
_OMITTED = """
    CREATE VIRTUAL TABLE temp.omitted_terms USING fts5vocab('main', 'omitted_words', 'instance');
    SELECT doc, group_concat(term, ' ') FROM temp.omitted_terms GROUP BY doc
"""
_read_document = msgspec.json.Decoder(DocumentRow).decode
_read_chunk = msgspec.json.Decoder(ChunkRow).decode


class WholeDocument(NamedTuple):
    """A document with its chunks, and the keys of the chunks that have a vector."""

    row: DocumentRow
    keys: list[Key | None]


def iterate_documents(reader: SqliteReader) -> Iterator[WholeDocument]:
    """Yield every document of a snapshot with its chunks in order."""
    database = reader.database
    with connection.translate_sqlite_errors(reader.path, "read"):
        names = _choose_names(database.execute("SELECT source, root, kind FROM sources"))
        left_out: Any = database.execute(_OMITTED).fetchall()
        omitted = dict(left_out)
        database.execute("DROP TABLE temp.omitted_terms")
        for doc, record in database.execute(_DOCUMENTS):
            chunks: Any = database.execute(_CHUNKS, (doc,)).fetchall()
            row, tokens = _read_document(record), omitted.get(doc, "")
            row = msgspec.structs.replace(
                row,
                source=names[row.source],
                chunks=tuple(_read_chunk(chunk) for _, chunk in chunks),
                # The index holds the words of all reasons together.
                omissions=tuple(one._replace(tokens=tokens) for one in row.omissions[:1])
                + row.omissions[1:],
            )
            yield WholeDocument(row, [key for key, _ in chunks])


def _choose_names(rows: Any) -> dict[str, str]:
    """Return the name of each source: the last part of its folder, numbered where it is taken."""
    seen: Counter[str] = Counter()
    names = {}
    for source, root, kind in sorted(rows):
        base = STDIN if kind == STDIN else os.path.basename(root.rstrip("/")) or "files"  # noqa: PTH119
        seen[base] += 1
        names[str(source)] = base if seen[base] == 1 else f"{base}-{seen[base]}"
    return names
