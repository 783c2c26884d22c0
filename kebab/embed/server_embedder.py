"""Embeds with a model of a server; implements the port `Embedder`.

The length of a vector is known from the stored vectors, else the server is asked. A server gives no
vectors of tokens, and kebab does not have its tokenizer: tokens are estimated.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kebab.core.chunks import TokenVectors
from kebab.embed.onnx_embedder import normalise
from kebab.embed.registry import build_server_model
from kebab.errors.catalog import ContextOverflow, EmbeddingUnavailable, ModelUnreachable, TimedOut
from kebab.errors.signal import Signal
from kebab.errors.system import escape_undecodable
from kebab.text.model_input import estimate_tokens

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector
    from kebab.embed.registry import EmbeddingModel

BATCH = 32
"""The texts of one request."""

_QUERY_S = 10.0
"""The longest wait for the vector of a question; a search goes on by words then."""
_SHORTEST = 40
"""A text that is too long for the server is cut down to no fewer characters."""


class ServerEmbedder:
    """Embeds with a model of a server.

    `ask` sends texts with a limit in seconds, and returns their vectors; `mask` removes from a text
    what the server must not have. Every failure of the server but a late one is
    `EmbeddingUnavailable`.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[str], float], list[list[float]]],
        *,
        provider: str,
        name: str,
        url: str,
        limit_s: float,
        mask: Callable[[str], str] = str,
    ) -> None:
        self.name = name
        self.url = url
        self._ask = ask
        self._provider = provider
        self._limit_s = limit_s
        self._mask = mask
        self._model: EmbeddingModel | None = None

    def find_version(self, version: str) -> "EmbeddingModel | None":
        """Return the model of an embedding version, None when it is that of another model."""
        match = re.search(r"-(\d+)-v\d+$", version)
        model = build_server_model(self._provider, self.name, int(match[1])) if match else None
        return model if model and model.version == version else None

    def use_version(self, version: str) -> bool:
        """Take the length of the stored vectors; return whether they are of this model."""
        model = self.find_version(version)
        self._model = model or self._model
        return model is not None

    @property
    def profile(self) -> "EmbeddingModel":
        """The facts about the model; the server is asked for the length of a vector once."""
        if self._model is None:
            dimension = len(self._send(["dimension"], self._limit_s)[0])
            self._model = build_server_model(self._provider, self.name, dimension)
        return self._model

    def supports(self, text: str) -> bool:
        """Return true: which scripts a model of a server knows is not known."""
        del text
        return True

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return an estimate of the tokens of each text."""
        return [estimate_tokens(text) for text in texts]

    def prepare(self) -> None:
        """Do nothing: the server loads the model."""

    def embed_query(self, text: str) -> "Vector":
        """Return the unit vector of a question, shape (dimension,), float32."""
        limit_s = min(self._limit_s or _QUERY_S, _QUERY_S)
        matrix: Vector = self._embed([text], self.profile.query_prefix, limit_s)[0]
        return matrix

    def embed_passages(self, texts: Sequence[str]) -> "Iterator[tuple[list[int], Matrix]]":
        """Yield (indexes into texts, unit vectors of shape (len(indexes), dimension))."""
        for start in range(0, len(texts), BATCH):
            part = texts[start : start + BATCH]
            matrix = self._embed(part, self.profile.passage_prefix, self._limit_s)
            yield list(range(start, start + len(part))), matrix

    def embed_tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[TokenVectors]:
        """Refuse: `profile.has_tokens` is false."""
        del texts, as_query
        raise self._refuse("a model server gives no vectors of tokens")

    def _embed(self, texts: Sequence[str], prefix: str, limit_s: float) -> "Matrix":
        shown = [escape_undecodable(self._mask(text)) for text in texts]
        # Servers refuse a text that is empty.
        rows = self._send(
            [prefix + text if text.strip() else f"{prefix}." for text in shown], limit_s
        )
        wanted = self.profile.dimension
        if any(len(row) != wanted for row in rows):
            found = next(len(row) for row in rows if len(row) != wanted)
            raise self._refuse(f"its vectors have {found} numbers, not the {wanted} of the index")
        import numpy as np

        try:
            return normalise(np.array(rows, np.float64))
        except FloatingPointError as fault:
            raise self._refuse(str(fault)) from fault

    def _send(self, texts: list[str], limit_s: float) -> list[list[float]]:
        """Return the vectors of texts; of one that is too long only its start counts."""
        try:
            return self._ask(texts, limit_s)
        except ContextOverflow as fault:
            if len(texts) > 1:
                return [vector for text in texts for vector in self._send([text], limit_s)]
            if len(texts[0]) <= _SHORTEST:
                raise self._refuse(fault.format_message()) from fault
            return self._send([texts[0][: len(texts[0]) // 2]], limit_s)
        except TimedOut as late:
            raise TimedOut(
                operation="embedding a batch",
                elapsed_ms=late.elapsed_ms,
                deadline_ms=late.deadline_ms,
                setting="models.embedding.deadline_s" if limit_s == self._limit_s else None,
            ) from late
        except ModelUnreachable as fault:
            raise self._refuse(fault.cause) from fault
        except Signal as fault:
            raise self._refuse(fault.format_message()) from fault

    def _refuse(self, cause: str) -> EmbeddingUnavailable:
        return EmbeddingUnavailable(
            model=self.name, tried=[self.url], cause=cause, endpoint=self.url
        )


def describe_fault(embedder: Any) -> str | None:
    """Return why an embedder of a server cannot embed now, None when it can."""
    try:
        embedder.embed_query("a question")
    except (EmbeddingUnavailable, TimedOut) as fault:
        return fault.cause if isinstance(fault, EmbeddingUnavailable) else fault.format_message()
    return None
