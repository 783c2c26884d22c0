"""A twin of the embedder without a model: words are hashed into a unit vector."""

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from msgspec.structs import replace

from kebab.core.chunks import (
    Answerability,
    AnswerabilityCurve,
    CosineScale,
    LanguageTrust,
    ModelProfile,
    ProbePair,
    TokenVectors,
)
from kebab.errors.catalog import EmbeddingUnavailable

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector

_WORD = re.compile(r"\w+")

PROFILE = ModelProfile(
    version="hashing-words-384-v1",
    dimension=384,
    window=254,
    languages="all languages",
    scripts=None,
    language_trust=LanguageTrust(english=1.0, other=1.0),
    lexical_share=0.6,
    cosine_scale=CosineScale(0.0, 1.0),
    answerability=Answerability(
        hybrid=AnswerabilityCurve(words=3.7, cosine=6.3, evidence=0.0, length=0.263, start=-5.55),
        vector=AnswerabilityCurve(words=2.97, cosine=5.18, evidence=0.0, length=0.0, start=-3.99),
    ),
    probe=ProbePair(cosine=0.5, tolerance=0.1),
)


class HashingEmbedder:
    """Texts that share words get near vectors; the same text always gets the same one."""

    def __init__(
        self,
        *,
        version: str = PROFILE.version,
        dimension: int = PROFILE.dimension,
        window: int = PROFILE.window,
        profile: ModelProfile = PROFILE,
        supports: Callable[[str], bool] = lambda text: True,
        batch: int = 32,
    ) -> None:
        self._profile = replace(profile, version=version, dimension=dimension, window=window)
        self._supports = supports
        self._batch = batch
        self.embedded: list[str] = []
        """Every text that was embedded, in order."""
        self.prepared = 0
        """How often it was told that it will be needed."""

    @property
    def profile(self) -> ModelProfile:
        return self._profile

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_WORD.findall(text)) for text in texts]

    def supports(self, text: str) -> bool:
        return self._supports(text)

    def prepare(self) -> None:
        self.prepared += 1

    def embed_query(self, text: str) -> "Vector":
        self.embedded.append(text)
        return self._vector(text)

    def embed_passages(self, texts: Sequence[str]) -> "Iterator[tuple[list[int], Matrix]]":
        for start in range(0, len(texts), self._batch):
            part = list(texts[start : start + self._batch])
            self.embedded.extend(part)
            indexes = list(range(start, start + len(part)))
            yield indexes, np.stack([self._vector(text) for text in part])

    def embed_tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[TokenVectors]:
        self.embedded.extend(texts)
        return [
            self._embed_words(list(_WORD.finditer(text))[: self._profile.window]) for text in texts
        ]

    def _embed_words(self, words: Sequence[re.Match[str]]) -> TokenVectors:
        rows = [self._vector(word[0]) for word in words]
        matrix = np.stack(rows) if rows else np.empty((0, self._profile.dimension), np.float32)
        return TokenVectors(matrix, [word.span() for word in words])

    def _vector(self, text: str) -> "Vector":
        total = np.zeros(self._profile.dimension, dtype=np.float64)
        for word in _WORD.findall(text.lower()) or [""]:
            seed = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())
            total += np.random.default_rng(seed).standard_normal(self._profile.dimension)
        return (total / np.linalg.norm(total)).astype(np.float32)


def no_model() -> NoReturn:
    """Stand in for what gives the model, where there is none."""
    raise EmbeddingUnavailable(model="auto", tried=[], cause="no model was chosen yet")
