"""What a knowledge base holds, free of keys, times and the order of writing."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from kebab.core.queries import Filters
from kebab.errors.catalog import NotIndexed
from kebab.store.lance import LanceTable
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.vectors import LanceVectors

_DIMENSION = 384
_WORDS = ("dough", "soup OR stew", "cat", "250", "park")
_DOCUMENTS = """
    SELECT d.doc_id, s.root, d.path, d.title, d.media, d.lang, a.content_hash, d.warnings,
        (SELECT group_concat(tag) FROM document_tags AS t WHERE t.doc = d.doc)
    FROM documents AS d JOIN sources AS s USING (source) JOIN assets AS a USING (asset)
    ORDER BY d.doc_id
"""
_CHUNKS = """
    SELECT c.chunk_id, c.key, c.ordinal, c.start_line, c.end_line, c.heading_path, c.text, v.state
    FROM chunks AS c JOIN vectors AS v USING (key) ORDER BY c.chunk_id
"""
_TURNS = "SELECT session, turn, question, answer FROM turns ORDER BY session, turn"


def describe_library(data: Path, *, ids: bool = True) -> dict[str, Any]:
    """Return everything that a person could miss, or find twice; with or without ids."""
    try:
        with SqliteReader(data) as reader:
            documents: list[Any] = reader.database.execute(_DOCUMENTS).fetchall()
            chunks: list[Any] = reader.database.execute(_CHUNKS).fetchall()
            if not ids:
                documents = sorted(rest for _, *rest in documents)
                chunks = sorted(
                    (text, key, *rest, text, state) for _, key, *rest, text, state in chunks
                )
            names = {int(key): str(chunk) for chunk, key, *_ in chunks}
            version = reader.get_value("embedding_version")
            found = {
                "documents": documents,
                "chunks": sorted((chunk, *rest) for chunk, _, *rest in chunks),
                "turns": reader.database.execute(_TURNS).fetchall(),
                "words": [
                    _name_keys(reader.search_lexical(one, Filters(), 50), names) for one in _WORDS
                ],
                "version": version,
            }
            return {**found, **(_describe_vectors(data, version, names) if version else {})}
    except NotIndexed:
        return {}


def _describe_vectors(data: Path, version: str, names: dict[int, str]) -> dict[str, Any]:
    """Return what the table holds, and what a search of the mapped files finds."""
    vectors = LanceVectors(data, version, _DIMENSION)
    rows, mapped = _read_table(data, version), vectors.list_keys()
    probe = np.ones(_DIMENSION, np.float32) / np.sqrt(np.float32(_DIMENSION))
    index = vectors.load_index()
    return {
        "rows": sorted((names.get(key, "stray"), digest) for key, digest in rows.elements()),
        "mapped": sorted(names.get(key, "stray") for key in mapped),
        "near": _name_keys(index.find_nearest(probe, 20) if index else [], names),
    }


def _read_table(data: Path, version: str) -> Counter[tuple[int, str]]:
    table = LanceVectors(data, version, _DIMENSION)
    if not table.path.exists():
        return Counter()
    return Counter(
        (key, hashlib.sha1(vector.tobytes()).hexdigest())
        for key, vector in zip(*LanceTable(table.path, _DIMENSION).read(), strict=True)
    )


def _name_keys(scores: Any, names: dict[int, str]) -> list[tuple[float, str]]:
    return sorted((round(float(score), 5), names.get(key, "stray")) for key, score in scores)
