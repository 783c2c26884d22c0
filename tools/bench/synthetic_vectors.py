"""An embedder for the growth benchmark: a unit vector for each text, without any model.

A model embeds about a hundred passages per second, so a million passages would take hours. Rows,
files and search cost the same whatever the vectors mean.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kebab.core.chunks import TokenVectors
from kebab.embed.onnx_embedder import normalise
from kebab.embed.registry import MINILM
from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector

_BATCH = 1024
_LETTERS_PER_TOKEN = 4


class SyntheticEmbedder:
    """An `Embedder` whose vectors depend on the text and have no meaning."""

    window = 254
    """The most tokens of content that one vector covers."""

    def __init__(self, version: str, dimension: int = 384) -> None:
        """Replace the model of a version."""
        self.version = version
        self.dimension = dimension
        self.profile = replace(MINILM, version=version, dimension=dimension)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return an estimate of the number of tokens of each text."""
        return [len(text) // _LETTERS_PER_TOKEN for text in texts]

    def supports(self, text: str) -> bool:  # noqa: ARG002 - the port asks about each text
        """Return True, because every text can be embedded."""
        return True

    def prepare(self) -> None:
        """Do nothing, because nothing has to be loaded."""

    def embed_query(self, text: str) -> "Vector":
        """Return the unit vector of a text, the same on every machine."""
        with translate_import_errors("embedding", "numpy"):
            import numpy as np

        seed = zlib.crc32(text.encode("utf-8", "surrogatepass"))
        return normalise(np.random.default_rng(seed).standard_normal(self.dimension))

    def embed_passages(self, texts: Sequence[str]) -> "Iterator[tuple[list[int], Matrix]]":
        """Yield pairs of indexes into `texts` and their unit vectors."""
        with translate_import_errors("embedding", "numpy"):
            import numpy as np

        for start in range(0, len(texts), _BATCH):
            part = texts[start : start + _BATCH]
            rows = np.stack([self.embed_query(text) for text in part])
            yield list(range(start, start + len(part))), rows

    def embed_tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[TokenVectors]:  # noqa: ARG002 - the port tells queries from passages
        """Return each text as one token."""
        return [TokenVectors(self.embed_query(text)[None, :], [(0, len(text))]) for text in texts]
