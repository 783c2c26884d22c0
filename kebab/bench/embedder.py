"""The program of the process that embeds texts once and tells how long it took.

Each embedder has a process of its own: neither finds the other's threads or memory in its way.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kebab.bench.corpus import mixed_texts
from kebab.embed import model_directory
from kebab.embed.registry import find_model

_WARM_UP = ["A short passage.", "Another one, somewhat longer than the first."]


def main(who: str, version: str, models: str, seed: str, count: str) -> None:
    """Print how long the embedding of all texts took, as one line of JSON."""
    embed = embedder(who, version, Path(models))
    texts = mixed_texts(int(count), int(seed))
    embed(_WARM_UP)
    started = time.perf_counter()
    embed(texts)
    seconds = time.perf_counter() - started
    print(json.dumps({"texts": len(texts), "seconds": seconds}))  # noqa: T201 - the parent reads it


def embedder(who: str, version: str, models: Path) -> Callable[[Sequence[str]], object]:
    """Return what embeds texts: kebab's own path, or fastembed with its default batches."""
    model = find_model(version)
    directory = model_directory.find_installed(model, models)
    assert directory is not None, "the parent looked"
    if who == "fastembed":
        from kebab.embed.fastembed import FastembedReference

        return FastembedReference(directory, model).embed_passages
    from kebab.embed.onnx_embedder import OnnxEmbedder

    ours = OnnxEmbedder(directory, model)
    return lambda texts: list(ours.embed_passages(texts))


if __name__ == "__main__":
    main(*sys.argv[1:])
