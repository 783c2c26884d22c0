"""The golden pair: two sentences whose cosine tells whether a model is what it claims to be."""

from typing import TYPE_CHECKING

from kebab.embed.models import Golden, find

if TYPE_CHECKING:
    from kebab.core.ports import Embedder


def probe(embedder: "Embedder") -> float:
    """Return the cosine that this embedder gives to the golden pair of its model."""
    golden = expected(embedder.version)
    return float(embedder.embed_query(golden.first) @ embedder.embed_query(golden.second))


def expected(version: str) -> Golden:
    """Return the golden pair of an embedding version, with its cosine and tolerance."""
    return find(version).golden


def close(cosine: float, wanted: float, tolerance: float) -> bool:
    """Return whether a cosine is near enough; one that is not a number never is."""
    return abs(cosine - wanted) <= tolerance
