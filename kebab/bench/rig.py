"""What the measurements of one run share: options, the ledger, progress, and the indexed notes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kebab.bench.bed import Bed
from kebab.bench.corpus import write_notes
from kebab.bench.ledger import Ledger
from kebab.bench.library import Indexed, index
from kebab.bench.pace import Pace
from kebab.bench.process import Runner, run_process
from kebab.bench.race import Contestant, Sample, race
from kebab.embed import model_directory
from kebab.embed.registry import MODELS, EmbeddingModel

NO_MODEL = "no embedding model is installed; `kebab model pull NAME` fetches one"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """How large and how often. No name in `only` means everything."""

    chunks: int = 1_000
    files: int = 12_000
    sizes: tuple[int, ...] = (1_000, 10_000)
    seed: int = 1
    runs: int = 9
    only: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Rig:
    """One run of the benchmark, below a folder that goes with it."""

    folder: Path
    models: Path
    options: BenchOptions
    pace: Pace
    runner: Runner = run_process
    ledger: Ledger = field(default_factory=Ledger)
    _notes: Indexed | None = None

    def bed(self, name: str) -> Bed:
        """Return an empty knowledge base."""
        return Bed(self.folder / name, self.models, self.runner)

    def model(self) -> EmbeddingModel | None:
        """Return the best model that is installed."""
        return next(
            (model for model in MODELS if model_directory.find_installed(model, self.models)), None
        )

    def notes(self) -> Indexed:
        """Return the notes, indexed on the first call."""
        if self._notes is None:
            bed = self.bed("notes")
            self.pace.at("write notes", 0, 1)
            corpus = write_notes(bed.folder / "files", self.options.chunks, self.options.seed)
            self.pace.at(f"ingest {corpus.files} files", 0, 1)
            self._notes = index(bed, corpus)
        return self._notes

    def measured_chunks(self) -> int:
        """Return how many chunks the notes have; until they are indexed, how many they should."""
        return self._notes.chunks if self._notes else self.options.chunks

    def race(
        self, name: str, bed: Bed, contestants: Sequence[Contestant], turns: int
    ) -> dict[str, Sample]:
        """Return the readings of contestants that run in turns."""

        def tell(turn: int, total: int) -> None:
            self.pace.at(name, turn, total)

        return race(contestants, turns, bed.run, tell)
