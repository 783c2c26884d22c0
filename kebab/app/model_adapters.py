"""Chooses and loads models, and builds what uses them: also the parsers, which read pictures.

Workers of an ingest read pictures, one at a time. What a model wrote is kept in a file of the data
folder, one JSON object on each line, by the content of the picture, the model and the prompt. So no
picture is read twice, whatever happens to its file or to the index.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kebab.config.settings import AUTO, Llm, Settings
from kebab.core.chunks import compute_digest, hash_content
from kebab.core.files import OcrSettings
from kebab.core.ports import PictureAnswer, PictureTask
from kebab.embed import encoder, registry
from kebab.embed.registry import EmbeddingModel
from kebab.errors.catalog import (
    ConfigInvalid,
    EmbeddingMismatch,
    InvalidInput,
    ModelUnreachable,
    TimedOut,
    UsageInvalid,
)
from kebab.errors.signal import Signal
from kebab.platform import hold_lock
from kebab.store.sqlite.lock import PICTURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kebab.core.answers import LanguageModel
    from kebab.core.ports import Embedder, Parser
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
        return encoder.find_installed(model, self._folder)

    def read_manifest(self, model: EmbeddingModel) -> encoder.Manifest | None:
        """Return the manifest of the weights of a model, None when they are not on this machine."""
        folder = self.find_weights(model)
        return encoder.read_manifest(folder) if folder else None

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
        return self._load(*encoder.find_stored_model(version, self._folder))

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


_MAX_LATE = 3
"""How many pictures one after another may be too late before the others are not asked about."""


class PictureModel:
    """The vision model of the settings, for OCR, captions or both; it is picklable for workers.

    Without `asks` it only knows what models wrote before.
    """

    def __init__(self, settings: Settings, folder: Path, *, asks: bool) -> None:
        """Send nothing yet.

        Raises:
            ConfigInvalid: There is no server, or it is one that may not have pictures.
        """
        ingest = settings.ingest
        wanted: tuple[tuple[PictureTask, bool], ...] = (
            ("ocr", ingest.ocr == "model"),
            ("caption", ingest.captions),
        )
        self.tasks = tuple(task for task, is_wanted in wanted if is_wanted)
        self.name = settings.models.vision or settings.models.llm.model
        self.deadline_s = settings.models.llm.total_s
        self._settings = settings
        self._cache = _Cache(folder / PICTURES)
        self._asks = asks
        self._ready = False
        self._late = 0
        self._fault: Signal | None = None
        if not asks:
            return
        name = "ingest.ocr" if ingest.ocr == "model" else "ingest.captions"
        if settings.models.llm.provider == "extractive":
            cause = "a model has to read pictures, and `models.llm.provider` is `extractive`"
            raise ConfigInvalid(path=name, cause=cause)
        from kebab.llm.endpoint import resolve_endpoint

        endpoint = resolve_endpoint(settings.models.llm)
        if settings.output.mask_secrets and not endpoint.is_loopback:
            cause = (
                "the model server is on another machine, and keys in pictures cannot be masked;"
                " `output.mask_secrets = false` lets it have them"
            )
            raise ConfigInvalid(path=name, cause=cause)
        self._endpoint = endpoint.display_url

    @property
    def recipe(self) -> str:
        """What decides the text of a document: the tasks, the model and the prompts."""
        from kebab.llm.pictures import PROMPT_VERSION

        return " ".join([*self.tasks, self.name, PROMPT_VERSION])

    def read(self, task: PictureTask, data: bytes, path: str) -> list[PictureAnswer]:
        """Return what the model writes about each page of a picture; a caption is of the first.

        Raises:
            ParseFailed: It cannot be read as a picture.
            DependencyMissing: Pillow is not installed.
        """
        from kebab.llm.pictures import PROMPT_VERSION, count_pages, encode_page

        pages = count_pages(data, path) if task == "ocr" else 1
        digest, answers = hash_content(data), list[PictureAnswer]()
        for number in range(pages):
            key = compute_digest("picture", task, self.name, PROMPT_VERSION, digest, str(number))
            known = self._cache.find(key)
            if known is None and self._asks:
                known = self._ask(task, key, encode_page(data, number, path))
            answers.append(known or PictureAnswer())
        return answers

    def _ask(self, task: PictureTask, key: str, picture: bytes) -> PictureAnswer:
        """Ask for what is not known yet; after the server has failed as such, nothing is asked."""
        from kebab.llm.pictures import ask_about_picture

        with self._cache.lock():
            if known := self._cache.find(key):
                return known
            try:
                model = self._prepare(task)
                answer = ask_about_picture(model, task, picture, self._endpoint)
            except Signal as fault:
                self._late = self._late + 1 if isinstance(fault, TimedOut) else 0
                if self._late >= _MAX_LATE:
                    self._fault = fault
                # The next picture finds out whether the server is still there.
                self._ready = self._ready and not isinstance(fault, ModelUnreachable)
                return PictureAnswer(failure=fault)
            self._late = 0
            self._cache.add(key, answer)
        return answer

    def _prepare(self, task: PictureTask) -> "LanguageModel":
        """Return the model, after its server said that it is there and sees pictures.

        Raises:
            Signal: It is not; it is also raised for all further pictures.
        """
        if self._fault is not None:
            raise self._fault
        if not self._ready:
            try:
                require_language_model(self._settings, self.name, task, vision=True)
            except Signal as fault:
                self._fault = fault
                raise
            self._ready = True
        return build_language_model(self._settings, self.name, operation=task)


class _Cache:
    """The file of the answers; several processes add lines to it, each while it holds the lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, PictureAnswer] = {}
        self._read = 0

    def find(self, key: str) -> PictureAnswer | None:
        """Return the answer that is kept under a key; a file that has changed is read again."""
        try:
            size = self._path.stat().st_size
        except OSError:
            size = 0
        if size != self._read:
            data = self._path.read_bytes()
            self._known, self._read = {}, len(data)
            for line in data.splitlines():
                with suppress(ValueError, TypeError, KeyError):
                    entry = json.loads(line)
                    answer = PictureAnswer(str(entry["text"]), bool(entry["cut"]))
                    self._known[str(entry["key"])] = answer
        return self._known.get(key)

    def add(self, key: str, answer: PictureAnswer) -> None:
        """Keep an answer; an unfinished line before it, of a process that was killed, is ended."""
        line = json.dumps({"key": key, "text": answer.text, "cut": answer.is_cut})
        with self._path.open("ab") as file:
            file.write(f"\n{line}\n".encode())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Wait until no other process asks; the system frees the lock of one that was killed."""
        with hold_lock(self._path):
            yield


def build_parsers(
    settings: Settings, folder: Path, *, asks: bool = False
) -> "Mapping[str, Parser]":
    """Return the parsers by media type; those of pictures read them as the settings say.

    `folder` keeps what a model wrote about pictures. Only with `asks` a model is asked about those
    that it has not seen.

    Raises:
        ConfigInvalid: The model server may not have pictures.
    """
    from kebab.parse.registry import configure_parsers

    ingest, model = settings.ingest, None
    if ingest.captions or ingest.ocr == "model":
        model = PictureModel(settings, folder, asks=asks)
    ocr = OcrSettings(ingest.ocr_languages, ingest.ocr_page_deadline_s)
    return configure_parsers(ocr if ingest.ocr is True else None, model)
