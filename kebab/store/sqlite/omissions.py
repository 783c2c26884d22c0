"""Stores which words of documents are in no passage, because their parsers left them out."""

from collections.abc import Collection, Sequence

import apsw

from kebab.core.documents import OmittedWords
from kebab.core.ids import DocId

_MOST_DOCUMENTS = 100
"""How many documents tell why some words are left out."""


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
    return [str(reason) for (reason,) in rows]


def list_omissions(database: apsw.Connection, doc_id: DocId) -> list[OmittedWords]:
    """Return what is in no passage of a document, the most words first."""
    rows = database.execute(
        "SELECT reason, words FROM document_omissions o JOIN documents d USING (doc)"
        " WHERE d.doc_id = ? ORDER BY words DESC, reason",
        (doc_id,),
    )
    return [OmittedWords(str(reason), int(words)) for reason, words in rows]
