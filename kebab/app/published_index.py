"""Makes an ordinary index of the documents of a published base: of all, or of candidates."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from kebab.core.documents import (
    CURSOR_SALT,
    EMBEDDING_VERSION,
    PUBLISHED_ROOT,
    STDIN,
    Source,
    VectorRow,
)
from kebab.core.ids import DocId
from kebab.ingest.vectors import reconcile
from kebab.store.published import Dataset, read_document
from kebab.store.sqlite.writer import SqliteWriter
from kebab.store.vectors import LanceVectors
from kebab.text.tokenizer import join_tokens
from kebab.wire.published import PublishedManifest

_KEYS = "published_keys"
"""The name of the value with the key of each document in the index of a copy."""

_ROWS = 16_384


def update_index(folder: Path, manifest: PublishedManifest, dataset: Dataset | None) -> None:
    """Bring the index in a data folder to the state of a dataset, in one transaction.

    Without a dataset it holds the sources only.
    """
    with SqliteWriter(folder, join_tokens) as library:
        if dataset is None:
            with library.transaction():
                fill_index(library, None, manifest, iter(()))
            return
        stored = msgspec.json.decode(library.get_value(_KEYS) or "{}", type=dict[str, str])
        documents = {row["document"]: row for row in dataset.read_documents()}
        changed = {name: row for name, row in documents.items() if stored.get(name) != row["key"]}
        pairs = ((changed[name], rows) for name, rows in dataset.iterate_passages(changed))
        vectors = open_vectors(folder, manifest)
        with library.transaction():
            gone = [DocId(name) for name in stored.keys() - documents.keys()]
            library.remove_documents(gone)
            fill_index(library, vectors, manifest, pairs)
            keys = {name: row["key"] for name, row in documents.items()}
            library.set_value(_KEYS, msgspec.json.encode(keys).decode())
        library.checkpoint()


def open_vectors(folder: Path, manifest: PublishedManifest) -> LanceVectors | None:
    """Return the vectors of an index that is made of a published base; None without any."""
    version = manifest.embedding_version
    return LanceVectors(folder, version, manifest.dimension or 0) if version else None


def fill_index(
    library: SqliteWriter,
    vectors: LanceVectors | None,
    manifest: PublishedManifest,
    pairs: Iterator[tuple[dict[str, Any], list[dict[str, Any]]]],
) -> None:
    """Store documents with their passages and vectors; the caller has begun a transaction."""
    for name in manifest.sources:
        root, is_text = f"{PUBLISHED_ROOT}{name}", name == STDIN
        library.add_source(Source(name=name, root=root, kind="stdin" if is_text else "files"))
    library.set_value(CURSOR_SALT, manifest.salt)
    version = manifest.embedding_version
    found: dict[str, Any] = {}
    if vectors is not None and version:
        library.set_value(EMBEDDING_VERSION, version)
        reconcile(library, vectors, version)
    for row, passages in pairs:
        document = read_document(row, passages)
        library.put_document(document)
        for chunk, passage in zip(document.chunks, passages, strict=True):
            if passage["vector"] is not None:
                found[chunk.chunk_id] = passage["vector"]
    if vectors is not None and version:
        waiting = [(key, found[name]) for name, key in library.list_pending_ids() if name in found]
        for start in range(0, len(waiting), _ROWS):
            vectors.append([VectorRow(*one) for one in waiting[start : start + _ROWS]])
        vectors.save()
        library.mark_vectors([key for key, _ in waiting], "committed", version)


def index_candidates(
    folder: Path, manifest: PublishedManifest, dataset: Dataset, passages: list[dict[str, Any]]
) -> None:
    """Make the index of some passages of a dataset, and of their documents."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(passages, key=lambda one: int(one["ordinal"])):
        some = found.setdefault(row["document"], [])
        some.append({**row, "ordinal": len(some)})  # among what there is of the document
    rows = {row["document"]: row for row in dataset.read_documents(found)}
    pairs = ((rows[name], some) for name, some in found.items() if name in rows)
    with SqliteWriter(folder, join_tokens) as library, library.transaction():
        fill_index(library, open_vectors(folder, manifest), manifest, pairs)
