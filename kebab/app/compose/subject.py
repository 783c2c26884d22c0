"""What doctor looks at, wired to the adapters."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kebab.app.compose.language_models import answering, model_endpoint
from kebab.app.compose.workshop import Workshop
from kebab.config.load import load
from kebab.config.model import AUTO
from kebab.core.keys import Keys, rising
from kebab.core.query import Filters
from kebab.doctor.corpus import Corpus, Indexed
from kebab.doctor.examine import Subject
from kebab.doctor.machine import Machine, SettingsFile
from kebab.doctor.models import Agreement, EmbeddingVersions, Models, Weights
from kebab.doctor.storage import KnownTerm, Schema, Storage
from kebab.errors.catalog import ConfigInvalid, NotIndexed, StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.store.sqlite.catalogue import Catalogue

T = TypeVar("T")


def subject(shop: Workshop) -> Subject:
    """Return everything that can be asked about a knowledge base."""
    return Subject(
        machine=_machine(shop), storage=_storage(shop), corpus=_corpus(shop), models=_models(shop)
    )


def _machine(shop: Workshop) -> Machine:
    from kebab.store.sqlite.lock import holder

    places = shop.places
    return Machine(
        settings=lambda: _settings(shop),
        folders={"data": places.data, "models": places.models, "state": places.state},
        data=places.data,
        log=places.log,
        holder=lambda: holder(places.data),
    )


def _settings(shop: Workshop) -> SettingsFile:
    path = shop.config_path
    load(path if path.exists() else None)
    try:
        model_endpoint(shop.settings.models.llm, {})
    except ConfigInvalid as signal:
        return SettingsFile(path=path, warnings=(signal.text(),))
    return SettingsFile(path=path)


def _storage(shop: Workshop) -> Storage:
    return Storage(
        path=shop.database,
        schema=lambda: _schema(shop),
        integrity=lambda: _looked(shop, lambda catalogue: catalogue.damage()),
        known_term=lambda: _known_term(shop),
        stored=lambda: _stored(shop),
        stamped=lambda: _looked(shop, lambda catalogue: catalogue.vector_keys()),
        garbage=lambda: _looked(shop, lambda catalogue: catalogue.garbage()),
    )


def _looked(shop: Workshop, ask: "Callable[[Catalogue], T]") -> T:
    with shop.reader() as reader:
        return ask(shop.catalogue(reader))


def _schema(shop: Workshop) -> Schema:
    from kebab.store.sqlite import migrate

    try:
        with shop.reader():
            found: int | None = migrate.expected()
    except NotIndexed as signal:
        found = signal.found
    return Schema(expected=migrate.expected(), found=found)


def _known_term(shop: Workshop) -> KnownTerm | None:
    """Return a word of the first passage that has one, and whether the word index knows it."""
    from kebab.text.tokenizer import tokenize

    with shop.reader() as reader:
        page = shop.catalogue(reader).documents(Filters(), limit=1)
        detail = shop.catalogue(reader).document(page.documents[0].doc_id) if page.total else None
        texts = [chunk.text for chunk in detail.chunks] if detail else []
        terms = [term for text in texts for term in tokenize(text)[:1]]
        if not terms:
            return None
        return KnownTerm(terms[0], found=reader.document_frequency(terms[:1])[terms[0]] > 0)


def _stored(shop: Workshop) -> Keys:
    version = shop.stored_version()
    # What is derived of the table may outlive it, and would then speak well of it.
    return shop.vectors(version).keys(sure=True) if version else rising(())


def _corpus(shop: Workshop) -> Corpus:
    return Corpus(
        pending=lambda: _pending(shop),
        files=lambda limit: _looked(shop, lambda catalogue: _files(catalogue, limit)),
    )


def _pending(shop: Workshop) -> int:
    with shop.reader() as reader:
        return reader.pending_count()


def _files(catalogue: "Catalogue", limit: int) -> list[Indexed]:
    """Return documents spread over all of them."""
    found = catalogue.documents(Filters(), limit=-1).documents
    step = max(1, len(found) // limit)
    return [
        Indexed(Path(one.root, one.path), one.size, one.mtime_ns) for one in found[::step][:limit]
    ]


def _models(shop: Workshop) -> Models:
    ollama = shop.settings.models.llm.provider == "ollama"
    return Models(
        weights=lambda: _weights(shop),
        agreement=lambda: _agreement(shop),
        versions=lambda: _versions(shop),
        server=lambda: answering(shop.settings),
        start="ollama serve" if ollama else "kebab ask --extractive",
    )


def _version(shop: Workshop) -> str | None:
    """Return the embedding version in use, or the one that would be."""
    try:
        stored = shop.stored_version()
    except (NotIndexed, StoreCorrupt):  # other checks tell of it
        stored = None
    return stored or next(
        (model.version for model in shop.embedders.registry() if shop.embedders.place(model)), None
    )


def _weights(shop: Workshop) -> Weights | None:
    from kebab.embed.model_directory import verify_files

    version = _version(shop)
    if version is None:
        return None
    model = shop.embedders.find(version)
    folder = shop.embedders.place(model)
    faults = tuple(verify_files(folder)) if folder else ()
    manifest = shop.embedders.manifest(model)
    if folder and manifest is None and not faults:
        faults = ("the manifest cannot be read",)
    return Weights(
        model=model.key,
        folder=folder,
        precision=manifest.precision if manifest else None,
        texts_per_second=manifest.texts_per_second if manifest else {},
        faults=faults,
    )


def _agreement(shop: Workshop) -> Agreement | None:
    from kebab.embed.registry import measure_probe

    version = _version(shop)
    embedder = shop.embedders.installed(version) if version else None
    if embedder is None:
        return None
    return Agreement(cosine=measure_probe(embedder), probe=embedder.profile.probe)


def _versions(shop: Workshop) -> EmbeddingVersions:
    configured = shop.settings.models.embedding.model
    return EmbeddingVersions(
        configured=None if configured == AUTO else shop.embedders.find(configured).version,
        stored=shop.stored_version(),
    )
