"""A knowledge base of a wanted size: made-up notes through the real pipeline, without a model."""

from dataclasses import dataclass

from kebab.bench.bed import Bed, module
from kebab.bench.corpus import Corpus, write_notes
from kebab.bench.library import said
from kebab.bench.process import Outcome
from kebab.bench.race import failed
from kebab.bench.rig import Rig
from kebab.bench.sizes import short_size
from kebab.embed.registry import MINILM

EXACTLY, ROUGHLY = "tokenizer", "estimate"
"""Who counts the tokens of a chunk."""

_SECTIONS_PER_CHUNK = 0.76
"""Without a tokenizer sizes are estimated from above, so some sections become two chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """A corpus with its words and synthetic vectors in a knowledge base."""

    bed: Bed
    corpus: Corpus
    outcome: Outcome
    fault: str | None
    chunks: int
    disk_bytes: int


def grow(rig: Rig, chunks: int) -> Grown:
    """Write notes of about so many chunks, and index them with synthetic vectors."""
    size = short_size(chunks)
    bed = rig.bed(f"grown-{size}")
    rig.pace.at(f"write notes of {size} chunks", 0, 1)
    sections = max(1, round(chunks * _SECTIONS_PER_CHUNK))
    corpus = write_notes(bed.folder / "files", sections, rig.options.seed)
    rig.pace.at(f"ingest {size} chunks with synthetic vectors", 0, 1)
    return grown(bed, corpus, version(rig))


def grown(bed: Bed, corpus: Corpus, version: str, *, exactly: bool = False) -> Grown:
    """Index a corpus with synthetic vectors, said to be those of a version.

    With `exactly` it is cut as an ingest with the model cuts it; that takes the tokenizer's time.
    """
    counted = EXACTLY if exactly else ROUGHLY
    outcome = bed.run(module("kebab.bench.grower", str(corpus.folder), version, counted))
    told = said(outcome)
    chunks, new = int(told.get("chunks", 0)), told.get("new")
    whole = new == corpus.files and told.get("embedded") == chunks
    fault = failed(outcome) or (None if whole else f"of {corpus.files} files {new} were new")
    return Grown(
        bed=bed,
        corpus=corpus,
        outcome=outcome,
        fault=fault,
        chunks=chunks,
        disk_bytes=bed.disk_bytes(),
    )


def version(rig: Rig) -> str:
    """Return what the synthetic vectors are said to come from: the model that embeds questions."""
    model = rig.model()
    return (model or MINILM).version
