"""Runs the files of an installed model with fastembed, as a reference for the vectors."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.embed import install
from kebab.embed.registry import EmbeddingModel

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix


class FastembedReference:
    """The same model directory, run by fastembed."""

    def __init__(
        self, directory: Path, model: EmbeddingModel, *, threads: int | None = None
    ) -> None:
        """Load the model at once, without the network."""
        from fastembed import TextEmbedding

        self._model = model
        self._engine: Any = TextEmbedding(
            _register_model(model),
            cache_dir=str(directory.parent),
            threads=threads,
            specific_model_path=str(directory),
            local_files_only=True,
        )

    def embed_passages(self, texts: Sequence[str], batch_size: int = 256) -> "Matrix":
        """Return the vectors in order; kebab adds the prefix, because fastembed adds none.

        The batch size is by default that of fastembed.
        """
        import numpy as np

        prefixed = [self._model.passage_prefix + text for text in texts]
        matrix: Matrix = np.stack(list(self._engine.embed(prefixed, batch_size=batch_size)))
        return matrix


@cache
def _register_model(model: EmbeddingModel) -> str:
    """Register the model with fastembed once and return its name there."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"kebab/{model.key}"
    TextEmbedding.add_custom_model(
        name,
        pooling=PoolingType[model.pooling.upper()],
        normalization=True,
        sources=ModelSource(hf=model.hub.repo),
        dim=model.dimension,
        model_file=install.MODEL_FILE,
    )
    return name
