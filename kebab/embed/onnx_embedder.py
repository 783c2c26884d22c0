"""The ONNX embedder: onnxruntime and tokenizers, imported on first use."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.chunks import TokenVectors
from kebab.embed.inference import InferenceRun, InferenceSession, choose_thread_count, normalise
from kebab.embed.model_tokenizer import ModelTokenizer, TokenSequence
from kebab.errors.system import translate_import_errors
from kebab.text.language import is_written_in

if TYPE_CHECKING:
    from pathlib import Path

    from kebab.core.chunks import Matrix, Vector
    from kebab.embed.registry import EmbeddingModel

_StartedRun: TypeAlias = tuple[list[list[list[int]]], InferenceRun]
"""The windows of each text, and the run over them."""

_SLICE = 32  # texts that are returned together: less than a second of work


QUERY_WINDOWS = 2
"""How many windows of a query are embedded: each costs as much as a passage."""

_TOKEN_CHARS = 16
"""More characters than the tokens of prose have, so that no more of a query is cut into tokens."""


class OnnxEmbedder:
    """Embeds with an installed model directory; implements `kebab.core.ports.Embedder`."""

    def __init__(
        self,
        directory: "Path",
        model: "EmbeddingModel",
        *,
        threads: int | None = None,
        deadline_ms: int = 0,
    ) -> None:
        """Take the directory of an installed model; nothing is read before the first call.

        `threads` texts run in parallel (by default one per core, at most 4). `deadline_ms` limits
        every slice of texts; 0 means no limit.
        """
        self.directory = directory
        self._model = model
        self._tokenizer = ModelTokenizer(directory, model)
        self._session = InferenceSession(
            directory, model, threads or choose_thread_count(), deadline_ms
        )

    @property
    def profile(self) -> "EmbeddingModel":
        """The registry row of the model."""
        return self._model

    @property
    def version(self) -> str:
        """Provider, model, dimension and version."""
        return self._model.version

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._model.dimension

    @property
    def window(self) -> int:
        """The most content tokens of one vector, without special tokens."""
        return self._model.window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens; no model is loaded."""
        return self._tokenizer.count_tokens(texts)

    def supports(self, text: str) -> bool:
        """Return whether the model knows the script of most letters of the text."""
        return is_written_in(text, self._model.scripts)

    def prepare(self) -> None:
        """Start to load the model in the background."""
        self._session.prepare()

    def embed_query(self, text: str) -> "Vector":
        """Return the unit vector of a question, shape (dimension,), float32.

        Of a pasted page only the first windows count.
        """
        start = text[: QUERY_WINDOWS * self._model.window * _TOKEN_CHARS]
        (cuts,) = self._tokenizer.split_windows([start], self._model.query_prefix)
        windows = [cuts[:QUERY_WINDOWS]]
        return self._wait_for_vectors(windows, self._session.start_run(windows[0]))[0]

    def embed_passages(self, texts: Sequence[str]) -> "Iterator[tuple[list[int], Matrix]]":
        """Yield (indexes into texts, unit vectors of shape (len(indexes), dimension))."""
        with translate_import_errors("embedding", "numpy"):
            import numpy as np

        started: deque[_StartedRun] = deque()
        done = 0
        try:
            # The model runs one slice while the caller handles the slice before it.
            for start in range(0, len(texts) + _SLICE, _SLICE):
                if part := texts[start : start + _SLICE]:
                    started.append(self._start_run(part, self._model.passage_prefix))
                if start and started:
                    vectors = self._wait_for_vectors(*started.popleft())
                    yield list(range(done, done + len(vectors))), np.stack(vectors)
                    done += len(vectors)
        finally:
            for _, run in started:
                run.stop()

    def embed_tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[TokenVectors]:
        """Return the token vectors of each text; only the first window of a text is read."""
        prefix = self._model.query_prefix if as_query else self._model.passage_prefix
        most = self._model.window * _TOKEN_CHARS
        found: list[TokenVectors] = []
        for first in range(0, len(texts), _SLICE):
            starts = [text[:most] for text in texts[first : first + _SLICE]]
            sequences = self._tokenizer.encode_starts(starts, prefix)
            run = self._session.start_run([one.ids for one in sequences], pooled=False)
            found += map(_select_tokens, sequences, self._session.wait_for_vectors(run))
        return found

    def _start_run(self, texts: Sequence[str], prefix: str) -> _StartedRun:
        """Cut texts into windows and start a run over them."""
        windows = self._tokenizer.split_windows(texts, prefix)
        return windows, self._session.start_run([window for cuts in windows for window in cuts])

    def _wait_for_vectors(
        self, windows: list[list[list[int]]], run: InferenceRun
    ) -> "list[Vector]":
        """Return the vector of each text: the mean of its windows, weighted by their tokens."""
        vectors = iter(self._session.wait_for_vectors(run))
        return [_average_windows([(next(vectors), len(cut)) for cut in cuts]) for cuts in windows]


def _select_tokens(sequence: TokenSequence, vectors: "Matrix") -> TokenVectors:
    """Return the vectors of the tokens that have a span."""
    return TokenVectors(vectors[list(sequence.spans)], list(sequence.spans.values()))


def _average_windows(windows: "list[tuple[Vector, int]]") -> "Vector":
    """Return the mean of the windows' vectors, weighted by their tokens, as a unit vector."""
    if len(windows) == 1:
        return windows[0][0]
    return normalise(sum(vector * weight for vector, weight in windows))
