"""Writes the FTS5 index, with a buffer for the rows of one transaction."""

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
"""What a word in the title, in a heading and in the body is worth to bm25."""

EQUAL_WEIGHTS: Weights = (1.0, 1.0, 1.0)
ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
"""What the `ascii` tokenizer of FTS5 does to a token."""

_MERGE_PAGES = 500
_MERGE_STEPS = 64


def delete_rows(database: apsw.Connection, keys: Collection[Key]) -> None:
    """Take chunks out of the index."""
    database.executemany("DELETE FROM chunks_fts WHERE rowid = ?", ((key,) for key in keys))


def search(
    database: apsw.Connection, match: str, filters: Filters, weights: Weights, limit: int
) -> list[KeyedScore]:
    """Return the best chunks under bm25, ties by key; filters hold before the cut."""
    allowed = ""
    values: list[str | int] = []
    if filters.active:
        keys, values = sql_filters.build_chunk_key_query(filters)
        # The plus keeps SQLite from running the whole match once for every allowed key.
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


def merge_segments(database: apsw.Connection) -> None:
    """Let the index merge its segments, in bounded steps, until it has nothing left to merge."""
    for _ in range(_MERGE_STEPS):
        before = database.total_changes()
        database.execute(
            "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('merge', ?)", (_MERGE_PAGES,)
        )
        if database.total_changes() - before < 2:  # noqa: PLR2004 - the command itself counts as one
            return


def create_write_buffer(database: "apsw.Connection") -> None:
    """Make the table; it lives in memory and belongs to this connection."""
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute(
        "CREATE TEMP TABLE IF NOT EXISTS fts_write_buffer"
        " (key INTEGER PRIMARY KEY, title TEXT, headings TEXT, body TEXT)"
    )


def buffer_rows(database: "apsw.Connection", rows: "Iterable[tuple[Key, str, str, str]]") -> None:
    """Let chunks be indexed: key, then the tokens of title, headings and body."""
    database.executemany("INSERT INTO fts_write_buffer VALUES (?, ?, ?, ?)", rows)


def delete_chunks(database: "apsw.Connection", keys: "Collection[Key]") -> None:
    """Take chunks out of the index, and out of what waits for it."""
    database.executemany("DELETE FROM fts_write_buffer WHERE key = ?", ((key,) for key in keys))
    delete_rows(database, keys)


def flush_write_buffer(database: "apsw.Connection") -> None:
    """Index what waits; one call, so that nothing comes between its two halves."""
    database.execute(
        "INSERT INTO chunks_fts (rowid, title, headings, body)"
        " SELECT key, title, headings, body FROM fts_write_buffer ORDER BY key;"
        " DELETE FROM fts_write_buffer"
    )


_MOST_WORDS = 1 << 16
_LONGEST = 64


class TokenCache(dict[str, str]):
    """Cuts texts as a tokenizer does that never joins what blanks divide.

    A few thousand words are nearly all of what is written, so what each was cut into is kept, as
    tokens joined by blanks. Of words that are seen for the first time too many are forgotten.
    """

    def __init__(self, tokens: "Tokenizer") -> None:
        super().__init__()
        self._tokens = tokens

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_WORDS:
            self.clear()
        cut = " ".join(self._tokens(word))
        if len(word) <= _LONGEST:
            self[word] = cut
        return cut

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text in order, those of one word joined by blanks."""
        words = text.replace("\n", " ").split(" ")
        return list(filter(None, map(self.__getitem__, words)))
