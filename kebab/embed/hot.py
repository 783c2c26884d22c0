"""The embedder of the hot path: onnxruntime and tokenizers alone, imported when first used.

A conformance suite holds its vectors equal to those of fastembed, which takes several times as
long to import.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kebab.embed import scripts
from kebab.embed.session import Run, Session, default_threads, unit
from kebab.embed.tokens import Tokens
from kebab.errors.dependency import needed

if TYPE_CHECKING:
    from pathlib import Path

    from kebab.core.vector import Matrix, Vector
    from kebab.embed.models import EmbeddingModel

_Begun: TypeAlias = tuple[list[list[list[int]]], Run]
"""The windows of each text, and their run."""

_SLICE = 32  # texts that are told as done together: below a second of work


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
        """Take a directory that `obtain` returned; nothing is read before the first call.

        `threads` texts run side by side (by default one for each core, at most 4);
        `deadline_ms` bounds every slice of texts, and 0 means no bound.
        """
        self._model = model
        self._tokens = Tokens(directory, model)
        self._session = Session(directory, model, threads or default_threads(), deadline_ms)

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
        """The most tokens of content that one vector can see, special tokens left out."""
        return self._model.window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text is, special tokens left out, without the model."""
        return self._tokens.count(texts)

    def supports(self, text: str) -> bool:
        """Return whether the model knows the script that most letters of the text belong to."""
        return scripts.known(text, self._model.scripts)

    def prepare(self) -> None:
        """Begin to load the model, beside other work."""
        self._session.prepare()

    def embed_query(self, text: str) -> "Vector":
        """Return the unit vector of a question, shape (dimension,), float32."""
        return self._vectors(*self._begin([text], self._model.query_prefix))[0]

    def embed_passages(self, texts: Sequence[str]) -> "Iterator[tuple[list[int], Matrix]]":
        """Yield (indexes into texts, unit vectors of shape (len(indexes), dimension))."""
        with needed("embedding", "numpy"):
            import numpy as np

        begun: deque[_Begun] = deque()
        done = 0
        try:
            # One slice is with the model while the one before it is waited for and handed out.
            for start in range(0, len(texts) + _SLICE, _SLICE):
                if part := texts[start : start + _SLICE]:
                    begun.append(self._begin(part, self._model.passage_prefix))
                if start and begun:
                    vectors = self._vectors(*begun.popleft())
                    yield list(range(done, done + len(vectors))), np.stack(vectors)
                    done += len(vectors)
        finally:
            for _, run in begun:
                run.stop()

    def _begin(self, texts: Sequence[str], prefix: str) -> _Begun:
        """Cut texts into windows and let the model begin with them."""
        windows = self._tokens.windows(texts, prefix)
        return windows, self._session.start([window for cuts in windows for window in cuts])

    def _vectors(self, windows: list[list[list[int]]], run: Run) -> "list[Vector]":
        """Return the vector of each text; windows of a long one are averaged by their tokens."""
        vectors = iter(self._session.vectors(run))
        return [_merged([(next(vectors), len(cut)) for cut in cuts]) for cuts in windows]


def _merged(windows: "list[tuple[Vector, int]]") -> "Vector":
    """Return the mean of the windows' vectors, weighted by their tokens, as a unit vector."""
    if len(windows) == 1:
        return windows[0][0]
    return unit(sum(vector * weight for vector, weight in windows))
