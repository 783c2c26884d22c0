"""A process that ingests with the real stores, and can be made to die at a given step.

`ingest ROOT STEP DELAY DATA...` brings each data directory up to date. Every entry to and exit
from a call that writes is a step; at the given one, counted from 1, the process kills itself as
`kill -9` does, after DELAY seconds when there is a delay. Step 0 is never reached.
`reembed STEP DELAY DATA...` changes the model of each data directory in the same way.
"""

import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from kebab.app.classify import build_error_reply
from kebab.chunk.budget import Budget
from kebab.core.chunks import Key
from kebab.core.progress import Cancel
from kebab.core.queries import Filters
from kebab.ingest import vectors
from kebab.ingest.job import IngestJob, IngestPorts, LoadedModel, RunContext
from kebab.ingest.run import run_ingest
from kebab.parse.registry import TextParser, guard_parser
from kebab.parse.text.markdown import MarkdownParser
from kebab.source.walk import FolderScanner
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import SqliteWriter
from kebab.store.vectors import LanceVectors
from kebab.text.tokenizer import join_tokens
from tests.fakes.embedder import PROFILE, HashingEmbedder

WRITES = {
    *("add_source", "store_plans", "put_document", "update_stamp", "remove_documents"),
    *("mark_vectors", "set_value", "record_run", "checkpoint"),
    *("append", "delete", "save", "replace_model"),
}
OTHER = "hashing-other-384-v1"
QUERIES = ("garden", "section 1", "note7 OR note8", "moved")


class SystemClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


class Fuse:
    """Counts steps and kills the process at one of them."""

    def __init__(self, step: int, delay: float) -> None:
        self.burnt = 0
        self._step = step
        self._delay = delay

    def burn(self) -> None:
        self.burnt += 1
        if self.burnt != self._step:
            return
        if not self._delay:
            die()
        timer = threading.Timer(self._delay, die)
        timer.daemon = True
        timer.start()


class FusedStore:
    """A store whose writes burn the fuse before and after."""

    def __init__(self, inner: Any, fuse: Fuse) -> None:
        self._inner = inner
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name not in WRITES:
            return method

        def fused(*args: Any, **options: Any) -> Any:
            self._fuse.burn()
            result = method(*args, **options)
            self._fuse.burn()
            return result

        return fused


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ingest(root: str, data: Path, fuse: Fuse) -> None:
    with SqliteWriter(data, join_tokens) as library:
        store: Any = FusedStore(library, fuse)
        ports = IngestPorts(
            library=store,
            vectors=lambda version: FusedStore(
                LanceVectors(data, version, PROFILE.dimension), fuse
            ),
            embedder=lambda _: LoadedModel(HashingEmbedder(batch=8)),
            guard=guard_parser,
            scanner=FolderScanner(),
            parsers={"text/markdown": MarkdownParser(), "text/plain": TextParser()},
            budget=Budget,
            clock=SystemClock(),
            describe_error=partial(build_error_reply, operation="ingest"),
            batch=library.batch,
        )
        run_ingest(IngestJob(paths=(root,)), ports)


def reembed(data: Path, fuse: Fuse) -> None:
    model = LoadedModel(HashingEmbedder(version=OTHER, batch=8))
    context = RunContext(lambda _: None, SystemClock(), Cancel())
    with SqliteWriter(data, join_tokens) as library:
        store: Any = FusedStore(library, fuse)
        vectors.reembed(store, lambda version: open_table(data, version, fuse), model, context)


def open_table(data: Path, version: str, fuse: Fuse) -> Any:
    return FusedStore(LanceVectors(data, version, PROFILE.dimension), fuse)


def dump_library(data: Path) -> dict[str, Any]:
    """Return what a data directory holds, free of keys and of the order of writing."""
    with SqliteReader(data) as reader:
        version = reader.get_value("embedding_version")
        assert version is not None, "the first run gave every chunk a vector"
        vectors = LanceVectors(data, version, PROFILE.dimension)
        rows = Counter(map(Key, vectors.list_keys()))
        chunks = reader.load_chunks(sorted(rows))
        ids = {chunk.key: chunk.chunk_id for chunk in chunks}
        stored, index = vectors.get(list(ids)), vectors.load_index()
        return {
            "version": version,
            "files": sorted(
                re.sub(r"-\d+\.(keys|vectors)", r".\1", path.name)
                for path in (data / "lance").iterdir()
            ),
            "chunks": sorted(
                (one.path, one.doc_id, one.ordinal, one.chunk_id, one.title, one.text)
                for one in chunks
            ),
            "chunk_count": reader.count_chunks(),
            "pending": reader.count_pending(),
            "rows": sum(rows.values()),
            "strays": len(set(rows) - reader.find_committed_keys(rows)),
            "vectors": {ids[key]: compute_fingerprint(stored[key]) for key in ids},
            "lexical": [
                name_document(reader.search_lexical(f'"{query}"', Filters(), 50), ids)
                for query in QUERIES
            ],
            "nearest": [
                name_document(index.find_nearest(HashingEmbedder().embed_query(query), 20), ids)
                for query in QUERIES
                if index is not None
            ],
        }


def name_document(scores: Any, ids: Any) -> list[tuple[float, str]]:
    return sorted((round(float(score), 5), ids[key]) for key, score in scores)


def compute_fingerprint(vector: Any) -> str:
    return sha256(np.asarray(vector, np.float32).tobytes()).hexdigest()


def main(command: str, *arguments: str) -> None:
    vars(vectors)["FLUSH_INTERVAL_S"] = 0.0  # so that every batch is a step
    roots = arguments[:1] if command == "ingest" else ()
    step, delay, *folders = arguments[len(roots) :]
    fuse = Fuse(int(step), float(delay))
    for data in map(Path, folders):
        if roots:
            ingest(roots[0], data, fuse)
        else:
            reembed(data, fuse)


if __name__ == "__main__":
    main(*sys.argv[1:])
