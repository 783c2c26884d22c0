"""Chooses, downloads and loads embedding models, and builds and checks language models."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kebab.config.settings import AUTO, Llm, Settings
from kebab.embed import registry
from kebab.embed.registry import EmbeddingModel
from kebab.errors.catalog import (
    ConfigInvalid,
    EmbeddingMismatch,
    InvalidInput,
    TimedOut,
    UsageInvalid,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kebab.core.answers import LanguageModel
    from kebab.core.ports import Embedder
    from kebab.core.progress import Cancel, ProgressCallback
    from kebab.embed.onnx_embedder import OnnxEmbedder
    from kebab.embed.server_embedder import ServerEmbedder
    from kebab.llm.endpoint import Endpoint


class Embedders:
    """Chooses, downloads and loads embedding models; each embedder is built once.

    `server` is the embedder of the server in the settings, None when this machine computes vectors.

    Raises:
        ConfigInvalid: The settings name a model that does not exist, or none of their server.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings.models.embedding
        self._offline = settings.offline
        self._folder = folder
        self._built: dict[str, OnnxEmbedder] = {}
        self._lock = Lock()
        is_local = self._settings.provider == "fastembed"
        self.server = None if is_local else _build_server_embedder(settings)
        # None when the settings leave the choice open.
        self._configured: EmbeddingModel | None = None
        if is_local and self._settings.model != AUTO:
            try:
                self._configured = self.find_model(self._settings.model)
            except InvalidInput as signal:
                raise ConfigInvalid(path="models.embedding.model", cause=signal.cause) from signal

    def find_model(self, name: str) -> EmbeddingModel:
        """Return a model of the registry, or that of the server.

        Raises:
            InvalidInput: No model, or more than one, has this name.
            EmbeddingUnavailable: It is that of a server, which does not answer.
        """
        if self.server is not None and name == self.server.name:
            return self.server.profile
        return registry.find_model(name)

    def find_version(self, version: str) -> EmbeddingModel | None:
        """Return the model of an embedding version; None for one that is not known here."""
        if self.server is not None and (model := self.server.find_version(version)):
            return model
        return registry.find_named(version)

    def is_served(self, model: EmbeddingModel) -> bool:
        """Return whether the server in the settings has a model."""
        return self.server is not None and self.server.find_version(model.version) is not None

    def find_weights(self, model: EmbeddingModel) -> Path | None:
        """Return the folder of the weights of a model, None when they are not on this machine."""
        return registry.find_installed(model, self._folder)

    def read_manifest(self, model: EmbeddingModel) -> registry.Manifest | None:
        """Return the manifest of the weights of a model, None when they are not on this machine."""
        folder = self.find_weights(model)
        return registry.read_manifest(folder) if folder else None

    def load_installed(self, version: str) -> "Embedder | None":
        """Return the embedder of a version when this machine or the server has it."""
        if self.server is not None and self.server.use_version(version):
            return self.server
        model = self.find_version(version)
        folder = self.find_weights(model) if model else None
        return self._load(model, folder) if model and folder else None

    def load_stored(self, version: str | None) -> "Embedder":
        """Return the embedder of the stored vectors.

        Raises:
            EmbeddingUnavailable: No vector is stored, or the weights are not on this machine.
        """
        if self.server is not None and version is not None and self.server.use_version(version):
            return self.server
        return self._load(*registry.find_stored_model(version, self._folder))

    def choose_model(self, stored: str | None) -> str | None:
        """Return the model that settings and stored vectors ask for; None leaves the choice open.

        Raises:
            EmbeddingMismatch: They disagree.
        """
        if self.server is not None:
            if stored is not None and self.server.find_version(stored) is None:
                expected = f"{self._settings.provider}-{self.server.name}"
                raise EmbeddingMismatch(expected=expected, found=stored)
            return self.server.name
        if stored is not None and stored.startswith(SERVERS):
            raise EmbeddingMismatch(expected=self._settings.model, found=stored)
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
    ) -> "Embedder":
        """Return the embedder of the knowledge base; download its weights when they are missing.

        One of the candidates is used when neither settings nor stored vectors ask for a model.
        With `offline`, nothing is downloaded.

        Raises:
            EmbeddingUnavailable: Its weights cannot be downloaded, or the server does not answer.
            EmbeddingMismatch: The settings name another model than the stored vectors.
        """
        name = self.choose_model(stored)
        if self.server is not None:
            _ = self.server.use_version(stored) if stored else self.server.profile
            return self.server
        model = registry.find_named(name) if name else candidates
        if name and model is None:  # a model of another machine
            return self.load_stored(stored)
        from kebab.embed import install

        progress, offline = install.FetchProgress(report, cancel), self._offline or offline
        found = install.install_model(self._folder, model, progress=progress, offline=offline)
        return self._load(*found)

    def download(
        self,
        model: "EmbeddingModel | Sequence[EmbeddingModel]",
        report: "ProgressCallback",
        cancel: "Cancel",
        folder: Path | None = None,
    ) -> EmbeddingModel:
        """Install the first of these models that can be had, check every byte, and return it.

        The weights are those of `folder`, when there is one, else they are downloaded.

        Raises:
            EmbeddingUnavailable: No source has the weights.
            UsageInvalid: A folder is given for the model of a server.
        """
        if isinstance(model, EmbeddingModel) and self.is_served(model):
            if folder is not None:
                cause = f"{model.name} is a model of a server, which has its files"
                raise UsageInvalid(option="--from", cause=cause)
            return model
        from kebab.embed import install

        found, _ = install.install_model(
            self._folder,
            model,
            progress=install.FetchProgress(report, cancel),
            offline=self._offline,
            patient=True,
            folder=folder,
        )
        return found

    def _load(self, model: EmbeddingModel, folder: Path) -> "OnnxEmbedder":
        from kebab.embed.onnx_embedder import OnnxEmbedder

        with self._lock:
            if model.version not in self._built:
                self._built[model.version] = OnnxEmbedder(
                    folder,
                    model,
                    threads=self._settings.threads or None,
                    deadline_ms=int(self._settings.deadline_s * 1000),
                )
            return self._built[model.version]


def _build_server_embedder(settings: Settings) -> "ServerEmbedder":
    """Build the embedder of the server in the settings; this sends nothing.

    Raises:
        ConfigInvalid: No model is named, or the address or the key is invalid.
    """
    from kebab.embed.server_embedder import ServerEmbedder
    from kebab.llm.chat import embed_texts
    from kebab.llm.endpoint import resolve_endpoint

    wanted, llm = settings.models.embedding, settings.models.llm
    assert wanted.provider != "fastembed", "a server computes vectors"
    if wanted.model == AUTO:
        cause = f"with the provider `{wanted.provider}` it names the model of the server"
        raise ConfigInvalid(path="models.embedding.model", cause=cause)
    shared = llm.endpoint if llm.provider == wanted.provider else ""
    endpoint = resolve_endpoint(
        replace(
            llm,
            provider=wanted.provider,
            endpoint=wanted.endpoint or shared,
            key_variable=wanted.key_variable,
        )
    )
    if wanted.endpoint:
        endpoint = replace(endpoint, setting="models.embedding.endpoint")
    return ServerEmbedder(
        partial(embed_texts, endpoint, wanted.model, llm.connect_s),
        provider=wanted.provider,
        name=wanted.model,
        url=endpoint.display_url,
        limit_s=wanted.deadline_s,
        mask=_choose_mask(settings, endpoint),
    )


def _choose_mask(settings: Settings, endpoint: "Endpoint") -> Callable[[str], str]:
    """Return what removes keys and passwords from a text that leaves this machine."""
    from kebab.text.secrets import mask_secrets

    return mask_secrets if settings.output.mask_secrets and not endpoint.is_loopback else str


SERVERS = ("ollama-", "openai-")
"""How the embedding versions of servers begin."""
_TEST_S = 5.0
"""The limit for the answer to a test question; a slow model is not a fault."""


def build_language_model(
    settings: Settings,
    name: str | None = None,
    *,
    operation: str = "ask",
    on_wait: Callable[[str], None] = lambda _reason: None,
) -> "LanguageModel":
    """Build the language model of the settings; this sends nothing.

    What a server on another machine gets has no keys and passwords, unless the settings allow it.

    Without a `name` it is the model of the settings. `operation` is what the signals name, and
    `on_wait` receives the reason when the model waits for its server.

    Raises:
        ConfigInvalid: The key of an OpenAI-compatible server cannot be sent, or the port of Ollama
            is invalid.
    """
    from kebab.llm.endpoint import resolve_endpoint
    from kebab.llm.server_check import CheckedModel, check_server_responds

    llm = settings.models.llm
    endpoint, name = resolve_endpoint(llm), name or llm.model
    return CheckedModel(
        model=_build_model(llm, name, endpoint, operation),
        check=lambda: check_server_responds(endpoint, llm, name, operation),
        loading_s=llm.first_token_s,
        on_wait=on_wait,
        mask=_choose_mask(settings, endpoint),
    )


def _build_model(llm: Llm, name: str, endpoint: "Endpoint", operation: str) -> "LanguageModel":
    """Return the adapter of the provider, which sends nothing yet."""
    if llm.provider == "openai":
        from kebab.llm.chat import OpenAiChat

        return OpenAiChat(endpoint, name, llm, operation)
    from kebab.llm.chat import OllamaChat

    return OllamaChat(endpoint, name, llm, operation)


def check_server(settings: Settings) -> str | None:
    """Return one sentence about the server that would answer; None when no server is used.

    The signals are those of `LanguageModel.chat` and of `resolve_endpoint`.
    """
    from kebab.core.answers import Message
    from kebab.llm.endpoint import resolve_endpoint
    from kebab.llm.server_check import check_server_responds, probe_ollama, sort_near_names
    from kebab.llm.server_errors import ModelRequest

    llm = settings.models.llm
    if llm.provider == "extractive":
        return None
    endpoint = resolve_endpoint(llm)
    listed = check_server_responds(endpoint, llm, llm.model)
    if llm.provider == "ollama":
        version, _ = probe_ollama(endpoint, llm.model)
        return f"Ollama {version} at {endpoint.display_url} has {llm.model}"
    if listed and llm.model not in listed:
        request = ModelRequest(endpoint=endpoint, operation="ask", model=llm.model, path="/models")
        raise request.build_missing(sort_near_names(llm.model, listed))
    # The API does not tell what a model can do.
    brief = replace(llm, first_token_s=_TEST_S, total_s=_TEST_S)
    model = _build_model(brief, llm.model, endpoint, "ask")
    with suppress(TimedOut):
        model.chat([Message("user", "Hi")], max_tokens=1, on_text=lambda _text: None)
    told = "lists" if listed else "answers with"
    return f"the server at {endpoint.display_url} {told} {llm.model}"


def require_language_model(
    settings: Settings, name: str, operation: str, *, vision: bool = False
) -> None:
    """Check that the server of a language model responds, and that Ollama has the model.

    With `vision` Ollama must also say that the model sees pictures; other servers do not tell. The
    signals are those of `LanguageModel.chat` and of `resolve_endpoint`.
    """
    from kebab.llm.endpoint import resolve_endpoint
    from kebab.llm.server_check import check_server_responds, probe_ollama

    llm = settings.models.llm
    endpoint = resolve_endpoint(llm)
    check_server_responds(endpoint, llm, name, operation)
    if llm.provider == "ollama":
        probe_ollama(endpoint, name, operation=operation, vision=vision)
