"""Whether the models are there, whole, and the ones that the index was built with."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kebab.doctor.check import Finding, failure, skipped, well, worry
from kebab.errors.signal import Signal

AGREEMENT = 0.99
"""The least cosine of the probe sentence with its known vector.

Integer arithmetic differs a little between processors; another pooling, another prefix or
another model is far below.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The files of the embedding model, checked against their SHA-256."""

    model: str
    folder: Path
    missing: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingVersions:
    """The embedding version of the settings and of the stored vectors.

    None where the settings leave the choice open, or no vector is stored.
    """

    configured: str | None
    stored: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What to ask about the models.

    `weights` returns None when no model was chosen yet. `agreement` returns the cosine of a probe
    sentence with its known vector, None when none is known. `server` returns the version of the
    server at `endpoint`, or raises the signal that says why it cannot answer with `llm`.
    """

    weights: Callable[[], Weights | None]
    agreement: Callable[[], float | None]
    versions: Callable[[], EmbeddingVersions]
    server: Callable[[], str]
    endpoint: str
    llm: str


def embedding_files(models: Models) -> Finding:
    """Look whether the weights are on this machine as they were released."""
    weights = models.weights()
    if weights is None:
        return worry("no embedding model yet, words only are searched", "kebab model pull")
    fetch = f"kebab model pull {weights.model}"
    if weights.damaged:
        return failure(f"damaged weights: {weights.folder / weights.damaged[0]}", fetch)
    if weights.missing:
        return worry(
            f"weights not on this machine, words only are searched: {weights.model}", fetch
        )
    return well(f"{weights.model}: {weights.folder}")


def embedding_probe(models: Models) -> Finding:
    """Look whether the model still gives the vector it gave when it was chosen."""
    cosine = models.agreement()
    if cosine is None:
        return skipped("no known vector to compare with")
    summary = f"cosine of a probe sentence with its known vector: {cosine:.4f}"
    # A vector that is not a number agrees with nothing, so the test is for agreement.
    return well(summary) if cosine >= AGREEMENT else failure(summary, "kebab model pull")


def embedding_version(models: Models) -> Finding:
    """Look whether the configured model is the one that the index was built with."""
    versions = models.versions()
    if versions.stored is None:
        return skipped("no vector is stored")
    if versions.configured not in {None, versions.stored}:
        return failure(
            f"built with {versions.stored}, configured is {versions.configured}",
            "kebab model use auto",
        )
    return well(versions.stored)


def ollama(models: Models) -> Finding:
    """Look whether the language model can answer; only `kebab ask` needs it."""
    try:
        version = models.server()
    except Signal as signal:
        return worry(signal.text(), signal.advice() or "ollama serve")
    return well(f"Ollama {version} at {models.endpoint} has {models.llm}")
