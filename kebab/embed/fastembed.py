"""The fastembed reference: tests compare the ONNX embedder with it, and benchmarks its speed."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kebab.embed import model_directory

if TYPE_CHECKING:
    from pathlib import Path

    from kebab.core.chunks import Matrix
    from kebab.embed.registry import EmbeddingModel

DEFAULT_BATCH = 256
"""The default batch size of fastembed."""


class FastembedReference:
    """The same model directory, run by fastembed."""

    def __init__(
        self, directory: "Path", model: "EmbeddingModel", *, threads: int | None = None
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

    def embed_passages(self, texts: Sequence[str], batch_size: int = DEFAULT_BATCH) -> "Matrix":
        """Return the vectors in order; kebab adds the prefix, because fastembed adds none."""
        import numpy as np

        prefixed = [self._model.passage_prefix + text for text in texts]
        matrix: Matrix = np.stack(list(self._engine.embed(prefixed, batch_size=batch_size)))
        return matrix


@cache
def _register_model(model: "EmbeddingModel") -> str:
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
        model_file=model_directory.MODEL_FILE,
    )
    return name
