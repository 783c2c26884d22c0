"""The kinds of damage: how each is made, what `doctor` must find, and what `--fix` must do.

`path` names the code path of the repair; the short form in the tests takes one kind of each.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tools.damage.stage import Stage

_NOISE = bytes(range(256)) * 16
_PAGE = 4096


@dataclass(frozen=True)
class Kind:
    """One kind of damage.

    `check` is the check of `doctor` that finds it, with its status; None when there is nothing to
    find, because nothing is lost or the next call repairs it. `outcomes` are those of `--fix` by
    kind of repair. `after` says what searches find then: the `same` as before the damage, or only
    the `rest`. `turns` is the number of turns that the session has then.
    """

    name: str
    act: Callable[[Stage], None]
    path: str
    check: str | None = None
    status: str = "fail"
    outcomes: Mapping[str, str] = field(default_factory=dict)
    after: str = "same"
    turns: int = 1
    healthy: bool = True
    flags: Sequence[str] = ()


def _zero_header(stage: Stage) -> None:
    stage.overwrite(stage.database, 0, bytes(100))


def _write_page(name: str, kind: str, stage: Stage, *, at: int = 0, reviews: bool = False) -> None:
    file = stage.reviews if reviews else stage.database
    page = stage.find_pages(name, kind, file)[at]
    stage.overwrite(file, (page - 1) * _PAGE, _NOISE)


def _cut(share: float, path: str, stage: Stage) -> None:
    file = stage.data / path
    os.truncate(file, int(file.stat().st_size * share) // _PAGE * _PAGE)


def _fill(path: str, stage: Stage) -> None:
    file = stage.data / path
    stage.overwrite(file, 0, _NOISE * (file.stat().st_size // len(_NOISE) + 1))


_SHORT = {
    "A_KEY": "(SELECT min(key) FROM chunks WHERE doc = BREAD)",
    "BREAD": "(SELECT doc FROM documents WHERE path = 'bread.md')",
    "ADD_WORDS": "INSERT INTO chunks_fts (rowid, title, headings, body) VALUES",
}
"""Words that stand for parts of SQL in the table."""


def _run_sql(*lines: str, stage: Stage, reviews: bool = False) -> None:
    for line in lines:
        for name, sql in _SHORT.items():
            line = line.replace(name, sql)  # noqa: PLW2901 - the same line
        stage.execute(line, database=stage.reviews if reviews else None)


def _change_table(stage: Stage) -> None:
    stage.execute(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema"
        " SET sql = replace(sql, 'mtime_ns INTEGER NOT NULL', 'mtime_ns INTEGER');"
        " PRAGMA writable_schema = RESET"
    )


def _write_file(name: str, data: bytes, stage: Stage) -> None:
    (stage.data / name).write_bytes(data)


def _unlink(path: str, stage: Stage) -> None:
    target = stage.data / path
    shutil.rmtree(target) if target.is_dir() else target.unlink()


def _delete_database(stage: Stage) -> None:
    for end in ("", "-wal", "-shm"):
        stage.database.with_name(f"{stage.database.name}{end}").unlink(missing_ok=True)


def _lose_database_keep_log(stage: Stage) -> None:
    stage.call("ask", "--session", "talk", "What simmers?", ok=(0, 1))
    stage.database.unlink()


def _damage_text_of_lost_file(stage: Stage) -> None:
    stage.execute(
        "UPDATE chunks SET text = 'x' || text WHERE key = (SELECT max(key) FROM chunks WHERE doc ="
        " (SELECT doc FROM documents WHERE path = 'long.md'))"
    )
    (stage.notes / "long.md").unlink()


def _find_table(stage: Stage) -> Path:
    (table,) = stage.lance.glob("*.lance")
    return table


def _find_keys(stage: Stage) -> Path:
    (keys,) = stage.lance.glob("*.keys")
    return keys


def _damage_lance(folder: str, act: Callable[[Path], object], stage: Stage) -> None:
    for path in (_find_table(stage) / folder).iterdir():
        act(path)


def _write_noise(path: Path) -> None:
    size = path.stat().st_size
    path.write_bytes((_NOISE * (size // len(_NOISE) + 1))[:size])


def _flip_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x80
    path.write_bytes(data)


def _change_rows(change: str, stage: Stage) -> None:
    """Change rows of the vector table as another program could."""
    import lancedb
    import pyarrow as pa

    table = lancedb.connect(str(stage.lance)).open_table(_find_table(stage).stem)
    rows = table.search().limit(1000).to_arrow()
    first = rows.slice(0, 1).select(["key", "chunk_id", "doc_id", "vector"])
    if change == "delete":
        table.delete(f"key = {first['key'][0].as_py()}")
        return
    column = first["key"] if change != "extra" else pa.array([99_999], pa.int64())
    added = first.set_column(0, "key", column)
    if change == "long":
        table.delete(f"key = {first['key'][0].as_py()}")
        vector = pa.array([[9.0] * 384], first.schema.field("vector").type)
        added = added.set_column(3, first.schema.field("vector"), vector)
    table.add(added)


def _narrow_table(stage: Stage) -> None:
    """Put a table of another dimension in the place of the table."""
    import lancedb

    name = _find_table(stage).stem
    rows = [{"key": 1, "chunk_id": "a", "doc_id": "b", "vector": [1.0, 0.0]}]
    lancedb.connect(str(stage.lance)).create_table(name, rows, mode="overwrite")


def _replace_by_file(stage: Stage) -> None:
    shutil.rmtree(stage.lance)
    stage.lance.write_text("not a folder")


def _add_download(stage: Stage) -> None:
    folder = stage.models / ".fetch-left"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"half")


def _expose(stage: Stage) -> None:
    # A folder above it must be open too, or nobody can come this far.
    for folder in (stage.data, *stage.data.parents):
        if folder.stat().st_uid == os.getuid() and folder != folder.parent:
            folder.chmod(0o755)


def _find_model(stage: Stage) -> Path:
    (model,) = stage.models.iterdir()
    return model


_REBUILT = {"database": "repaired"}
_rebuilt = partial(Kind, outcomes=_REBUILT)
_rows = partial(_rebuilt, check="integrity")
_words = partial(_rebuilt, check="full_text", path="words")
_vectors = partial(Kind, check="vectors", outcomes={"vectors": "repaired"})
_reviews = partial(Kind, check="reviews", outcomes={"reviews": "repaired"})
_left = partial(
    Kind, check="leftovers", status="warn", outcomes={"leftovers": "repaired"}, path="leftovers"
)
_refused = partial(Kind, check="database", outcomes={"database": "refused"}, healthy=False)


def _sql(*lines: str, reviews: bool = False) -> Callable[[Stage], None]:
    return lambda stage: _run_sql(*lines, stage=stage, reviews=reviews)


KINDS: Sequence[Kind] = (
    # The file of the database.
    _rebuilt("header zeroed", _zero_header, "first page", "database"),
    _rebuilt(
        "first page overwritten",
        lambda s: s.overwrite(s.database, 0, _NOISE),
        "first page",
        "database",
    ),
    _rebuilt(
        "schema overwritten",
        lambda s: s.overwrite(s.database, 100, _NOISE[:3996]),
        "first page",
        "database",
    ),
    _rebuilt("second half cut off", partial(_cut, 0.5, "kebab.sqlite"), "torn", "database"),
    _rebuilt("last page cut off", partial(_cut, 0.99, "kebab.sqlite"), "torn", "integrity"),
    _rebuilt("leaf of chunks", partial(_write_page, "chunks", "leaf", at=3), "torn", "integrity"),
    _rebuilt("root of chunks", partial(_write_page, "chunks", "internal"), "adopted", "integrity"),
    _rebuilt("leaf of documents", partial(_write_page, "documents", "leaf"), "rescan", "integrity"),
    _rebuilt("leaf of assets", partial(_write_page, "assets", "leaf"), "torn", "integrity"),
    _rebuilt("leaf of sources", partial(_write_page, "sources", "leaf"), "sources", "integrity"),
    _rebuilt(
        "leaf of sessions", partial(_write_page, "turns", "leaf"), "torn", "integrity", turns=0
    ),
    _rebuilt("leaf of vector states", partial(_write_page, "vectors", "leaf"), "torn", "integrity"),
    _rebuilt("leaf of values", partial(_write_page, "kv", "leaf"), "values", "integrity"),
    _rebuilt("leaf of tags", partial(_write_page, "document_tags", "leaf"), "torn", "integrity"),
    _rebuilt(
        "index of documents", partial(_write_page, "documents_asset", "leaf"), "torn", "integrity"
    ),
    _rebuilt(
        "leaf of word segments",
        partial(_write_page, "chunks_fts_data", "leaf", at=2),
        "torn",
        "integrity",
    ),
    _rebuilt(
        "root of word segments",
        partial(_write_page, "chunks_fts_data", "internal"),
        "torn",
        "integrity",
    ),
    _rebuilt(
        "leaf of word sizes",
        partial(_write_page, "chunks_fts_docsize", "leaf"),
        "torn",
        "integrity",
    ),
    _rebuilt(
        "free list", lambda s: s.overwrite(s.database, 32, b"\0\0\0\2\0\0\0\7"), "torn", "integrity"
    ),
    _refused(
        "database of noise",
        partial(_fill, "kebab.sqlite"),
        "unknown folders",
        after="none",
        turns=0,
    ),
    _refused(
        "empty database", partial(_cut, 0, "kebab.sqlite"), "unknown folders", after="none", turns=0
    ),
    _refused("deleted database", _delete_database, "unknown folders", after="none", turns=0),
    _rebuilt(
        "deleted database of a named folder",
        _delete_database,
        "named folders",
        "database",
        turns=0,
        flags=("--source", "notes"),
        after="rest",
    ),
    _rebuilt(
        "database of noise of a named folder",
        partial(_fill, "kebab.sqlite"),
        "named folders",
        "database",
        turns=0,
        flags=("--source", "notes"),
        after="rest",
    ),
    _refused(
        "log without database", _lose_database_keep_log, "unknown folders", after="none", turns=0
    ),
    Kind(
        "torn shared memory",
        partial(_write_file, "kebab.sqlite-shm", _NOISE),
        "nothing",
    ),
    # The schema.
    _rebuilt("version zero", _sql("PRAGMA user_version = 0"), "schema", "database"),
    _rebuilt("version between", _sql("PRAGMA user_version = 5"), "schema", "database"),
    _refused(
        "version of a newer build", _sql("PRAGMA user_version = 99"), "newer", after="none", turns=0
    ),
    _rebuilt("interrupted migration", _sql("PRAGMA user_version = 8"), "schema", "database"),
    _rebuilt(
        "older schema",
        _sql("ALTER TABLE documents DROP COLUMN checksum", "PRAGMA user_version = 8"),
        "migration",
        "database",
    ),
    _rows("missing table", _sql("DROP TABLE runs"), "schema"),
    _rows("missing index", _sql("DROP INDEX chunks_embed_hash"), "schema"),
    _rows(
        "changed table",
        _change_table,
        "schema",
    ),
    _rows("missing word index", _sql("DROP TABLE chunks_fts"), "schema"),
    # Rows that break a rule.
    _rows(
        "deleted document row",
        _sql("PRAGMA foreign_keys = OFF", "DELETE FROM documents WHERE doc = BREAD"),
        "rescan",
    ),
    _rows(
        "deleted first passage",
        _sql("DELETE FROM chunks WHERE key = A_KEY"),
        "again",
    ),
    _rows(
        "deleted last passage",
        _sql("DELETE FROM chunks WHERE key = (SELECT max(key) FROM chunks)"),
        "again",
    ),
    _rows("changed text", _sql("UPDATE chunks SET text = text || '!' WHERE key = A_KEY"), "again"),
    _rows("changed hash", _sql("UPDATE chunks SET text_hash = 'a' WHERE key = A_KEY"), "again"),
    _rows("changed title", _sql("UPDATE documents SET title = title || '!'"), "again"),
    _rows("changed lines", _sql("UPDATE chunks SET end_line = end_line + 1"), "again"),
    _rows("lines out of order", _sql("UPDATE chunks SET start_line = -1"), "again"),
    _rows("changed language", _sql("UPDATE documents SET lang = 'xx'"), "again"),
    _rows("changed path", _sql("UPDATE documents SET path = path || 'x'"), "again", after="rest"),
    _rows("changed tag", _sql("UPDATE document_tags SET tag = 'x' WHERE tag = 'slow'"), "again"),
    _rows("deleted links", _sql("DELETE FROM document_links"), "again"),
    _rows("repeated place", _sql("UPDATE chunks SET ordinal = 0"), "again"),
    _rows(
        "headings that are no JSON",
        _sql("UPDATE chunks SET heading_path = '[' WHERE key = A_KEY"),
        "again",
    ),
    _rows(
        "text that is no UTF-8",
        _sql("UPDATE chunks SET text = CAST(x'ff41' AS TEXT) WHERE key = A_KEY"),
        "torn",
    ),
    _rows("damaged text of a lost file", _damage_text_of_lost_file, "lost file", after="rest"),
    _rows("deleted content", _sql("DELETE FROM assets WHERE asset = 1"), "again"),
    _rows("deleted source", _sql("DELETE FROM sources WHERE kind = 'folder'"), "sources"),
    _rows(
        "changed root",
        _sql("UPDATE sources SET root = root || 'x' WHERE kind = 'folder'"),
        "sources",
        check="sources",
    ),
    _rows("deleted vector state", _sql("DELETE FROM vectors WHERE key = A_KEY"), "states"),
    _rows(
        "state of another model", _sql("UPDATE vectors SET version = 'x' WHERE key = 3"), "states"
    ),
    _rows(
        "states without passages",
        _sql("INSERT INTO vectors VALUES (9999, 'committed', 'x')"),
        "states",
    ),
    _rows(
        "unreadable revision",
        _sql("UPDATE kv SET value = 'x' WHERE name = 'corpus_revision'"),
        "values",
    ),
    _rows("missing salt", _sql("DELETE FROM kv WHERE name = 'cursor_salt'"), "values"),
    _rows(
        "wrong model name",
        _sql("UPDATE kv SET value = 'x' WHERE name = 'embedding_version'"),
        "values",
    ),
    _rows(
        "wrong count",
        _sql(
            "UPDATE kv SET value = (SELECT value FROM kv WHERE name ="
            " 'corpus_revision') || ' 7' WHERE name = 'pending_count'"
        ),
        "values",
    ),
    _rows("names lost", _sql("DELETE FROM document_names WHERE token LIKE 'b%'"), "names"),
    _rows("names too many", _sql("INSERT INTO document_names VALUES ('wrong', 1, '')"), "names"),
    _rows("word row lost", _sql("DELETE FROM chunks_fts WHERE rowid = A_KEY"), "words"),
    _rows("word row too many", _sql("ADD_WORDS (9999, 'a', 'b', 'c')"), "words"),
    _words(
        "wrong words",
        _sql(
            "DELETE FROM chunks_fts WHERE rowid = A_KEY",
            "ADD_WORDS (A_KEY, 'bread', 'bread', 'wrong')",
        ),
    ),
    _words("wrong word sizes", _sql("UPDATE chunks_fts_docsize SET sz = x'010101'")),
    _words("wrong sums", _sql("UPDATE chunks_fts_data SET block = x'440101FF7F' WHERE id = 1")),
    # Vectors.
    _vectors("table deleted", lambda s: shutil.rmtree(_find_table(s)), "embedding"),
    _vectors("manifests overwritten", partial(_damage_lance, "_versions", _write_noise), "copies"),
    _vectors("manifests deleted", partial(_damage_lance, "_versions", Path.unlink), "copies"),
    _vectors("data overwritten", partial(_damage_lance, "data", _write_noise), "embedding"),
    _vectors("data flipped", partial(_damage_lance, "data", _flip_middle), "rows"),
    _vectors("data deleted", partial(_damage_lance, "data", Path.unlink), "embedding"),
    _vectors("all vectors deleted", partial(_unlink, "lance"), "embedding"),
    _vectors("file in place of the folder", _replace_by_file, "embedding"),
    _vectors("row deleted", partial(_change_rows, "delete"), "rows"),
    _vectors("row twice", partial(_change_rows, "twice"), "rows"),
    _vectors("row of no passage", partial(_change_rows, "extra"), "rows", status="warn"),
    _vectors("row too long", partial(_change_rows, "long"), "rows"),
    _vectors("other dimension", _narrow_table, "copies"),
    Kind("key file flipped", lambda s: _flip_middle(_find_keys(s)), "nothing"),
    Kind("key file overwritten", lambda s: _write_noise(_find_keys(s)), "nothing"),
    Kind("key file deleted", lambda s: _find_keys(s).unlink(), "nothing"),
    # Reviews.
    _reviews("reviews of noise", partial(_fill, "reviews.sqlite"), "reviews"),
    _reviews("header of reviews", lambda s: s.overwrite(s.reviews, 0, bytes(100)), "reviews"),
    _reviews("half of reviews", partial(_cut, 0.5, "reviews.sqlite"), "reviews"),
    _reviews("page of reviews", partial(_write_page, "units", "leaf", reviews=True), "reviews"),
    Kind(
        "reviews of a newer build",
        _sql("PRAGMA user_version = 99", reviews=True),
        "newer",
        "reviews",
        outcomes={"reviews": "refused"},
        healthy=False,
    ),
    # Files.
    _left("draft of a key file", partial(_write_file, "lance/.fastembed-x-384-v1.keys.1", b"")),
    _left("half-deleted table", partial(_write_file, "lance/fastembed-x-384-v1.gone", b"")),
    _left("vectors of no model", partial(_write_file, "lance/fastembed-x-384-v1.keys", b"")),
    _left("draft of a database", partial(_write_file, "kebab.sqlite.repaired", b"")),
    _left("half a download", _add_download),
    Kind(
        "lock of a dead process",
        partial(_write_file, "writer.lock", b"1\n"),
        "nothing",
    ),
    Kind(
        "open to all",
        _expose,
        "permissions",
        "permissions",
        "warn",
        outcomes={"permissions": "refused"},
    ),
    Kind(
        "model overwritten",
        lambda s: _write_noise(_find_model(s) / "model.onnx"),
        "model",
        "embedding_files",
        outcomes={"embedding_files": "failed"},
        after="none",
        healthy=False,
    ),
)
