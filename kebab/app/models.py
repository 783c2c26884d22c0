"""Lists and downloads embedding models, and changes the one of the knowledge base."""

from contextlib import suppress
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.indexing import watch_progress
from kebab.app.own_files import measure_size
from kebab.config.load import read_locale_language
from kebab.config.settings import AUTO
from kebab.core.documents import EMBEDDING_REASON
from kebab.core.progress import Cancel, ProgressCallback
from kebab.embed import registry
from kebab.embed.registry import ModelChoice, choose_models
from kebab.errors.catalog import EmbeddingUnavailable, NotIndexed, UsageInvalid
from kebab.ingest.job import LoadedModel, RunContext
from kebab.ingest.reembed import reembed
from kebab.wire.health import (
    ModelList,
    ModelListRequest,
    ModelPullRequest,
    ModelReport,
    ModelRow,
    ModelUseRequest,
)
from kebab.wire.ingest import EmbeddingSummary

if TYPE_CHECKING:
    from kebab.embed.registry import EmbeddingModel


def list_models(context: AppContext, _request: ModelListRequest) -> ModelList:
    """Return every model, and whether it is installed and in use."""
    active = _find_active_version(context)
    return ModelList(
        models=[_to_row(context, model, active) for model in registry.MODELS],
        configured=context.settings.models.embedding.model,
        reason=_find_reason(context),
    )


def pull_model(
    context: AppContext, request: ModelPullRequest, report: ProgressCallback, cancel: Cancel
) -> ModelReport:
    """Download the weights of a model.

    `auto` means the model that the next run uses: that of the settings, else that of the stored
    vectors, else the best one for the documents.

    Raises:
        InvalidInput: No model has this name.
        EmbeddingUnavailable: No source has the weights.
    """
    context.refuse_when_read_only("model pull")
    before = _list_installed(context)
    choice = _choose_by_documents(context)
    model = _download(context, _choose_needed(context, request.name), choice, report, cancel)
    return ModelReport(
        model=_to_row(context, model, _find_active_version(context)),
        fetched=model.version not in before,
        embedded=0,
        pending=_count_pending(context),
    )


def use_model(
    context: AppContext, request: ModelUseRequest, report: ProgressCallback, cancel: Cancel
) -> ModelReport:
    """Change the model of the knowledge base: download it, and embed everything again.

    `auto` means the model of the settings; without one, the best one for the documents.

    Raises:
        InvalidInput: No model has this name.
        UsageInvalid: The settings name another model.
        EmbeddingUnavailable: No source has the weights; nothing was changed.
    """
    context.refuse_when_read_only("model use")
    chosen = _choose_model(context, request.name)
    before = _list_installed(context)
    choice = _choose_by_documents(context)
    model = _download(context, chosen, choice, report, cancel)
    reason = choice.explain(model) if choice and chosen == AUTO else None
    run = _embed_again(context, model, reason, report, cancel)
    return ModelReport(
        model=_to_row(context, model, _find_active_version(context)),
        fetched=model.version not in before,
        embedded=run.embedded,
        pending=run.pending,
        resume=None if run.version == model.version else f"kebab model use {model.key}",
    )


def _download(
    context: AppContext,
    name: str,
    choice: ModelChoice | None,
    report: ProgressCallback,
    cancel: Cancel,
) -> "EmbeddingModel":
    """Download a model; `auto` means one of the choice.

    Raises:
        EmbeddingUnavailable: No source has the weights.
    """
    download, models = context.embedders.download, choice.models if choice else None
    try:
        return download(name, report, cancel, candidates=models)
    except EmbeddingUnavailable:
        if name == AUTO and choice is not None and choice.fallbacks:
            with suppress(EmbeddingUnavailable):
                return download(name, report, cancel, candidates=choice.fallbacks)
        raise


def _embed_again(
    context: AppContext,
    model: "EmbeddingModel",
    reason: str | None,
    report: ProgressCallback,
    cancel: Cancel,
) -> EmbeddingSummary:
    """Embed every passage with this model; files are not read."""
    embedder = context.embedders.load_installed(model.version)
    assert embedder is not None, "its weights are installed"
    with context.open_writer("model use") as library:
        run = RunContext(watch_progress(context, library, report), context.clock, cancel)
        return reembed(library, context.open_vector_table, LoadedModel(embedder, reason), run)


def _choose_model(context: AppContext, name: str) -> str:
    """Return the model to change to; refuse one that the settings would replace afterwards."""
    configured = context.settings.models.embedding.model
    if configured == AUTO:
        return name
    if name != AUTO and registry.find_model(name) != registry.find_model(configured):
        cause = f"the settings name {configured}; set `models.embedding.model` to `auto` first"
        raise UsageInvalid(option="name", cause=cause)
    return configured


def _choose_needed(context: AppContext, name: str) -> str:
    """Return the model that `auto` stands for where settings or stored vectors need one."""
    configured = context.settings.models.embedding.model
    if name != AUTO or configured != AUTO:
        return configured if name == AUTO else name
    stored = registry.find_version(_find_active_version(context) or "")
    return stored.key if stored else AUTO


def _to_row(context: AppContext, model: "EmbeddingModel", active: str | None) -> ModelRow:
    folder, manifest = context.embedders.find_weights(model), context.embedders.read_manifest(model)
    return ModelRow(
        name=model.name,
        embedding_version=model.version,
        dimension=model.dimension,
        window=model.window,
        languages=model.languages,
        installed=folder is not None,
        active=model.version == active,
        bytes=measure_size(folder) if folder else None,
        precision=manifest.precision if manifest else None,
        texts_per_second=manifest.texts_per_second if manifest else {},
        sources=model.sources,
    )


def _list_installed(context: AppContext) -> set[str]:
    return {model.version for model in registry.MODELS if context.embedders.find_weights(model)}


def _find_active_version(context: AppContext) -> str | None:
    try:
        return context.get_stored_version()
    except NotIndexed:
        return None


def _find_reason(context: AppContext) -> str | None:
    try:
        with context.open_reader() as reader:
            return reader.get_value(EMBEDDING_REASON)
    except NotIndexed:
        return None


def _choose_by_documents(context: AppContext) -> ModelChoice | None:
    """Return the models for the stored documents; None without any."""
    try:
        with context.open_catalogue() as catalogue:
            languages = catalogue.measure_languages()
    except NotIndexed:
        return None
    return choose_models(languages, read_locale_language()) if languages else None


def _count_pending(context: AppContext) -> int:
    try:
        with context.open_reader() as reader:
            return reader.count_pending()
    except NotIndexed:
        return 0
