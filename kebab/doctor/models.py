"""Whether the models are there, whole, and the ones that the index was built with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kebab.core.model_profile import ProbePair
from kebab.doctor.findings import Finding, fail, skip, succeed, warn
from kebab.errors.catalog import ConfigInvalid, ModelNotPulled
from kebab.errors.signal import Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The files of the embedding model, checked against their SHA-256.

    `folder` and `precision` are None when they are not on this machine. `texts_per_second` is what
    each precision reached when they were installed, empty when only one was tried.
    """

    model: str
    folder: Path | None
    precision: str | None = None
    texts_per_second: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The cosine that the model gives to its probe pair, and the pair with its known cosine.

    The tolerance covers differences in arithmetic between processors; another pooling, another
    prefix or another model is far outside.
    """

    cosine: float
    probe: ProbePair


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingVersions:
    """The embedding version of the settings and of the stored vectors.

    None where the settings leave the choice open, or no vector is stored.
    """

    configured: str | None
    stored: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInputs:
    """What to ask about the models.

    `weights` returns None when no model was chosen yet, `agreement` when the model is known for
    nothing. `server` returns in a sentence who answers questions, None when no server has to, or
    raises the signal that says why it cannot; `start` is the command that helps then.
    """

    weights: Callable[[], Weights | None]
    agreement: Callable[[], ProbeResult | None]
    versions: Callable[[], EmbeddingVersions]
    server: Callable[[], str | None]
    start: str


def check_embedding_files(models: ModelInputs) -> Finding:
    """Look whether the weights are on this machine as they were released."""
    weights = models.weights()
    if weights is None:
        return warn("no embedding model yet, words only are searched", "kebab model pull")
    fetch = f"kebab model pull {weights.model}"
    if weights.folder is None:
        return warn(f"weights not here, words only are searched: {weights.model}", fetch)
    if weights.faults:
        return fail(f"damaged weights in {weights.folder}: {'; '.join(weights.faults)}", fetch)
    return succeed(f"{_describe_weights(weights)}: {weights.folder}")


def _describe_weights(weights: Weights) -> str:
    """Return the model, its precision and, when that was measured, what it was chosen by."""
    named = ", ".join(filter(None, (weights.model, weights.precision)))
    rates = [f"{kind} {rate:.0f}" for kind, rate in weights.texts_per_second.items()]
    return f"{named} (texts/s at installation: {', '.join(rates)})" if rates else named


def check_embedding_probe(models: ModelInputs) -> Finding:
    """Look whether the model gives the vectors it is known for."""
    known = models.agreement()
    if known is None:
        return skip("no known vectors to compare with")
    expected = known.probe.cosine
    summary = f"cosine of two known sentences {known.cosine:.4f}, expected: {expected:.4f}"
    agrees = known.probe.accepts(known.cosine)
    return succeed(summary) if agrees else fail(summary, "kebab model pull")


def check_embedding_version(models: ModelInputs) -> Finding:
    """Look whether the configured model is the one that the index was built with."""
    versions = models.versions()
    if versions.stored is None:
        return skip("no vector is stored")
    if versions.configured not in {None, versions.stored}:
        return fail(
            f"built with {versions.stored}, configured is {versions.configured}",
            "kebab model use auto",
        )
    return succeed(versions.stored)


def check_language_model(models: ModelInputs) -> Finding:
    """Look whether the language model can answer; only `kebab ask` needs it."""
    try:
        answering = models.server()
    except Signal as signal:
        # The other advice speaks of asking, or of calling doctor.
        mend = signal.format_hint() if isinstance(signal, ModelNotPulled | ConfigInvalid) else None
        return warn(signal.format_message(), mend or models.start)
    return succeed(answering) if answering else skip("answers are taken from the notes, as set")
