"""Embeds texts once in a process of its own and prints how long it took.

Each embedder runs in its own process, so threads and memory of one do not disturb the other.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kebab.bench.corpus import build_mixed_texts
from kebab.embed import install
from kebab.embed.registry import find_model

_WARM_UP = ["A short passage.", "Another one, somewhat longer than the first."]


def main(engine: str, version: str, models: str, seed: str, count: str) -> None:
    """Print how long the embedding of all texts took, as one line of JSON."""
    embed = load_embedder(engine, version, Path(models))
    texts = build_mixed_texts(int(count), int(seed))
    embed(_WARM_UP)
    started = time.perf_counter()
    embed(texts)
    seconds = time.perf_counter() - started
    print(json.dumps({"texts": len(texts), "seconds": seconds}))  # noqa: T201 - the parent reads it


def load_embedder(engine: str, version: str, models: Path) -> Callable[[Sequence[str]], object]:
    """Return the function that embeds texts: the one of kebab, or of fastembed by default."""
    model = find_model(version)
    directory = install.find_installed(model, models)
    assert directory is not None, "the parent found the model before"
    if engine == "fastembed":
        from kebab.embed.catalogue import FastembedReference

        return FastembedReference(directory, model).embed_passages
    from kebab.embed.onnx_embedder import OnnxEmbedder

    ours = OnnxEmbedder(directory, model)
    return lambda texts: list(ours.embed_passages(texts))


if __name__ == "__main__":
    main(*sys.argv[1:])
