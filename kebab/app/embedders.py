"""Chooses, downloads and loads the embedding model of a knowledge base."""

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from kebab.config.settings import AUTO, Settings
from kebab.embed import install, model_directory
from kebab.embed.registry import EmbeddingModel, find_model
from kebab.errors.catalog import ConfigInvalid, EmbeddingMismatch, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kebab.core.progress import Cancel, ProgressCallback
    from kebab.embed.onnx_embedder import OnnxEmbedder


class Embedders:
    """Chooses, downloads and loads embedding models; each embedder is built once.

    Raises:
        ConfigInvalid: The settings name a model that does not exist.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._configured = _find_configured(settings.models.embedding.model)
        self._threads = settings.models.embedding.threads or None
        self._deadline_ms = int(settings.models.embedding.deadline_s * 1000)
        self._offline = settings.offline
        self._folder = folder
        self._built: dict[str, OnnxEmbedder] = {}
        self._lock = Lock()

    def find_weights(self, model: EmbeddingModel) -> Path | None:
        """Return the folder of the weights of a model, None when they are not on this machine."""
        return model_directory.find_installed(model, self._folder)

    def read_manifest(self, model: EmbeddingModel) -> model_directory.Manifest | None:
        """Return the manifest of the weights of a model, None when they are not on this machine."""
        folder = self.find_weights(model)
        return model_directory.read_manifest(folder) if folder else None

    def load_installed(self, version: str) -> "OnnxEmbedder | None":
        """Return the embedder of a version when its weights are on this machine."""
        model = find_model(version)
        folder = self.find_weights(model)
        return self._load(model, folder) if folder else None

    def load_stored(self, version: str | None) -> "OnnxEmbedder":
        """Return the embedder of the stored vectors.

        Raises:
            EmbeddingUnavailable: No vector is stored, or the weights are not on this machine.
        """
        return self._load(*install.find_stored_model(version, self._folder))

    def is_intact(self, version: str) -> bool:
        """Return whether the weights of a version are on this machine and not damaged."""
        return model_directory.find_intact(find_model(version), self._folder) is not None

    def repair(
        self, version: str, report: "ProgressCallback", cancel: "Cancel"
    ) -> "OnnxEmbedder | None":
        """Install damaged weights again and return their embedder; None when none are damaged.

        Raises:
            EmbeddingUnavailable: Its weights cannot be downloaded.
        """
        model = find_model(version)
        installed = self.find_weights(model)
        if installed is None or not model_directory.verify_files(installed):
            return None
        self._built.pop(version, None)
        return self._load(*self._ensure_weights(model.name, report, cancel, None, patient=True))

    def choose_model(self, stored: str | None) -> str | None:
        """Return the model that settings and stored vectors ask for; None leaves the choice open.

        Raises:
            EmbeddingMismatch: They disagree.
        """
        configured = self._configured
        if configured is None:
            return stored
        if stored is not None and configured.version != stored:
            raise EmbeddingMismatch(expected=configured.version, found=stored)
        return configured.name

    def obtain(
        self,
        stored: str | None,
        report: "ProgressCallback",
        cancel: "Cancel",
        *,
        candidates: "Sequence[EmbeddingModel] | None" = None,
        offline: bool = False,
    ) -> "OnnxEmbedder":
        """Return the embedder of the knowledge base; download its weights when they are missing.

        One of the candidates is used when neither settings nor stored vectors ask for a model.
        With `offline`, nothing is downloaded.

        Raises:
            EmbeddingUnavailable: Its weights cannot be downloaded.
            EmbeddingMismatch: The settings name another model than the stored vectors.
        """
        name = self.choose_model(stored)
        model, folder = self._ensure_weights(
            name, report, cancel, candidates, patient=False, offline=offline
        )
        return self._load(model, folder)

    def download(
        self,
        name: str,
        report: "ProgressCallback",
        cancel: "Cancel",
        *,
        candidates: "Sequence[EmbeddingModel] | None" = None,
    ) -> EmbeddingModel:
        """Download the weights of a model, check every byte, and return the model.

        `auto` means the first of the candidates that can be downloaded.

        Raises:
            InvalidInput: No model has this name.
            EmbeddingUnavailable: No source has the weights.
        """
        wanted = None if name == AUTO else name
        return self._ensure_weights(wanted, report, cancel, candidates, patient=True)[0]

    def _ensure_weights(
        self,
        wanted: str | None,
        report: "ProgressCallback",
        cancel: "Cancel",
        candidates: "Sequence[EmbeddingModel] | None",
        *,
        patient: bool,
        offline: bool = False,
    ) -> tuple[EmbeddingModel, Path]:
        return install.install_model(
            self._folder,
            candidates if wanted is None else find_model(wanted),
            report=report,
            cancel=cancel,
            offline=self._offline or offline,
            patient=patient,
        )

    def _load(self, model: EmbeddingModel, folder: Path) -> "OnnxEmbedder":
        from kebab.embed.onnx_embedder import OnnxEmbedder

        with self._lock:
            if model.version not in self._built:
                self._built[model.version] = OnnxEmbedder(
                    folder, model, threads=self._threads, deadline_ms=self._deadline_ms
                )
            return self._built[model.version]


def _find_configured(configured: str) -> EmbeddingModel | None:
    """Return the model that the settings name; None when they leave the choice open."""
    if configured == AUTO:
        return None
    try:
        return find_model(configured)
    except InvalidInput as signal:
        raise ConfigInvalid(path="models.embedding.model", cause=signal.cause) from signal
