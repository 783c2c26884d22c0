"""fastembed as the reference that the hot path is held equal to, and as the peer in benchmarks."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kebab.embed import layout

if TYPE_CHECKING:
    from pathlib import Path

    from kebab.core.vector import Matrix
    from kebab.embed.models import EmbeddingModel

DEFAULT_BATCH = 256
"""The batch size that fastembed takes when nobody asks for another."""


class FastembedReference:
    """The same model directory, run by fastembed."""

    def __init__(
        self, directory: "Path", model: "EmbeddingModel", *, threads: int | None = None
    ) -> None:
        """Load the model at once; nothing is looked up or fetched."""
        from fastembed import TextEmbedding

        self._model = model
        self._engine: Any = TextEmbedding(
            _registered(model),
            cache_dir=str(directory.parent),
            threads=threads,
            specific_model_path=str(directory),
            local_files_only=True,
        )

    def embed_passages(self, texts: Sequence[str], batch_size: int = DEFAULT_BATCH) -> "Matrix":
        """Return the vectors in order, with our prefix: fastembed itself adds none."""
        import numpy as np

        prefixed = [self._model.passage_prefix + text for text in texts]
        matrix: Matrix = np.stack(list(self._engine.embed(prefixed, batch_size=batch_size)))
        return matrix


@cache
def _registered(model: "EmbeddingModel") -> str:
    """Tell fastembed about the model once and return the name it goes by there."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"kebab/{model.key}"
    TextEmbedding.add_custom_model(
        name,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=model.hub.repo),
        dim=model.dimension,
        model_file=layout.MODEL_FILE,
    )
    return name
