"""The program of the process that indexes a folder with synthetic vectors, by the real pipeline."""

import json
import sys
import time
from pathlib import Path

from kebab.app.compose import Workshop
from kebab.bench.grown import EXACTLY
from kebab.config.load import load
from kebab.embed.synthetic import SyntheticEmbedder
from kebab.ingest.request import IngestPorts, IngestRequest
from kebab.ingest.run import run


def main(folder: str, version: str, counted: str) -> None:
    """Print what came of it, as one line of JSON; `counted` says who counts tokens."""
    shop = Workshop(load(None), config_path=Path("absent.toml"))
    counter = shop.embedders.installed(version) if counted == EXACTLY else None
    request = IngestRequest(paths=(folder,), chunker=shop.labels().chunker)
    started = time.perf_counter()
    with shop.writer("ingest") as library:
        ports = IngestPorts(
            library=library,
            vectors=shop.vectors,
            embedder=lambda: SyntheticEmbedder(version, shop.profile(version).dimension),
            parsers=shop.parsers(),
            budget=lambda: shop.budget(counter),
            clock=shop.clock,
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
