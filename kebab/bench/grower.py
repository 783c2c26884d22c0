"""The program of the process that indexes a folder with synthetic vectors, by the real pipeline."""

import json
import sys
import time
from pathlib import Path

from kebab.app.context import AppContext
from kebab.bench.grown import EXACTLY
from kebab.config.load import load
from kebab.embed.synthetic import SyntheticEmbedder
from kebab.ingest.request import IngestPorts, IngestRequest
from kebab.ingest.run import run


def main(folder: str, version: str, counted: str) -> None:
    """Print what came of it, as one line of JSON; `counted` says who counts tokens."""
    context = AppContext(load(None), config_path=Path("absent.toml"))
    counter = context.embedders.load_installed(version) if counted == EXACTLY else None
    request = IngestRequest(paths=(folder,), chunker=context.labels().chunker)
    started = time.perf_counter()
    with context.writer("ingest") as library:
        ports = IngestPorts(
            library=library,
            vectors=context.vectors,
            embedder=lambda: SyntheticEmbedder(version),
            parsers=context.parsers(),
            budget=lambda: context.budget(counter),
            clock=context.clock,
            batch=library.batch,
        )
        outcome = run(request, ports)
    told = {
        "new": outcome.new,
        "errors": outcome.errors,
        "chunks": sum(item.chunk_count for item in outcome.items),
        "embedded": outcome.embedding.embedded + outcome.embedding.reused,
        "seconds": time.perf_counter() - started,
    }
    print(json.dumps(told))  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    main(*sys.argv[1:])
