"""Measures how fast texts are embedded: by kebab, by fastembed and by onnxruntime alone.

As a program it embeds texts once and prints how long that took. Each embedder runs in its own
process, so threads and memory of one do not disturb the other.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.bench.run import NO_MODEL, BenchContext
from kebab.bench.sandbox import (
    Candidate,
    Command,
    Outcome,
    TextGenerator,
    Yardstick,
    build_python_command,
)
from kebab.embed import install
from kebab.embed.registry import EmbeddingModel, find_model
from tools.bench.yardsticks import build_module_command, require_ratio

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix

RAW = "onnxruntime on the same tokens"
_OVER_FASTEMBED, _OF_ONNXRUNTIME = require_ratio(4.0), require_ratio(0.9)
_TEXTS, _TURNS = 256, 4
_WARM_UP = ["A short passage.", "Another one, somewhat longer than the first."]
_PASSAGES = """
import json, sys, time, numpy, onnxruntime, tokenizers
from concurrent.futures import ThreadPoolExecutor
from tools.bench.embedding import build_mixed_texts
folder, seed, count, threads = sys.argv[1], *map(int, sys.argv[2:])
tokenizer = tokenizers.Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.no_padding()
tokenizer.no_truncation()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(folder + "/model.onnx", options)
wanted = [one.name for one in session.get_inputs()]
output = [session.get_outputs()[0].name]
feeds = []
for one in tokenizer.encode_batch(build_mixed_texts(count, seed)):
    for start in range(0, len(one.ids), 256):
        ids = numpy.array([one.ids[start : start + 256]])
        given = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
        feeds.append({name: given[name] for name in wanted})
feeds.sort(key=lambda feed: -feed["input_ids"].size)
run = lambda feed: session.run(output, feed)
with ThreadPoolExecutor(threads) as pool:
    list(pool.map(run, feeds[-4:]))
    started = time.perf_counter()
    list(pool.map(run, feeds))
    print(json.dumps({"texts": count, "seconds": time.perf_counter() - started}))
"""


def measure_embedding(context: BenchContext) -> None:
    """Add the embedding rates of kebab, of fastembed's defaults and of onnxruntime alone."""
    model = context.find_model()
    if model is None:
        context.results.add_skipped("embedding", NO_MODEL)
        return
    # Imported here, because the processes that embed import this module and are measured.
    from kebab.embed.onnx_embedder import choose_thread_count

    seed, count = context.options.seed, min(_TEXTS, context.options.chunks)
    ours, fastembed = (
        build_module_command(
            "tools.bench.embedding",
            engine,
            model.version,
            str(context.models),
            str(seed),
            str(count),
        )
        for engine in ("kebab", "fastembed")
    )
    folder, threads = context.find_model_folder(model), choose_thread_count()
    raw = build_python_command(_PASSAGES, str(folder), str(seed), str(count), str(threads))
    candidates = [
        Candidate(name=name, build_command=partial(_repeat, command), read_value=read_text_rate)
        for name, command in (("fastembed", fastembed), (RAW, raw), ("kebab", ours))
    ]
    sandbox = context.create_sandbox("embedding")
    turns = min(_TURNS, context.options.runs)
    samples = context.run_interleaved("embedding", sandbox, candidates, turns)
    peer, alone = (
        Yardstick("fastembed's default batches", samples["fastembed"]),
        Yardstick(RAW, samples[RAW]),
    )
    add = context.results.add_figure
    add("embedding.fastembed", "texts/s", peer.sample)
    add("embedding.kebab", "texts/s", samples["kebab"], against=peer, budget=_OVER_FASTEMBED)
    add("embedding.onnxruntime", "texts/s", alone.sample)
    add("embedding.share", "texts/s", samples["kebab"], against=alone, budget=_OF_ONNXRUNTIME)


def _repeat(command: Command, _turn: int) -> Command:
    return command


def read_text_rate(outcome: Outcome) -> float:
    """Return texts per second, without the time to load the model."""
    reply = outcome.parse_reply()
    return float(reply["texts"]) / max(float(reply["seconds"]), 1e-9)


def build_mixed_texts(count: int, seed: int) -> list[str]:
    """Return passages of very different lengths in random order."""
    generator = TextGenerator(f"texts {seed}")
    return [
        generator.generate_paragraph(int(4 * 2 ** generator.random.uniform(0, 5.3)))
        for _ in range(count)
    ]


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
        return FastembedReference(directory, model).embed_passages
    from kebab.embed.onnx_embedder import OnnxEmbedder

    ours = OnnxEmbedder(directory, model)
    return lambda texts: list(ours.embed_passages(texts))


class FastembedReference:
    """The same model directory, run by fastembed."""

    def __init__(
        self, directory: Path, model: EmbeddingModel, *, threads: int | None = None
    ) -> None:
        """Load the model at once, without the network."""
        from fastembed import TextEmbedding

        self._model = model
        self._engine: Any = TextEmbedding(
            _register_model(model),
            cache_dir=str(directory.parent),
            threads=threads,
            specific_model_path=str(directory),
            local_files_only=True,
        )

    def embed_passages(self, texts: Sequence[str], batch_size: int = 256) -> "Matrix":
        """Return the vectors in order; kebab adds the prefix, because fastembed adds none.

        The batch size is by default that of fastembed.
        """
        import numpy as np

        prefixed = [self._model.passage_prefix + text for text in texts]
        matrix: Matrix = np.stack(list(self._engine.embed(prefixed, batch_size=batch_size)))
        return matrix


@cache
def _register_model(model: EmbeddingModel) -> str:
    """Register the model with fastembed once and return its name there."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"kebab/{model.key}"
    TextEmbedding.add_custom_model(
        name,
        pooling=PoolingType[model.pooling.upper()],
        normalization=True,
        sources=ModelSource(hf=model.hub.repo),
        dim=model.dimension,
        model_file=install.MODEL_FILE,
    )
    return name


if __name__ == "__main__":
    main(*sys.argv[1:])
