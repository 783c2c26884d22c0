"""Contains the FTS5 index and its write buffer, which holds the rows of one transaction."""

import sys
from collections.abc import Callable, Collection
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, TypeAlias

import apsw

from kebab.core.chunks import KeyedScore
from kebab.core.ids import Key
from kebab.core.queries import Filters
from kebab.store.sqlite import filters as sql_filters
from kebab.store.sqlite.values import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable


Tokenizer: TypeAlias = Callable[[str], list[str]]
Weights: TypeAlias = tuple[float, float, float]
"""The bm25 weights of title, headings and body."""

EQUAL_WEIGHTS: Weights = (1.0, 1.0, 1.0)
ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
"""The case folding of the `ascii` tokenizer of FTS5."""

_MERGE_PAGES = 500
_MERGE_STEPS = 64


def search(
    database: apsw.Connection, match: str, filters: Filters, weights: Weights, limit: int
) -> list[KeyedScore]:
    """Return the best chunks under bm25, ties by key; filters apply before the limit."""
    allowed = ""
    values: list[str | int] = []
    if filters.is_active:
        keys, values = sql_filters.build_chunk_key_query(filters)
        # The plus keeps SQLite from running the whole match once for each allowed key.
        allowed = f"AND +rowid IN ({keys})"
    sql = (
        "SELECT rowid, -bm25(chunks_fts, ?, ?, ?) AS score FROM chunks_fts"  # noqa: S608 - values are bound
        f" WHERE chunks_fts MATCH ? {allowed} ORDER BY score DESC, rowid LIMIT ?"
    )
    return [
        (Key(key), score) for key, score in database.execute(sql, (*weights, match, *values, limit))
    ]


def get_document_frequencies(database: apsw.Connection, terms: Collection[str]) -> dict[str, int]:
    """Return in how many chunks each term occurs; terms that occur nowhere get 0."""
    folded = {term: term.translate(ASCII_LOWER) for term in terms}
    rows = database.execute(
        "SELECT term, doc FROM chunks_terms WHERE term IN (SELECT value FROM json_each(?))",
        (to_json(set(folded.values())),),
    )
    counts = {str(term): int(count) for term, count in rows}
    return {term: counts.get(key, 0) for term, key in folded.items()}


def list_tokens(database: apsw.Connection, start: str) -> list[str]:
    """Return the tokens of the index that begin with some letters."""
    low = start.translate(ASCII_LOWER)
    bounds = (low, low + chr(sys.maxunicode))
    rows = database.execute("SELECT term FROM chunks_terms WHERE term >= ? AND term < ?", bounds)
    return [str(term) for (term,) in rows]


def merge_segments(database: apsw.Connection) -> None:
    """Merge the segments of the index in bounded steps until none are left to merge."""
    for _ in range(_MERGE_STEPS):
        before = database.total_changes()
        database.execute(
            "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', ?)", (_MERGE_PAGES,)
        )
        if database.total_changes() - before < 2:  # noqa: PLR2004 - the command itself counts as one
            return


def create_write_buffer(database: apsw.Connection) -> None:
    """Create the write buffer, a table in memory that belongs to this connection."""
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute(
        "CREATE TEMP TABLE IF NOT EXISTS fts_write_buffer"
        " (key INTEGER PRIMARY KEY, title TEXT, headings TEXT, body TEXT)"
    )


def buffer_rows(database: apsw.Connection, rows: "Iterable[tuple[Key, str, str, str]]") -> None:
    """Buffer chunks for the index: key, then the tokens of title, headings and body."""
    database.executemany("INSERT INTO fts_write_buffer VALUES (?, ?, ?, ?)", rows)


def delete_chunks(database: apsw.Connection, keys: Collection[Key]) -> None:
    """Delete chunks from the write buffer and from the index."""
    database.executemany("DELETE FROM fts_write_buffer WHERE key = ?", ((key,) for key in keys))
    database.executemany("DELETE FROM chunks_fts WHERE rowid = ?", ((key,) for key in keys))


def flush_write_buffer(database: apsw.Connection) -> None:
    """Move the write buffer into the index, in one call so that no error can split the two."""
    database.execute(
        "INSERT INTO chunks_fts (rowid, title, headings, body)"
        " SELECT key, title, headings, body FROM fts_write_buffer ORDER BY key;"
        " DELETE FROM fts_write_buffer"
    )


_MAX_WORDS = 1 << 17
_MAX_WORD_CHARS = 64


class TokenCache(dict[str, str]):
    """Caches the tokens of each word, for a tokenizer that never joins words across blanks.

    A few thousand words make up nearly all text. The values are tokens joined by blanks; a full
    cache is emptied.
    """

    def __init__(self, tokens: "Tokenizer") -> None:
        super().__init__()
        self._tokens = tokens

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_WORDS:
            self.clear()
        tokens = " ".join(self._tokens(word))
        if len(word) <= _MAX_WORD_CHARS:
            self[word] = tokens
        return tokens

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text in order; those of one word are joined by blanks."""
        words = text.replace("\n", " ").split(" ")
        return list(filter(None, map(self.__getitem__, words)))
