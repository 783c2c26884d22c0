"""Embedding models: listing, fetching, and changing the one of the knowledge base."""

from typing import TYPE_CHECKING

from kebab.app.compose import Workshop
from kebab.app.reset import size
from kebab.config.model import AUTO
from kebab.core.cancel import Cancel
from kebab.core.progress import Report
from kebab.errors.catalog import NotIndexed, UsageInvalid
from kebab.ingest.reembed import reembed
from kebab.wire.ingest import EmbeddingSummary
from kebab.wire.model import ModelList, ModelReport, ModelRow

if TYPE_CHECKING:
    from kebab.embed.registry import EmbeddingModel


def models(shop: Workshop) -> ModelList:
    """Return the registry, with what is installed and what is in use."""
    active = _active(shop)
    return ModelList(
        models=[_row(shop, model, active) for model in shop.embedders.registry()],
        configured=shop.settings.models.embedding.model,
    )


def pull(shop: Workshop, name: str, report: Report, cancel: Cancel) -> ModelReport:
    """Fetch the weights of a model, or of the best that can be had.

    Raises:
        InvalidInput: No model goes by this name.
        EmbeddingUnavailable: No source gave the weights.
    """
    shop.refuse_when_read_only("model pull")
    before = _installed(shop)
    model = shop.embedders.fetched(name, report, cancel)
    return ModelReport(
        model=_row(shop, model, _active(shop)),
        fetched=model.version not in before,
        embedded=0,
        pending=_pending(shop),
    )


def use(shop: Workshop, name: str, report: Report, cancel: Cancel) -> ModelReport:
    """Change the model of the knowledge base: fetch it, and embed everything again.

    `auto` means the model that the settings name; when they name none, the best that can be had.

    Raises:
        InvalidInput: No model goes by this name.
        UsageInvalid: The settings name another model.
        EmbeddingUnavailable: No source gave the weights; nothing was changed.
    """
    shop.refuse_when_read_only("model use")
    chosen = _chosen(shop, name)
    before = _installed(shop)
    model = shop.embedders.fetched(chosen, report, cancel)
    run = _embed_again(shop, model, report, cancel)
    return ModelReport(
        model=_row(shop, model, _active(shop)),
        fetched=model.version not in before,
        embedded=run.embedded,
        pending=run.pending,
    )


def _embed_again(
    shop: Workshop, model: "EmbeddingModel", report: Report, cancel: Cancel
) -> EmbeddingSummary:
    """Give every passage a vector of this model; files are not read."""
    embedder = shop.embedders.installed(model.version)
    assert embedder is not None, "its weights were just fetched"
    with shop.writer("model use") as library:
        around = (report, shop.clock, cancel)
        return reembed(library, shop.vectors, embedder, around)


def _chosen(shop: Workshop, name: str) -> str:
    """Return what to change to; refuse a choice that the settings would overrule afterwards."""
    configured = shop.settings.models.embedding.model
    if configured == AUTO:
        return name
    if name != AUTO and shop.embedders.find(name) != shop.embedders.find(configured):
        cause = f"the settings name {configured}; set `models.embedding.model` to `auto` first"
        raise UsageInvalid(option="name", cause=cause)
    return configured


def _row(shop: Workshop, model: "EmbeddingModel", active: str | None) -> ModelRow:
    place, manifest = shop.embedders.place(model), shop.embedders.manifest(model)
    return ModelRow(
        name=model.name,
        embedding_version=model.version,
        dimension=model.dimension,
        window=model.window,
        languages=model.languages,
        installed=place is not None,
        active=model.version == active,
        bytes=size(place) if place else None,
        precision=manifest.precision if manifest else None,
        texts_per_second=manifest.texts_per_second if manifest else {},
        sources=model.sources,
    )


def _installed(shop: Workshop) -> set[str]:
    registry = shop.embedders.registry()
    return {model.version for model in registry if shop.embedders.place(model)}


def _active(shop: Workshop) -> str | None:
    try:
        return shop.stored_version()
    except NotIndexed:
        return None


def _pending(shop: Workshop) -> int:
    try:
        with shop.reader() as reader:
            return reader.pending_count()
    except NotIndexed:
        return 0
