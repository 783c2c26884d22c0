"""Checks the health of a knowledge base: runs the checks of `kebab.doctor` over the adapters."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kebab.app.context import AppContext
from kebab.app.language_models import check_server, resolve_endpoint
from kebab.config.load import load_settings
from kebab.config.settings import AUTO
from kebab.core.ids import Keys, sort_keys
from kebab.core.queries import Filters
from kebab.doctor.machine import MachineInputs, SettingsFile
from kebab.doctor.models import EmbeddingVersions, ModelInputs, ProbeResult, Weights
from kebab.doctor.run import DoctorInputs
from kebab.doctor.storage import (
    DocumentInputs,
    IndexedFile,
    KnownTerm,
    SchemaVersions,
    StorageInputs,
)
from kebab.errors.catalog import ConfigInvalid, NotIndexed, StoreCorrupt
from kebab.wire.health import Doctor

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.store.sqlite.catalogue import Catalogue

T = TypeVar("T")


def check_health(context: AppContext) -> Doctor:
    """Return the health of the knowledge base and of what it needs."""
    from kebab.doctor.run import run_checks

    return run_checks(build_inputs(context), context.clock)


def build_inputs(context: AppContext) -> DoctorInputs:
    """Return the inputs of the checks."""
    return DoctorInputs(
        machine=_machine(context),
        storage=_storage(context),
        documents=_corpus(context),
        models=_models(context),
    )


def _machine(context: AppContext) -> MachineInputs:
    from kebab.store.sqlite.lock import read_holder_pid

    places = context.places
    return MachineInputs(
        read_settings=lambda: _settings(context),
        folders={"data": places.data, "models": places.models, "state": places.state},
        data=places.data,
        log=places.log,
        find_writer=lambda: read_holder_pid(places.data),
    )


def _settings(context: AppContext) -> SettingsFile:
    path = context.config_path
    load_settings(path if path.exists() else None)
    try:
        resolve_endpoint(context.settings.models.llm, {})
    except ConfigInvalid as signal:
        return SettingsFile(path=path, warnings=(signal.format_message(),))
    return SettingsFile(path=path)


def _storage(context: AppContext) -> StorageInputs:
    return StorageInputs(
        path=context.database,
        read_schema=lambda: _schema(context),
        find_damage=lambda: _query_catalogue(context, lambda catalogue: catalogue.find_damage()),
        find_known_term=lambda: _known_term(context),
        list_vector_keys=lambda: _stored(context),
        list_expected_keys=lambda: _query_catalogue(
            context, lambda catalogue: catalogue.list_committed_keys()
        ),
        list_deleted_keys=lambda: _query_catalogue(
            context, lambda catalogue: catalogue.list_deleted_keys()
        ),
    )


def _query_catalogue(context: AppContext, ask: "Callable[[Catalogue], T]") -> T:
    with context.open_reader() as reader:
        return ask(context.build_catalogue(reader))


def _schema(context: AppContext) -> SchemaVersions:
    from kebab.store.sqlite import connection

    try:
        with context.open_reader():
            found: int | None = connection.get_expected_schema_version()
    except NotIndexed as signal:
        found = signal.found
    return SchemaVersions(expected=connection.get_expected_schema_version(), found=found)


def _known_term(context: AppContext) -> KnownTerm | None:
    """Return a word of the first passage that has one, and whether the word index knows it."""
    from kebab.text.tokenizer import tokenize

    with context.open_reader() as reader:
        page = context.build_catalogue(reader).list_documents(Filters(), limit=1)
        detail = (
            context.build_catalogue(reader).load_document(page.documents[0].doc_id)
            if page.total
            else None
        )
        texts = [chunk.text for chunk in detail.chunks] if detail else []
        terms = [term for text in texts for term in tokenize(text)[:1]]
        if not terms:
            return None
        return KnownTerm(terms[0], found=reader.get_document_frequencies(terms[:1])[terms[0]] > 0)


def _stored(context: AppContext) -> Keys:
    version = context.stored_version()
    # What is derived of the table may outlive it, and would then speak well of it.
    return context.open_vector_table(version).list_keys(sure=True) if version else sort_keys(())


def _corpus(context: AppContext) -> DocumentInputs:
    return DocumentInputs(
        count_pending=lambda: _pending(context),
        sample_files=lambda limit: _query_catalogue(
            context, lambda catalogue: _files(catalogue, limit)
        ),
    )


def _pending(context: AppContext) -> int:
    with context.open_reader() as reader:
        return reader.count_pending()


def _files(catalogue: "Catalogue", limit: int) -> list[IndexedFile]:
    """Return documents spread over all of them."""
    found = catalogue.list_documents(Filters(), limit=-1).documents
    step = max(1, len(found) // limit)
    return [
        IndexedFile(Path(one.root, one.path), one.size, one.mtime_ns)
        for one in found[::step][:limit]
    ]


def _models(context: AppContext) -> ModelInputs:
    ollama = context.settings.models.llm.provider == "ollama"
    return ModelInputs(
        read_weights=lambda: _weights(context),
        measure_probe=lambda: _agreement(context),
        read_versions=lambda: _versions(context),
        check_server=lambda: check_server(context.settings),
        start_command="ollama serve" if ollama else "kebab ask --extractive",
    )


def _version(context: AppContext) -> str | None:
    """Return the embedding version in use, or the one that would be."""
    try:
        stored = context.stored_version()
    except (NotIndexed, StoreCorrupt):  # other checks tell of it
        stored = None
    return stored or next(
        (
            model.version
            for model in context.embedders.registry()
            if context.embedders.find_weights(model)
        ),
        None,
    )


def _weights(context: AppContext) -> Weights | None:
    from kebab.embed.model_directory import verify_files

    version = _version(context)
    if version is None:
        return None
    model = context.embedders.find(version)
    folder = context.embedders.find_weights(model)
    faults = tuple(verify_files(folder)) if folder else ()
    manifest = context.embedders.read_manifest(model)
    if folder and manifest is None and not faults:
        faults = ("the manifest cannot be read",)
    return Weights(
        model=model.key,
        folder=folder,
        precision=manifest.precision if manifest else None,
        texts_per_second=manifest.texts_per_second if manifest else {},
        faults=faults,
    )


def _agreement(context: AppContext) -> ProbeResult | None:
    from kebab.embed.registry import measure_probe

    version = _version(context)
    embedder = context.embedders.load_installed(version) if version else None
    if embedder is None:
        return None
    return ProbeResult(cosine=measure_probe(embedder), probe=embedder.profile.probe)


def _versions(context: AppContext) -> EmbeddingVersions:
    configured = context.settings.models.embedding.model
    return EmbeddingVersions(
        configured=None if configured == AUTO else context.embedders.find(configured).version,
        stored=context.stored_version(),
    )
