"""Lists and downloads embedding models, and changes the one of the knowledge base."""

from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.indexing import watch_progress
from kebab.app.reset import measure_size
from kebab.config.settings import AUTO
from kebab.core.progress import Cancel, ProgressCallback
from kebab.embed import registry
from kebab.errors.catalog import NotIndexed, UsageInvalid
from kebab.ingest.job import RunContext
from kebab.ingest.vectors import reembed
from kebab.wire.health import ModelList, ModelPullRequest, ModelReport, ModelRow, ModelUseRequest
from kebab.wire.ingest import EmbeddingSummary

if TYPE_CHECKING:
    from kebab.embed.registry import EmbeddingModel


def list_models(context: AppContext) -> ModelList:
    """Return every model, and whether it is installed and in use."""
    active = _find_active_version(context)
    return ModelList(
        models=[_to_row(context, model, active) for model in registry.MODELS],
        configured=context.settings.models.embedding.model,
    )


def pull_model(
    context: AppContext, request: ModelPullRequest, report: ProgressCallback, cancel: Cancel
) -> ModelReport:
    """Download the weights of a model; `auto` means the best one that can be downloaded.

    Raises:
        InvalidInput: No model has this name.
        EmbeddingUnavailable: No source has the weights.
    """
    context.refuse_when_read_only("model pull")
    before = _list_installed(context)
    model = context.embedders.download(request.name, report, cancel)
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

    `auto` means the model of the settings; without one, the best one that can be downloaded.

    Raises:
        InvalidInput: No model has this name.
        UsageInvalid: The settings name another model.
        EmbeddingUnavailable: No source has the weights; nothing was changed.
    """
    context.refuse_when_read_only("model use")
    chosen = _choose_model(context, request.name)
    before = _list_installed(context)
    model = context.embedders.download(chosen, report, cancel)
    run = _embed_again(context, model, report, cancel)
    return ModelReport(
        model=_to_row(context, model, _find_active_version(context)),
        fetched=model.version not in before,
        embedded=run.embedded,
        pending=run.pending,
    )


def _embed_again(
    context: AppContext, model: "EmbeddingModel", report: ProgressCallback, cancel: Cancel
) -> EmbeddingSummary:
    """Embed every passage with this model; files are not read."""
    embedder = context.embedders.load_installed(model.version)
    assert embedder is not None, "its weights are installed"
    with context.open_writer("model use") as library:
        run = RunContext(watch_progress(context, library, report), context.clock, cancel)
        return reembed(library, context.open_vector_table, embedder, run)


def _choose_model(context: AppContext, name: str) -> str:
    """Return the model to change to; refuse one that the settings would replace afterwards."""
    configured = context.settings.models.embedding.model
    if configured == AUTO:
        return name
    if name != AUTO and registry.find_model(name) != registry.find_model(configured):
        cause = f"the settings name {configured}; set `models.embedding.model` to `auto` first"
        raise UsageInvalid(option="name", cause=cause)
    return configured


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


def _count_pending(context: AppContext) -> int:
    try:
        with context.open_reader() as reader:
            return reader.count_pending()
    except NotIndexed:
        return 0
