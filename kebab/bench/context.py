"""Holds what the measurements of one run share, and indexes the generated notes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from kebab.bench.corpus import Corpus, write_notes
from kebab.bench.interleave import Candidate, Sample, run_interleaved
from kebab.bench.results import Results
from kebab.bench.sandbox import Command, Outcome, Runner, Sandbox, build_kebab_command, run_process
from kebab.embed import install
from kebab.embed.registry import MODELS, EmbeddingModel

ReportProgress: TypeAlias = Callable[[str, int, int], None]
"""Takes what is measured now, how many steps are done, and how many there are."""

NO_MODEL = "no embedding model is installed; `kebab model pull NAME` fetches one"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedCorpus:
    """A corpus in a knowledge base, after one run of `kebab ingest`."""

    sandbox: Sandbox
    corpus: Corpus
    outcome: Outcome
    fault: str | None
    chunks: int = 0
    version: str | None = None
    """The version of the embedding model; None when no model is installed."""
    disk_bytes: int = 0


def build_ingest_command(corpus: Corpus) -> Command:
    """Return the command that indexes a corpus."""
    return build_kebab_command("ingest", str(corpus.folder), "--json")


def index_corpus(sandbox: Sandbox, corpus: Corpus) -> IndexedCorpus:
    """Index a corpus in an empty knowledge base."""
    outcome = sandbox.run(build_ingest_command(corpus))
    report = outcome.parse_reply()
    fault = outcome.describe_failure() or _find_missing(report, corpus)
    if fault is not None:
        return IndexedCorpus(sandbox=sandbox, corpus=corpus, outcome=outcome, fault=fault)
    return IndexedCorpus(
        sandbox=sandbox,
        corpus=corpus,
        outcome=outcome,
        fault=None,
        chunks=sum(item["chunk_count"] for item in report["items"]),
        version=report["embedding"]["version"] if report["embedding"]["embedded"] else None,
        disk_bytes=sandbox.count_disk_bytes(),
    )


def _find_missing(report: dict[str, Any], corpus: Corpus) -> str | None:
    """Return how a report differs from a run that indexed every file."""
    if report.get("new") == corpus.files and not report.get("errors"):
        return None
    return f"of {corpus.files} files {report.get('new')} were new, {report.get('errors')} failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """The size of the benchmark. An empty `only` selects every measurement."""

    chunks: int = 1_000
    seed: int = 1
    runs: int = 9
    only: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class BenchContext:
    """The state of one run of the benchmark; its files lie below a temporary folder."""

    folder: Path
    models: Path
    options: BenchOptions
    report_progress: ReportProgress
    runner: Runner = run_process
    results: Results = field(default_factory=Results)
    _notes: IndexedCorpus | None = None

    def create_sandbox(self, name: str) -> Sandbox:
        """Return an empty knowledge base."""
        return Sandbox(self.folder / name, self.models, self.runner)

    def find_model(self) -> EmbeddingModel | None:
        """Return the best installed model."""
        return next((model for model in MODELS if install.find_installed(model, self.models)), None)

    def find_model_folder(self, model: EmbeddingModel) -> Path:
        """Return the folder of an installed model."""
        folder = install.find_installed(model, self.models)
        assert folder is not None, "the caller found the model before"
        return folder

    def index_notes(self) -> IndexedCorpus:
        """Return the generated notes; the first call writes and indexes them."""
        if self._notes is None:
            sandbox = self.create_sandbox("notes")
            self.report_progress("write notes", 0, 1)
            corpus = write_notes(sandbox.folder / "files", self.options.chunks, self.options.seed)
            self.report_progress(f"ingest {corpus.files} files", 0, 1)
            self._notes = index_corpus(sandbox, corpus)
        return self._notes

    def count_chunks(self) -> int:
        """Return how many chunks the indexed notes have, or should have before they exist."""
        return self._notes.chunks if self._notes else self.options.chunks

    def run_interleaved(
        self, name: str, sandbox: Sandbox, candidates: Sequence[Candidate], turns: int
    ) -> dict[str, Sample]:
        """Return the values of candidates that run in turns."""

        def report_turn(turn: int, total: int) -> None:
            self.report_progress(name, turn, total)

        return run_interleaved(candidates, turns, sandbox.run, report_turn)
