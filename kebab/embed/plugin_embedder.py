"""Embeds with the model of a plugin, which runs in a worker process; `kebab.plugins` finds it.

Nobody has measured what its tokens are: kebab estimates them, and reranking compares none.
"""

import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from kebab.config.settings import Plugins
from kebab.core.chunks import TokenVectors
from kebab.embed.encoder import normalise
from kebab.embed.model_tokenizer import replace_surrogates
from kebab.embed.onnx_embedder import SLICE, ModelEmbedder
from kebab.embed.registry import CatalogueRow, EmbeddingModel, build_generic_model
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.errors.system import translate_import_errors
from kebab.plugins import (
    EMBEDDERS,
    IMPORT_S,
    Embedding,
    EmbeddingFacts,
    Plugin,
    build_missing_plugin,
    describe_fault,
    find_plugins,
)

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector
    from kebab.limits.worker import WorkerProcess

_LOAD_S = 2 * IMPORT_S
"""The longest time by the clock until a model has embedded its first text."""

_RETRY_S = 60.0
"""How long a model that could not be loaded is not loaded again, so that searches do not wait."""


def build_plugin_model(plugin: Plugin, facts: EmbeddingFacts) -> EmbeddingModel:
    """Return the model of a plugin; it has the name of the entry point."""
    return build_generic_model(
        CatalogueRow(
            name=plugin.name,
            languages=facts.languages,
            is_multilingual=facts.languages != "English",
            dimension=facts.dimension,
            positions=facts.window,
            query_prefix=facts.query_prefix,
            passage_prefix=facts.passage_prefix,
            package=plugin.package,
            version=facts.version,
        )
    )


def find_plugin(settings: Plugins, model: EmbeddingModel) -> Plugin:
    """Return the plugin that has a model.

    Raises:
        DependencyMissing: Its package is gone, or plugins are off.
    """
    assert model.row is not None, "the model of a plugin has a row"
    wanted = (model.key, model.row.package)
    for plugin in find_plugins(settings, EMBEDDERS):
        if (plugin.name, plugin.package) == wanted:
            return plugin
    feature = f"the embedding model `{model.key}` of {model.row.package}"
    raise build_missing_plugin(feature, model.row.package, enabled=settings.enabled)


class _Task(NamedTuple):
    """Texts for the worker; the plugin must still have a model of this version and dimension."""

    plugin: Plugin
    version: int
    dimension: int
    texts: list[str]


def _embed(task: _Task) -> bytes | str:
    """Return the unit vectors as 32-bit numbers, or why there are none; this runs in the worker."""
    import numpy as np

    try:
        found = task.plugin.load()
        if not isinstance(found, Embedding) or found.facts[:2] != (task.version, task.dimension):
            again = f"`kebab model use {task.plugin.name}` embeds again with it"
            return f"the package has another version of the model; {again}"
        vectors = np.asarray(found.embed(task.texts), np.float64)
        if vectors.shape != (expected := (len(task.texts), task.dimension)):
            return f"it returned the shape {vectors.shape} instead of {expected}"
        return normalise(vectors).tobytes()
    except BaseException as fault:  # noqa: BLE001 - a plugin may raise anything
        return describe_fault(fault)


class PluginEmbedder(ModelEmbedder):
    """Embeds in a worker process; implements `kebab.core.ports.Embedder`."""

    has_tokenizer = False

    def __init__(
        self,
        model: EmbeddingModel,
        plugin: Plugin,
        *,
        count_tokens: Callable[[Sequence[str]], list[int]],
        deadline_s: float = 0.0,
    ) -> None:
        """Take the model of a plugin; no process starts before the first call.

        `deadline_s` limits the processor time of every slice of texts; 0 means no limit.
        """
        super().__init__(model)
        self._count_tokens = count_tokens
        assert model.row is not None, "the model of a plugin has a row"
        self._task = _Task(plugin, model.row.version, model.dimension, [model.probe.first])
        self._deadline_s = deadline_s
        self._lock = Lock()
        self._worker: WorkerProcess | None = None
        self._has_loaded = False
        self._failure: tuple[float, str] | None = None

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the estimated number of tokens of each text."""
        return self._count_tokens(texts)

    def prepare(self) -> None:
        """Start the process, which loads the model."""
        with self._lock:
            self._start()

    def embed_query(self, text: str) -> "Vector":
        """Return the unit vector of a question; only its first characters are read."""
        vector: Vector = self._request([self.profile.query_prefix + self.cut_start(text)])[0]
        return vector

    def embed_passages(self, texts: Sequence[str]) -> "Iterator[tuple[list[int], Matrix]]":
        """Yield (indexes into texts, unit vectors of shape (len(indexes), dimension))."""
        for start in range(0, len(texts), SLICE):
            part = [self.profile.passage_prefix + text for text in texts[start : start + SLICE]]
            yield list(range(start, start + len(part))), self._request(part)

    def embed_tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[TokenVectors]:
        """Return no token for any text."""
        del as_query
        with translate_import_errors("embedding", "numpy"):
            import numpy as np

        return [TokenVectors(np.empty((0, self.dimension), np.float32), []) for _ in texts]

    def _request(self, texts: list[str]) -> "Matrix":
        """Return the vectors of a few texts.

        Raises:
            EmbeddingUnavailable: The model cannot be loaded, or fails.
            TimedOut: It takes too long.
        """
        with translate_import_errors("embedding", "numpy"):
            import numpy as np

        clean = [replace_surrogates(text) for text in texts]
        with self._lock:
            worker = self._start()
            try:
                if not self._has_loaded:
                    self._await_model(worker)
                worker.send(self._task._replace(texts=clean))
                data = self._receive(worker, self._deadline_s)
            except BaseException:  # also when the caller is interrupted: a reply may come too late
                self._worker = None
                worker.close()
                raise
        return np.frombuffer(data, np.float32).reshape(len(texts), self.dimension)

    def _start(self) -> "WorkerProcess":
        """Return the process; a new one embeds a text at once, so that it loads the model."""
        from kebab.limits.worker import WorkerProcess

        if self._failure and time.monotonic() - self._failure[0] < _RETRY_S:
            raise self._build_error(self._failure[1])
        if self._worker is None:
            try:
                self._worker = WorkerProcess(_embed, 0)
            except OSError as fault:
                raise self._build_error("no process can be started") from fault
            weakref.finalize(self, self._worker.close)
            self._worker.send(self._task)
            self._has_loaded = False
        return self._worker

    def _await_model(self, worker: "WorkerProcess") -> None:
        """Wait until a new process has embedded its first text."""
        try:
            for receive in (worker.receive, lambda: self._receive(worker, 0)):  # it is ready first
                if not worker.poll(_LOAD_S):
                    raise self._build_error(
                        f"{self._task.plugin.label} takes more than {_LOAD_S:.0f} s to load"
                    )
                receive()
        except EmbeddingUnavailable as error:
            self._failure = (time.monotonic(), error.cause)
            raise
        self._has_loaded, self._failure = True, None

    def _receive(self, worker: "WorkerProcess", deadline_s: float) -> bytes:
        """Return the vectors of the next reply.

        Raises:
            EmbeddingUnavailable: There are none.
            TimedOut: It takes too long.
        """
        if late := worker.wait_for_reply(deadline_s):
            setting = "models.embedding.deadline_s"
            raise late.build_timeout(deadline_s, None, "embedding a batch", setting)
        reply = worker.receive()
        if reply is not None and isinstance(reply.result, bytes):
            return reply.result
        cause = str((reply.result or reply.fault) if reply else worker.explain_end())
        cause = f"{self._task.plugin.label}: {cause.replace('the parser', 'the model')}"
        raise self._build_error(cause)

    def _build_error(self, cause: str) -> EmbeddingUnavailable:
        label = self._task.plugin.label
        return EmbeddingUnavailable(model=self.profile.name, tried=[label], cause=cause)
