"""Builds knowledge bases of a given size from generated notes and synthetic vectors."""

import re
from dataclasses import dataclass

from kebab.bench.run import BenchContext
from kebab.bench.sandbox import Corpus, Outcome, Sandbox, write_notes
from kebab.cli.render.evals import format_size
from kebab.embed.registry import MINILM
from tools.bench.workers import ESTIMATE, TOKENIZER
from tools.bench.yardsticks import build_module_command

WORKERS = "tools.bench.workers"

_SECTIONS_PER_CHUNK = 0.76
"""Without a tokenizer sizes are overestimated, so some sections become two chunks."""
_SIZE = re.compile(r"(\d+)([km]?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_SMALLEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticIndex:
    """A corpus with synthetic vectors in a knowledge base."""

    sandbox: Sandbox
    corpus: Corpus
    outcome: Outcome
    fault: str | None
    chunks: int
    disk_bytes: int


def parse_sizes(text: str) -> tuple[int, ...]:
    """Return distinct sizes such as `1k`, `100k` or `1m`, smallest first.

    Raises:
        ValueError: The text is not a list of sizes of at least 10.
    """
    sizes = sorted({_parse_size(part.strip()) for part in text.split(",")})
    if sizes[0] < _SMALLEST:
        raise ValueError(text)
    return tuple(sizes)


def _parse_size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return int(found[1]) * _UNITS[found[2].lower()]


def build_synthetic_index(context: BenchContext, chunks: int) -> SyntheticIndex:
    """Write notes of about this number of chunks, and index them with synthetic vectors."""
    size = format_size(chunks)
    sandbox = context.create_sandbox(f"synthetic-{size}")
    context.report_progress(f"write notes of {size} chunks", 0, 1)
    sections = max(1, round(chunks * _SECTIONS_PER_CHUNK))
    corpus = write_notes(sandbox.folder / "files", sections, context.options.seed)
    context.report_progress(f"ingest {size} chunks with synthetic vectors", 0, 1)
    return index_with_synthetic_vectors(sandbox, corpus, choose_version(context))


def index_with_synthetic_vectors(
    sandbox: Sandbox, corpus: Corpus, version: str, *, exact: bool = False
) -> SyntheticIndex:
    """Index a corpus with synthetic vectors that carry the version of a real model.

    With `exact` the tokenizer of the model counts tokens, as in an ordinary ingest. This is slower.
    """
    counter = TOKENIZER if exact else ESTIMATE
    command = build_module_command(WORKERS, "index", str(corpus.folder), version, counter)
    outcome = sandbox.run(command)
    reply = outcome.parse_reply()
    chunks, new = int(reply.get("chunks", 0)), reply.get("new")
    complete = new == corpus.files and reply.get("embedded") == chunks
    missing = None if complete else f"of {corpus.files} files {new} were new"
    return SyntheticIndex(
        sandbox=sandbox,
        corpus=corpus,
        outcome=outcome,
        fault=outcome.describe_failure() or missing,
        chunks=chunks,
        disk_bytes=sandbox.count_disk_bytes(),
    )


def choose_version(context: BenchContext) -> str:
    """Return the version that the vectors carry: that of the model that embeds questions."""
    return (context.find_model() or MINILM).version
