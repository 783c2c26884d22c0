"""Loads the embedder of one ingest, and chooses its model for a knowledge base without vectors."""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import structs

from kebab.app.context import AppContext
from kebab.config.locale import read_locale_language
from kebab.core.documents import EMBEDDING_VERSION
from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind
from kebab.embed.choice import ModelChoice, choose_models, describe_better_model
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.ingest.job import IngestOutcome, LoadedModel, SurveyLanguages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kebab.chunk.budget import Budget
    from kebab.core.ports import Embedder, LibraryWriter
    from kebab.embed.onnx_embedder import OnnxEmbedder
    from kebab.embed.registry import EmbeddingModel
    from kebab.store.sqlite.writer import SqliteWriter


@dataclass(slots=True)
class RunEmbedder:
    """Loads the embedder of one run; without one the run indexes words only."""

    context: AppContext
    library: "SqliteWriter | None"
    report: ProgressCallback
    cancel: Cancel
    downloads: bool = True
    loaded: "Embedder | None" = field(default=None, init=False)
    started: float = field(default_factory=time.monotonic, init=False)

    def load(self, survey: SurveyLanguages) -> LoadedModel:
        """Return the embedder, downloaded if necessary; by the languages when none is named.

        Raises:
            EmbeddingUnavailable: There is none.
            DependencyMissing: Its libraries cannot be loaded.
        """
        stored = self.library.get_value(EMBEDDING_VERSION) if self.library else None
        if self.context.embedders.choose_model(stored) is None:
            return self._choose(survey())
        try:
            return LoadedModel(self._check(self._obtain(stored)))
        except EmbeddingUnavailable:
            repairs = stored is not None and self.downloads
            repaired = self.repair(stored) if repairs and stored else None
            if repaired is None:
                raise
            return LoadedModel(repaired)

    def _obtain(
        self, stored: str | None, candidates: "Sequence[EmbeddingModel] | None" = None
    ) -> "OnnxEmbedder":
        return self.context.embedders.obtain(
            stored, self.report, self.cancel, candidates=candidates, offline=not self.downloads
        )

    def _choose(self, languages: "Mapping[str, int]") -> LoadedModel:
        """Choose the model of a knowledge base without vectors.

        Raises:
            EmbeddingUnavailable: No model that serves the text can be had.
        """
        choice = choose_models(languages, read_locale_language())
        chosen = self._obtain_one(choice)
        reason = choice.explain(chosen.profile)
        self._report(f"embedding model: {chosen.profile.key}, because {reason}")
        return LoadedModel(self._check(chosen), reason)

    def _obtain_one(self, choice: ModelChoice) -> "OnnxEmbedder":
        try:
            return self._obtain(None, choice.models)
        except EmbeddingUnavailable:
            if choice.fallbacks:
                with suppress(EmbeddingUnavailable):
                    return self._obtain(None, choice.fallbacks)
            raise

    def repair(self, version: str) -> "Embedder | None":
        """Install the files of a model that failed again; None when they are intact."""
        repaired = self.context.embedders.repair(version, self.report, self.cancel)
        return self._check(repaired) if repaired is not None else None

    def _check(self, embedder: "Embedder") -> "Embedder":
        embedder.count_tokens([""])  # loads the tokenizer, which may be damaged
        self.loaded = embedder
        self._report(f"embedding with {embedder.version}")
        return embedder

    def budget(self) -> "Budget":
        """Return the token limit of a chunk; an embedder counts its own tokens."""
        return self.context.build_budget(self.loaded)

    def _report(self, message: str) -> None:
        elapsed_ms = int((time.monotonic() - self.started) * 1000)
        kind = ProgressKind.HEARTBEAT
        self.report(Progress(kind=kind, phase="model", message=message, elapsed_ms=elapsed_ms))


def add_advice(outcome: IngestOutcome, library: "LibraryWriter | None") -> None:
    """Add to the outcome which other model would fit the text of the library better."""
    version = outcome.embedding.version
    if library is None or version is None or outcome.embedding.unavailable:
        return
    advice = describe_better_model(version, library.measure_languages())
    if advice is not None:
        cause, command = advice
        outcome.embedding = structs.replace(outcome.embedding, advice=cause, hint=command)
