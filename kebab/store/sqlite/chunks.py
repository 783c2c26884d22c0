"""Replaces chunks, their words and the state of the vector of each.

The vectors are in the vector store, by the key of their chunk. The table `vectors` has only their
state.
`embed_hash` is the hash of the text that is embedded.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from kebab.core.chunks import (
    ChunkId,
    ChunkRow,
    Key,
    Keys,
    PendingChunk,
    add_tokens,
    is_front_matter,
)
from kebab.store.sqlite import connection, fts
from kebab.store.sqlite.fts import parse_strings, to_json

if TYPE_CHECKING:
    from kebab.core.documents import ChunkChanges, DocumentRow


_CHUNK_COLUMNS = (
    "v.key, c.chunk_id, d.doc_id, d.title, c.heading_path, c.text, c.embed_hash, c.context"
)
_CHUNK_TABLES = "(vectors v JOIN chunks c ON c.key = v.key JOIN documents d ON d.doc = c.doc)"

_EMBED_ORDER = (
    "d.doc IN (SELECT doc FROM chunks WHERE chunk_id IN (SELECT value FROM json_each(?1))) DESC,"
    " d.mtime_ns DESC, d.path, v.key"
)


def list_pending(
    database: apsw.Connection, limit: int, first: Sequence[ChunkId] = ()
) -> list[PendingChunk]:
    """Return pending chunks: those of the document edited last first, then by path and key.

    The documents of the chunks `first` come before all others.

    The second condition on the state lets SQLite use the partial index of open states, so that the
    repeated queries of a run do not scan the committed chunks. The inner query sorts without texts.
    """
    rows = database.execute(
        f"SELECT {_CHUNK_COLUMNS} FROM (SELECT v.key AS next"  # noqa: S608 - constants
        f" FROM {_CHUNK_TABLES} WHERE v.state = 'pending' AND v.state <> 'committed'"
        f" ORDER BY {_EMBED_ORDER} LIMIT ?2)"
        f" JOIN {_CHUNK_TABLES} ON v.key = next ORDER BY {_EMBED_ORDER}",
        (to_json(first), limit),
    )
    return [PendingChunk._make(row)._replace(heading_path=parse_strings(row[4])) for row in rows]


def list_committed_keys(database: apsw.Connection) -> Keys:
    """Return the keys of all chunks whose vector is stored."""
    rows = database.execute("SELECT key FROM vectors WHERE state = 'committed' ORDER BY key")
    return array("q", (key for (key,) in rows))


_MOVED = ("ordinal", "start", "end", "start_line", "end_line", "heading_path", "context", "place")
"""The columns of a chunk that may change while its id stays the same."""
_COLUMNS = ("chunk_id", "doc", *_MOVED, "text", "text_hash", "embed_hash")
_NEW_PLACE = ", ".join(f"excluded.{name}" for name in _MOVED)
_SAVE = (
    f"INSERT INTO chunks ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608 - constants
    f" ON CONFLICT (chunk_id) DO UPDATE SET ({', '.join(_MOVED)}) = ({_NEW_PLACE})"
    f" WHERE ({', '.join(_MOVED)}) IS NOT ({_NEW_PLACE})"
)


class _OldChunk(NamedTuple):
    key: Key
    embed_hash: str
    headings: str
    context: str


class ChunkTarget(NamedTuple):
    """The document whose chunks are written, whether its title changed, and what cuts its words."""

    tokens: fts.Tokenizer
    row: "DocumentRow"
    doc: int
    title_changed: bool


def replace_chunks(database: apsw.Connection, target: ChunkTarget) -> "ChunkChanges":
    """Replace a document's chunks by the given ones.

    A chunk keeps its key and its vector while its id and its embedded text stay the same. When only
    the embedded text changed (a new title), it gets a new key, so that no stale vector counts.
    """
    from kebab.core.documents import ChunkChanges

    rows, of_document = target.row.chunks, "FROM chunks WHERE doc = ?"
    sql = f"SELECT chunk_id, key, embed_hash, heading_path, context {of_document}"
    stored = database.execute(sql, (target.doc,))
    old = {chunk_id: _OldChunk(*fields) for chunk_id, *fields in stored}
    kept = {
        row.chunk_id: old[row.chunk_id]
        for row in rows
        if row.chunk_id in old and old[row.chunk_id].embed_hash == row.embed_hash
    }
    delete_chunks(database, [one.key for name, one in old.items() if name not in kept])
    database.executemany(_SAVE, (_list_values(target.doc, row) for row in rows))
    database.execute(
        f"INSERT INTO vectors (key, state) SELECT key, iif(text = '', 'unsupported', 'pending')"  # noqa: S608 - constants
        f" {of_document} AND key NOT IN (SELECT key FROM vectors)",
        (target.doc,),
    )
    _write_words(database, target, kept)
    return ChunkChanges(kept=len(kept), added=len(rows) - len(kept), removed=len(old) - len(kept))


def _write_words(
    database: apsw.Connection, target: ChunkTarget, kept: Mapping[ChunkId, _OldChunk]
) -> None:
    """Write the words of new chunks, and of kept ones whose title or headings changed."""
    sql = "SELECT chunk_id, key FROM chunks WHERE doc = ?"
    keys: dict[ChunkId, Key] = dict(database.execute(sql, (target.doc,)))
    written = {
        keys[row.chunk_id]: row
        for row in target.row.chunks
        if row.chunk_id not in kept
        or target.title_changed
        or kept[row.chunk_id][2:] != (_format_headings(row.chunk.heading_path), row.chunk.context)
    }
    fts.delete_words(database, [one.key for one in kept.values() if one.key in written])
    fts.write_words(database, _build_index_rows(target, sorted(written.items())))


def delete_chunks(database: apsw.Connection, keys: Collection[Key]) -> None:
    """Delete chunks with their index rows and states."""
    if not keys:
        return
    fts.delete_words(database, keys)
    database.executemany("DELETE FROM chunks WHERE key = ?", ((key,) for key in keys))


def _list_values(doc: int, row: ChunkRow) -> tuple[Any, ...]:
    """Return the columns of a chunk."""
    ordinal, text, start, end, first, last, path, context, place = row.chunk
    where = to_json(place) if place else ""
    moved = (ordinal, start, end, first, last, _format_headings(path), context, where)
    return (row.chunk_id, doc, *moved, text, row.text_hash, row.embed_hash)


_format_headings = lru_cache(maxsize=1024)(to_json)


def _build_index_rows(
    target: ChunkTarget, keyed: list[tuple[Key, ChunkRow]]
) -> Iterator[tuple[Key, str, str, str]]:
    row = target.row
    title = _tokenize_names(target.tokens, row.title, row.path, row.aliases) if keyed else ""
    rows = add_tokens((row for _, row in keyed), target.tokens)
    for (key, one), (*_, headings, words) in zip(keyed, rows, strict=True):
        # Front matter is found by its own words: the other passages have the title.
        own = "" if is_front_matter(one.chunk.ordinal, one.chunk.text) else title
        yield key, own, headings or "", words or ""


_WORD_RULE = "9"
"""The rule by which words are cut: raise it when the tokens of a text or of a name change."""


def update_words(database: apsw.Connection, tokens: fts.Tokenizer) -> None:
    """Write all words again when an earlier version cut them, perhaps in another way."""
    if connection.get_value(database, "word_rule") == _WORD_RULE:
        return
    with database:
        rebuild_words(database, tokens)
        connection.set_value(database, "word_rule", _WORD_RULE)
        if database.execute("SELECT EXISTS (SELECT 1 FROM documents)").get:
            connection.advance_revision(database)


def rebuild_words(database: apsw.Connection, tokens: fts.Tokenizer) -> None:
    """Write the words of all passages and names again from what is stored."""
    database.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')")
    rows = database.execute(
        "SELECT c.key, c.ordinal, d.title, d.path, c.heading_path, c.context, c.text,"  # noqa: S608 - a constant
        f" {fts.ALIASES} FROM chunks c JOIN documents d ON d.doc = c.doc ORDER BY c.key"
    )
    for key, ordinal, title, path, headings, context, text, aliases in rows:
        names = _tokenize_names(tokens, title, path, parse_strings(aliases))
        named = "" if is_front_matter(ordinal, text) else names
        above = " ".join(map(tokens, (*parse_strings(headings), context)))
        fts.write_words(database, [(key, named, above, tokens(text))])
    documents: list[Any] = database.execute(
        f"SELECT d.doc, d.path, d.title, {fts.ALIASES} FROM documents d"  # noqa: S608 - a constant
    ).fetchall()
    for doc, path, title, aliases in documents:
        fts.write_names(database, doc, path, title, parse_strings(aliases))


def _tokenize_names(tokens: fts.Tokenizer, title: str, path: str, aliases: Iterable[str]) -> str:
    from kebab.text.names import list_title_texts  # a reader needs no names

    return " ".join(map(tokens, filter(None, (*list_title_texts(title, path), *aliases))))


_SAMPLE = 200
"""How many passages are compared with the word index; of a larger library an even part."""


def find_word_fault(
    database: apsw.Connection, tokens: fts.Tokenizer, *, deep: bool = True
) -> str | None:
    """Return how the word index differs from the stored passages; None when it does not.

    Every passage must have a row, and of the compared ones the last word must find it. All are
    compared if it is `deep`. SQLite itself checks the structure of the index with that of the file.
    """
    for name, sql in (
        ("passages that are not in it", "chunks WHERE key NOT IN (SELECT rowid FROM chunks_fts)"),
        ("rows without a passage", "chunks_fts WHERE rowid NOT IN (SELECT key FROM chunks)"),
    ):
        if count := int(database.execute(f"SELECT count(*) FROM {sql}").get):  # noqa: S608 - constants
            return f"{name}: {count:,}"
    total = int(database.execute("SELECT count(*) FROM chunks").get)
    step = 1 if deep else max(1, -(-total // _SAMPLE))
    for key, text in database.execute("SELECT key, text FROM chunks WHERE key % ? = 0", (step,)):
        if words := tokens(text).split():
            match = '"' + words[-1].replace('"', '""') + '"'
            sql = "SELECT 1 FROM chunks_fts WHERE rowid = ? AND chunks_fts MATCH ?"
            if database.execute(sql, (key, f"body: {match}")).fetchone() is None:
                return f"a word of a passage is missing: {words[-1]}"
    return None
