"""Lists and downloads embedding models, and changes the one of the knowledge base."""

from contextlib import suppress
from pathlib import Path

from kebab.app.context import AppContext
from kebab.app.ingest import publish_progress
from kebab.app.own_files import measure_size
from kebab.config.load import read_locale_language
from kebab.config.settings import AUTO
from kebab.core.documents import EMBEDDING_REASON
from kebab.core.progress import Cancel, ProgressCallback
from kebab.embed import registry
from kebab.embed.registry import EmbeddingModel, ModelChoice, choose_models
from kebab.errors.catalog import NotIndexed, UsageInvalid
from kebab.ingest.job import LoadedModel, RunContext
from kebab.ingest.vectors import reembed
from kebab.wire.health import (
    ModelList,
    ModelListRequest,
    ModelPullRequest,
    ModelReport,
    ModelRow,
    ModelUseRequest,
)
from kebab.wire.record import fill_record


def list_models(context: AppContext, _request: ModelListRequest) -> ModelList:
    """Return every model, and whether it is installed and in use."""
    models, active = [*registry.MODELS], _find_active_version(context)
    if active and (served := context.embedders.find_version(active)) and served not in models:
        models.append(served)
    reason = None
    with suppress(NotIndexed), context.open_reader() as reader:
        reason = reader.get_value(EMBEDDING_REASON)
    return ModelList(
        models=[_to_row(context, model, active) for model in models],
        configured=context.settings.models.embedding.model,
        reason=reason,
    )


def pull_model(
    context: AppContext, request: ModelPullRequest, report: ProgressCallback, cancel: Cancel
) -> ModelReport:
    """Install the weights of a model.

    `auto` means the model that the next run uses: that of the settings, else that of the stored
    vectors, else the best one for the documents.

    Raises:
        InvalidInput: No model has this name.
        UsageInvalid: A folder is given, but no model is named.
        EmbeddingUnavailable: No source has the weights.
    """
    context.refuse_when_read_only("model pull")
    name, configured = request.name, context.settings.models.embedding.model
    if name == AUTO and configured != AUTO:
        name = configured
    elif name == AUTO:
        stored = context.embedders.find_version(_find_active_version(context) or "")
        name = stored.key if stored else AUTO
    choice = _choose_by_documents(context)
    model, fetched = _install(context, name, choice, request.folder, (report, cancel))
    pending = 0
    with suppress(NotIndexed), context.open_reader() as reader:
        pending = reader.count_pending()
    row = _to_row(context, model, _find_active_version(context))
    return ModelReport(model=row, fetched=fetched, embedded=0, pending=pending)


def use_model(
    context: AppContext, request: ModelUseRequest, report: ProgressCallback, cancel: Cancel
) -> ModelReport:
    """Change the model of the knowledge base: install it, and embed everything again.

    `auto` means the model of the settings; without one, the best one for the documents.

    Raises:
        InvalidInput: No model has this name.
        UsageInvalid: The settings name another model, or a folder is given, but no model is named.
        EmbeddingUnavailable: No source has the weights; nothing was changed.
    """
    context.refuse_when_read_only("model use")
    name, configured = request.name, context.settings.models.embedding.model
    if configured != AUTO:
        find = context.embedders.find_model
        # The settings would replace another model afterwards.
        if name != AUTO and find(name).version != find(configured).version:
            cause = f"the settings name {configured}; set `models.embedding.model` to `auto` first"
            raise UsageInvalid(option="name", cause=cause)
        name = configured
    choice = _choose_by_documents(context)
    model, fetched = _install(context, name, choice, request.folder, (report, cancel))
    reason = choice.explain(model) if choice and name == AUTO else None

    embedder = context.embedders.load_installed(model.version)
    assert embedder is not None, "its weights are installed"
    with context.open_writer("model use") as library:
        # Every passage is embedded with this model; files are not read.
        run = RunContext(
            publish_progress(report, library.publish, context.clock), context.clock, cancel
        )
        summary = reembed(library, context.open_vector_table, LoadedModel(embedder, reason), run)
    return ModelReport(
        model=_to_row(context, model, _find_active_version(context)),
        fetched=fetched,
        embedded=summary.embedded,
        pending=summary.pending,
    )


def _install(
    context: AppContext,
    name: str,
    choice: ModelChoice | None,
    folder: str | None,
    watch: tuple[ProgressCallback, Cancel],
) -> tuple[EmbeddingModel, bool]:
    """Install a model, and return it and whether this run did; `auto` means one of the choice."""
    embedders = context.embedders
    before = {model.version for model in registry.MODELS if embedders.find_weights(model)}
    if name != AUTO:
        path = Path(folder).expanduser().absolute() if folder else None
        model = embedders.download(embedders.find_model(name), *watch, folder=path)
    elif folder is not None:
        raise UsageInvalid(option="--from", cause="name the model that the folder holds")
    else:
        model = embedders.download(choice.models if choice else registry.MODELS, *watch)
    return model, model.version not in before and not embedders.is_served(model)


def _to_row(context: AppContext, model: EmbeddingModel, active: str | None) -> ModelRow:
    folder = context.embedders.find_weights(model)
    server = context.embedders.server
    served = server if context.embedders.is_served(model) else None
    return fill_record(
        ModelRow,
        model,
        embedding_version=model.version,
        installed=folder is not None or served is not None,
        active=model.version == active,
        bytes=measure_size(folder) if folder else None,
        sources=[f"server:{served.url}"] if served else model.sources,
        confidence="calibrated" if model.is_calibrated else "uncalibrated",
    )


def _find_active_version(context: AppContext) -> str | None:
    with suppress(NotIndexed):
        return context.get_stored_version()
    return None


def _choose_by_documents(context: AppContext) -> ModelChoice | None:
    """Return the models for the stored documents; None without any."""
    with suppress(NotIndexed), context.open_catalogue() as catalogue:
        languages = catalogue.measure_languages()
        return choose_models(languages, read_locale_language()) if languages else None
    return None
