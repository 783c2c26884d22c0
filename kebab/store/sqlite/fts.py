"""Contains the index of words in FTS5, its filters as SQL conditions, and names.

The names of documents have a table of their own, one row for each word of a document; so have the
words that are in no passage, because a parser left them out.
"""

import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase
from typing import Any, TypeAlias
from unicodedata import normalize

import apsw
import msgspec

from kebab.core.chunks import DocNumber, Key, KeyedScore
from kebab.core.documents import OmittedWords
from kebab.core.files import MEMBER_MARK
from kebab.core.media import list_media_types
from kebab.core.queries import COLUMN_WEIGHTS, Filters, NamedDocument
from kebab.errors.catalog import InvalidInput

_HIGHEST = (1 << 63) - 1


_encoder = msgspec.json.Encoder()


def to_json(values: Iterable[Any]) -> str:
    """Return a list as JSON text."""
    return _encoder.encode(list(values)).decode()


@lru_cache(maxsize=4096)
def parse_strings(text: str) -> tuple[str, ...]:
    """Return the strings of a JSON list; the passages of a section have the same headings."""
    return tuple(json.loads(text)) if text != "[]" else ()


def to_nanoseconds(date: str | None) -> int | None:
    """Return an ISO 8601 date or time in nanoseconds; a date alone begins at local midnight.

    A text that is no date, or one beyond the range of SQLite, gives None.
    """
    if date is None:
        return None
    try:
        seconds = datetime.fromisoformat(date).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    moment = round(seconds * 1_000_000_000)
    return moment if abs(moment) <= _HIGHEST else None


def clamp_to_signed(number: int) -> int:
    """Return the nearest integer that SQLite can store; file systems may report odd times."""
    return max(-_HIGHEST, min(number, _HIGHEST))


Condition: TypeAlias = tuple[str, list[str | int]]

_NANOSECONDS = 1_000_000_000
_ANY = "(SELECT value FROM json_each(?))"


def build_condition(filters: Filters) -> Condition:
    """Return the SQL expression for the documents that pass, and its parameters."""
    parts: list[Condition] = []
    for name, given in filters.list_active().items():
        values = given if isinstance(given, tuple) else ()
        without = tuple(value for value in values if value.startswith("!"))
        if not without or len(without) < len(values):
            wanted: Any = tuple(value for value in values if value not in without) or given
            parts.append(CONDITIONS[name](replace(filters, **{name: wanted})))
        for value in without:
            unwanted: dict[str, Any] = {name: (value[1:],)}
            expression, bound = CONDITIONS[name](replace(filters, **unwanted))
            parts.append((f"NOT ({expression})", bound))
    sql = " AND ".join(f"({expression})" for expression, _ in parts) or "1"
    return sql, [value for _, values in parts for value in values]


def build_chunk_key_query(filters: Filters) -> Condition:
    """Return the SQL query for the keys of the chunks that pass, and its parameters."""
    where, values = build_condition(filters)
    documents = f"SELECT d.doc FROM documents d WHERE {where}"  # noqa: S608 - values are bound
    return f"SELECT c.key FROM chunks c WHERE c.doc IN ({documents})", values  # noqa: S608 - as above


def _match_tags(filters: Filters) -> Condition:
    """Return the condition of tags: `work` also passes `work/kebab`, which is below it."""
    tags = "SELECT t.doc FROM document_tags t, json_each(?) wanted"
    holds = "instr(lower_text(t.tag) || '/', wanted.value || '/') = 1"
    names = [tag.lstrip("#").rstrip("/") for tag in filters.tag]
    return f"d.doc IN ({tags} WHERE {holds})", [_lower_values(names)]


def _match_media(filters: Filters) -> Condition:
    types = [name for value in filters.media for name in list_media_types(value)]
    wanted = to_json([lower_text(name).replace("/x-", "/") for name in types])
    full = "replace(lower(d.media), '/x-', '/')"
    short = f"substr({full}, instr({full}, '/') + 1)"
    return f"{full} IN {_ANY} OR {short} IN {_ANY}", [wanted, wanted]


def _match_source(filters: Filters) -> Condition:
    """Return the condition of sources: the name, or an end of the path of the folder."""
    ends = to_json([value.strip("/") for value in filters.source])
    end = "lower(substr(rtrim(s.root, '/'), -length(v.value) - 1)) = lower('/' || v.value)"
    named = f"SELECT s.source FROM sources s, json_each(?) v WHERE {end}"  # noqa: S608 - values are bound
    return f"{_SOURCE_NAME} IN {_ANY} OR d.source IN ({named})", [to_json(filters.source), ends]


def _match_folder(filters: Filters) -> Condition:
    from kebab.text.filters import ALL_BELOW, escape_glob

    return _match_path(escape_glob(str(filters.folder).rstrip("/")) + ALL_BELOW)


def _match_authors(filters: Filters) -> Condition:
    """Return the condition of authors: a whole name, or whole words of one."""
    authors = "SELECT a.doc FROM document_authors a, json_each(?) wanted"
    holds = "instr(' ' || lower_text(a.author) || ' ', ' ' || wanted.value || ' ')"
    return f"d.doc IN ({authors} WHERE {holds})", [_lower_values(filters.author)]


def _match_properties(filters: Filters) -> Condition:
    """Return the condition of properties; the key may be the last part of a longer one."""
    from kebab.text.filters import group_conditions

    parts: list[str] = []
    values: list[str | int] = []
    for key, conditions in group_conditions(filters.property):
        holds = " OR ".join(["property_matches(?, p.value)"] * len(conditions)) or "1"
        name = "substr('.' || p.key, -length(?)) = ?"
        documents = f"SELECT p.doc FROM document_properties p WHERE {name} AND ({holds})"  # noqa: S608 - values are bound
        parts.append(f"d.doc IN ({documents})")
        values += [f".{key}", f".{key}", *conditions]
    return " AND ".join(parts), values


_SOURCE_NAME = "(SELECT s.name FROM sources s WHERE s.source = d.source)"
_MOMENT = "coalesce(d.date_ns, d.mtime_ns)"
"""The date of a document, else the time of its file."""

CONDITIONS: Mapping[str, Callable[[Filters], Condition]] = {
    "tag": _match_tags,
    "lang": lambda given: (f"lower_text(d.lang) IN {_ANY}", [_lower_values(given.lang)]),
    "media": _match_media,
    "path_glob": lambda given: _match_path(str(given.path_glob)),
    "source": _match_source,
    "doc_id": lambda given: ("d.doc_id = ?", [str(given.doc_id).lower()]),
    "folder": _match_folder,
    "author": _match_authors,
    "property": _match_properties,
    "since": lambda given: (f"{_MOMENT} >= ?", [round((given.since or 0) * _NANOSECONDS)]),
    "until": lambda given: (f"{_MOMENT} < ?", [round((given.until or 0) * _NANOSECONDS)]),
}
"""By the name of a filter, what makes its condition on a document `d`."""


def _match_path(pattern: str) -> Condition:
    """Return the condition of a glob; an absolute one is compared with absolute paths."""
    if not pattern.removeprefix("!").startswith("/"):
        return "path_matches(?, d.path)", [pattern]
    root = "(SELECT rtrim(s.root, '/') FROM sources s WHERE s.source = d.source)"
    return f"path_matches(?, {root} || '/' || d.path)", [pattern]


def lower_text(text: str | None) -> str:
    """Return text in the form that filters compare: composed and case-folded."""
    return normalize("NFC", text or "").casefold()


def _lower_values(values: Iterable[str]) -> str:
    return to_json([lower_text(value) for value in values])


Tokenizer: TypeAlias = Callable[[str], str]
"""Returns the tokens of a text, joined by blanks."""

ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
"""The case folding of the `ascii` tokenizer of FTS5."""


def search(database: apsw.Connection, match: str, filters: Filters, limit: int) -> list[KeyedScore]:
    """Return the best chunks for an FTS5 expression under bm25, ties by key.

    Filters apply before the limit. Scores are positive.

    Raises:
        InvalidInput: The expression is not one.
    """
    allowed = ""
    values: list[str | int] = []
    if filters.is_active:
        keys, values = build_chunk_key_query(filters)
        # The plus keeps SQLite from running the whole match once for each allowed key.
        allowed = f"AND +rowid IN ({keys})"
    sql = (
        "SELECT rowid, -bm25(chunks_fts, ?, ?, ?) AS score FROM chunks_fts"  # noqa: S608 - values are bound
        f" WHERE chunks_fts MATCH ? {allowed} ORDER BY score DESC, rowid LIMIT ?"
    )
    try:
        return list(database.execute(sql, (*COLUMN_WEIGHTS, match, *values, limit)))
    except apsw.SQLError as error:
        raise InvalidInput(field="$.query", cause=str(error)) from error


def get_document_frequencies(database: apsw.Connection, terms: Collection[str]) -> dict[str, int]:
    """Return in how many chunks each term occurs; terms that occur nowhere get 0."""
    folded = {term: term.translate(ASCII_LOWER) for term in terms}
    rows = database.execute(
        "SELECT term, doc FROM chunks_terms WHERE term IN (SELECT value FROM json_each(?))",
        (to_json(set(folded.values())),),
    )
    counts = {str(term): int(count) for term, count in rows}
    return {term: counts.get(key, 0) for term, key in folded.items()}


def write_words(database: apsw.Connection, rows: "Iterable[tuple[Key, str, str, str]]") -> None:
    """Add chunks to the index: key, then the tokens of title, headings and body."""
    sql = "INSERT INTO chunks_fts (rowid, title, headings, body) VALUES (?, ?, ?, ?)"
    database.executemany(sql, rows)


def delete_words(database: apsw.Connection, keys: Collection[Key]) -> None:
    """Delete chunks from the index."""
    database.executemany("DELETE FROM chunks_fts WHERE rowid = ?", ((key,) for key in keys))


_WIDEST_NAME = 2_000
"""A word in the names of more documents, such as that of their folder, finds none by itself."""


def write_names(
    database: apsw.Connection, doc: int, path: str, title: str, aliases: tuple[str, ...]
) -> None:
    """Replace the words of the names of a document."""
    from kebab.text.names import list_index_words  # a reader needs no tokenizer

    words = list_index_words(path, title, aliases)
    database.execute("DELETE FROM document_names WHERE doc = ?", (doc,))
    database.executemany(
        "INSERT INTO document_names (token, doc, word) VALUES (?, ?, ?)",
        ((token, doc, word) for token, word in words.items()),
    )


ALIASES = "(SELECT json_group_array(a.alias) FROM document_aliases a WHERE a.doc = d.doc)"
"""Selects the aliases of a document `d`."""


def find_named_documents(
    database: apsw.Connection, tokens: Collection[str], filters: Filters, limit: int
) -> list[NamedDocument]:
    """Return the documents with the rarest of some tokens in their names, short titles first."""
    counts: list[Any] = database.execute(
        "SELECT token, count(*), (SELECT count(*) FROM documents) FROM document_names"
        " WHERE token IN (SELECT value FROM json_each(?)) GROUP BY token",
        (to_json(tokens),),
    ).fetchall()
    weights = {token: math.log1p(total / n) for token, n, total in counts if n <= _WIDEST_NAME}
    if not weights:
        return []
    allowed = ""
    values: list[str | int] = []
    if filters.is_active:
        where, values = build_condition(filters)
        allowed = f" WHERE n.doc IN (SELECT d.doc FROM documents d WHERE {where})"  # noqa: S608 - values are bound
    rows = database.execute(
        f"SELECT d.doc, c.key, d.path, d.title, {ALIASES}"  # noqa: S608 - values are bound
        " FROM (SELECT n.doc, sum(w.value) AS weight FROM json_each(?) w"
        f" CROSS JOIN document_names n ON n.token = w.key{allowed} GROUP BY n.doc) found"
        " JOIN documents d ON d.doc = found.doc"
        " JOIN chunks c ON c.doc = d.doc AND c.ordinal = 0"
        " ORDER BY found.weight DESC, length(d.title), d.doc LIMIT ?",
        (_encoder.encode(weights).decode(), *values, limit),
    )
    return [
        NamedDocument(DocNumber(doc), Key(key), path, title, parse_strings(aliases))
        for doc, key, path, title, aliases in rows
    ]


def list_similar_words(database: apsw.Connection, word: str) -> list[str]:
    """Return the words of names that may differ from a word in one place.

    One wrong letter, or two that changed places, leave the first half or the last two letters.
    """
    half = word[: (len(word) - 1) // 2]
    rows = database.execute(
        "SELECT word FROM document_names WHERE word <> '' AND word >= ?1 AND word < ?2"
        " AND length(word) BETWEEN ?4 - 1 AND ?4 + 1"
        " UNION SELECT word FROM document_names WHERE word <> '' AND substr(word, -2) = ?3"
        " AND length(word) BETWEEN ?4 - 1 AND ?4 + 1",
        (half, half + chr(sys.maxunicode), word[-2:], len(word)),
    )
    return [str(found) for (found,) in rows]


_MOST_DOCUMENTS = 100
"""How many documents tell why some words are left out."""
_MOST_NAMES = 1_000


def save_omissions(database: apsw.Connection, doc: int, omissions: Sequence[OmittedWords]) -> None:
    """Replace what is known of the words that are in no passage of a document."""
    database.execute("DELETE FROM document_omissions WHERE doc = ?", (doc,))
    database.execute("DELETE FROM omitted_words WHERE rowid = ?", (doc,))
    database.executemany(
        "INSERT INTO document_omissions (doc, reason, words) VALUES (?, ?, ?)",
        ((doc, one.reason, one.words) for one in omissions),
    )
    if tokens := " ".join(one.tokens for one in omissions).strip():
        database.execute("INSERT INTO omitted_words (rowid, tokens) VALUES (?, ?)", (doc, tokens))


def find_omitted(database: apsw.Connection, tokens: Collection[str]) -> list[str]:
    """Return what the texts are that hold all tokens in one document and are in no passage."""
    if not tokens:
        return []
    match = " AND ".join(f'"{token.replace(chr(34), chr(34) * 2)}"' for token in tokens)
    rows = database.execute(
        "SELECT DISTINCT reason FROM document_omissions WHERE doc IN"
        " (SELECT rowid FROM omitted_words WHERE omitted_words MATCH ? LIMIT ?) ORDER BY reason",
        (match, _MOST_DOCUMENTS),
    )
    from kebab.text.tokenizer import collect_tokens  # few searches have absent words

    reasons = [str(reason) for (reason,) in rows]
    unread = database.execute("SELECT path FROM unread_files LIMIT ?", (_MOST_NAMES,))
    if any(set(tokens) <= collect_tokens(path) for (path,) in unread):
        reasons.append("names of files that are not read")
    return reasons


def match_below(path: str, column: str = "path") -> tuple[str, tuple[str, ...]]:
    """Return the condition for a path with its members and all below; all for an empty one."""
    if not path:
        return "1", ()
    where = " OR ".join((f"{column} = ?", *[f"{column} >= ? AND {column} < ?"] * 2))
    return f"({where})", (path, f"{path}/", f"{path}0", f"{path}{MEMBER_MARK}", f"{path}!0")


def match_directly_in(folder: str) -> tuple[str, tuple[str | int, ...]]:
    """Return the condition for the paths directly in a folder, without the folder itself."""
    where, values = match_below(folder)
    start = len(folder) + 2 if folder else 1
    return f"{where} AND path <> ? AND instr(substr(path, ?), '/') = 0", (*values, folder, start)
