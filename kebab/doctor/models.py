"""Checks the embedding model and the language model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kebab.core.chunks import ProbePair
from kebab.doctor.findings import Finding, fail, skip, succeed, warn
from kebab.errors.catalog import ModelNotPulled, ModelProtocol, ModelRejected, ModelUnreachable
from kebab.errors.signal import Signal

_MOST_NAMES = 5
_OTHER_MODEL = "export KEBAB_MODELS_LLM_MODEL=NAME"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The files of the embedding model, compared with their SHA-256.

    `folder` and `precision` are None when the model is not installed. `texts_per_second` is the
    speed of each precision at installation; it is empty when only one was tried.
    """

    model: str
    folder: Path | None
    precision: str | None = None
    texts_per_second: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The measured cosine of the model's probe pair, and the pair with its known cosine.

    The tolerance of the pair covers differences in arithmetic between processors. Another pooling,
    prefix or model differs by far more.
    """

    cosine: float
    probe: ProbePair


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingVersions:
    """The embedding version of the settings and of the stored vectors.

    `configured` is None when the settings leave the choice to kebab, `stored` when no vector is
    stored. `reason` says why kebab chose the stored one, `advice` why another model would fit the
    text better, with the command that changes to it.
    """

    configured: str | None
    stored: str | None
    reason: str | None = None
    advice: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInputs:
    """The inputs of the checks of the models.

    `read_weights` returns None when no model was chosen yet, `measure_probe` when no model is
    installed. `check_server` describes the server that answers questions. It returns None when no
    server is needed, and raises a signal when the server cannot answer; `start_command` is the
    command that helps then.
    """

    read_weights: Callable[[], Weights | None]
    measure_probe: Callable[[], ProbeResult | None]
    read_versions: Callable[[], EmbeddingVersions]
    check_server: Callable[[], str | None]
    start_command: str


def check_embedding_files(models: ModelInputs) -> Finding:
    """Check that the model files are on this machine and unchanged."""
    weights = models.read_weights()
    if weights is None:
        return warn("no embedding model yet, searches use words only", "kebab model pull")
    pull = f"kebab model pull {weights.model}"
    if weights.folder is None:
        return warn(f"model not installed, searches use words only: {weights.model}", pull)
    if weights.faults:
        return fail(f"damaged model files in {weights.folder}: {'; '.join(weights.faults)}", pull)
    return succeed(f"{_describe_weights(weights)}: {weights.folder}")


def _describe_weights(weights: Weights) -> str:
    """Return the model, its precision and the speeds that decided the precision."""
    named = ", ".join(filter(None, (weights.model, weights.precision)))
    rates = [f"{kind} {rate:.0f}" for kind, rate in weights.texts_per_second.items()]
    return f"{named} (texts/s at installation: {', '.join(rates)})" if rates else named


def check_embedding_probe(models: ModelInputs) -> Finding:
    """Check that the model computes its known vectors."""
    result = models.measure_probe()
    if result is None:
        return skip("no installed model to check")
    expected = result.probe.cosine
    summary = f"cosine of two known sentences {result.cosine:.4f}, expected: {expected:.4f}"
    agrees = result.probe.accepts(result.cosine)
    return succeed(summary) if agrees else fail(summary, "kebab model pull")


def check_embedding_version(models: ModelInputs) -> Finding:
    """Check that the configured model is the one that the index was built with."""
    versions = models.read_versions()
    if versions.stored is None:
        return skip("no vector is stored")
    if versions.configured not in {None, versions.stored}:
        summary = f"built with {versions.stored}, but configured is {versions.configured}"
        return fail(summary, "kebab model use auto")
    if versions.advice is not None:
        cause, command = versions.advice
        return warn(f"{versions.stored}, but {cause}", command)
    because = f", because {versions.reason}" if versions.reason else ""
    return succeed(f"{versions.stored}{because}")


def check_language_model(models: ModelInputs) -> Finding:
    """Check that the language model can answer; only `kebab ask` needs it.

    A server that is away needs attention. A model or a key that the server refuses is a fault of
    the settings.
    """
    try:
        description = models.check_server()
    except (ModelNotPulled, ModelRejected) as signal:
        return fail(_describe_refusal(signal), _choose_server_fix(signal, models))
    except Signal as signal:
        return warn(signal.format_message(), _choose_server_fix(signal, models))
    return succeed(description) if description else skip("the settings use no language model")


def _describe_refusal(signal: ModelNotPulled | ModelRejected) -> str:
    """Return the message, with the models that Ollama has."""
    message = signal.format_message()
    if isinstance(signal, ModelRejected) or not signal.models:
        return message
    return f"{message}; it has {', '.join(signal.models[:_MOST_NAMES])}"


def _choose_server_fix(signal: Signal, models: ModelInputs) -> str:
    """Return the command that repairs the fault; hints about asking help nobody here."""
    if isinstance(signal, ModelProtocol) and not signal.setting:
        return "restart the model server, then try again: `kebab doctor`"
    hint = signal.format_hint()
    is_plain = isinstance(signal, ModelUnreachable) and signal.choose_case() in ("ollama", "server")
    if hint is None or is_plain or hint == "kebab doctor":
        return models.start_command
    return _OTHER_MODEL if "kebab ask" in hint else hint
