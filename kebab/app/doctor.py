"""Checks the health of a knowledge base: runs the checks of `kebab.doctor` over the adapters."""

import shutil
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import structs

from kebab.app.context import AppContext
from kebab.app.coverage import (
    compare_contents,
    find_indexing,
    measure_stored_coverage,
    suggests_ingest,
)
from kebab.app.library import list_lost_sources
from kebab.app.model_adapters import SERVERS, check_server, resolve_endpoint
from kebab.app.own_files import list_exposed, list_leftovers, list_remains, list_unusable
from kebab.config.settings import AUTO
from kebab.core.chunks import ProbePair
from kebab.core.documents import EMBEDDING_REASON
from kebab.core.ids import Keys, sort_keys
from kebab.doctor import checks
from kebab.embed import registry
from kebab.embed.registry import describe_better_model
from kebab.errors.catalog import ConfigInvalid, NotIndexed, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.text.normalize import escape_undecodable
from kebab.wire.coverage import Coverage, Indexing
from kebab.wire.health import Comparison, Doctor, DoctorRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.store.sqlite.catalogue import Catalogue

T = TypeVar("T")
_MAX_QUOTED = 3


def check_health(
    context: AppContext, request: DoctorRequest, report: "Callable[[Doctor], None]" = lambda _: None
) -> Doctor:
    """Run every check and return the results; `report` receives what `run_all` reports.

    With `files` it also receives how many files are compared.
    """
    try:
        _ = context.paths
    except Signal as signal:
        # Every other check needs the folders.
        folders = checks.Check("directories", partial(_explain, signal), "")
        return checks.run_all([_build_settings_check(context), folders], context.clock, report)
    indexing = find_indexing(context)
    measured = _Measured(context, report)
    planned = checks.build_checks(
        build_inputs(
            context,
            measured.measure,
            compare=measured.compare if request.files else None,
            deep=request.deep,
        )
    )
    if context.published:
        planned = [*map(_limit_published_check, planned)]
    health = checks.run_all(
        planned, context.clock, lambda part: report(_explain_checks(part, indexing))
    )
    return structs.replace(_explain_checks(health, indexing), coverage=measured.coverage)


_PENDING = "pending"
"""The check of passages without vectors; a running ingest computes them."""


def _explain_checks(report: Doctor, indexing: Indexing | None) -> Doctor:
    """Return the report; while an ingest runs, no note suggests to run one."""
    if indexing is None:
        return report
    checks = [
        structs.replace(check, fix=None)
        if check.status == "warn" and (check.name == _PENDING or suggests_ingest(check.fix))
        else check
        for check in report.checks
    ]
    return structs.replace(report, checks=checks, indexing=indexing)


class _Measured:
    """Measures what the index covers, and keeps it for the report."""

    def __init__(self, context: AppContext, report: "Callable[[Doctor], None]") -> None:
        self._context = context
        self._report = report
        self.coverage: Coverage | None = None

    def measure(self) -> Coverage | None:
        self.coverage = measure_stored_coverage(self._context, seconds=None)
        return self.coverage

    def compare(self) -> checks.Finding:
        """Compare the content of every file; what differs is no fault, as an ingest reads it."""
        with self._context.open_reader() as reader:
            self.coverage, found = compare_contents(self._context, reader, self._tell)
        kinds = {
            "changed": found.changed,
            "gone": found.gone,
            "unreadable": found.unreadable,
            "new": found.new,
        }
        differing = [
            f"{len(paths):,} {kind}: {_quote_first(paths)}"
            for kind, paths in kinds.items()
            if paths
        ]
        compared = checks.format_count(found.checked, "file")
        if differing:
            return checks.warn(f"{'; '.join(differing)}; {compared} compared", "kebab ingest")
        return checks.succeed(f"every file has the content that was indexed: {compared}")

    def _tell(self, done: int, total: int) -> None:
        if done * 100 // total > (done - 1) * 100 // total:  # a percent more
            comparing = Comparison(done=done, total=total)
            self._report(structs.replace(checks.build_report([]), comparing=comparing))


def _quote_first(paths: set[str]) -> str:
    first = sorted(paths)[:_MAX_QUOTED]
    return ", ".join(first) + (", …" if len(paths) > len(first) else "")


def _build_settings_check(context: AppContext) -> checks.Check:
    run = partial(checks.check_settings, partial(_read_settings, context))
    return checks.Check("configuration", run, "kebab init")


def _explain(signal: Signal) -> checks.Finding:
    """Return why the folder of the knowledge base cannot be used."""
    hint = signal.format_hint()
    fix = escape_undecodable(hint) if hint and hint != "kebab doctor" else None
    return checks.Finding("fail", escape_undecodable(signal.format_message()), fix)


def _limit_published_check(check: checks.Check) -> checks.Check:
    """Leave out what says something of files that never travelled."""
    if check.name in ("sources", "files"):
        return replace(check, run=partial(checks.skip, "only the publisher has the files"))
    return check


def build_inputs(
    context: AppContext,
    measure: "Callable[[], Coverage | None]" = lambda: None,
    *,
    compare: "Callable[[], checks.Finding] | None" = None,
    deep: bool = False,
) -> checks.DoctorInputs:
    """Return the inputs of the checks; `measure` returns what the index covers.

    `compare` compares the content of every file.
    """
    from kebab.store.sqlite.catalogue import Catalogue
    from kebab.store.sqlite.connection import get_expected_schema_version
    from kebab.store.sqlite.lock import read_holder_pid
    from kebab.store.sqlite.reviews import get_reviews_path
    from kebab.text.tokenizer import join_tokens

    paths, schema = context.paths, get_expected_schema_version()
    ollama = context.settings.models.llm.provider == "ollama"
    return checks.DoctorInputs(
        machine=checks.MachineInputs(
            read_settings=partial(_read_settings, context),
            folders={"data": paths.data, "models": paths.models, "state": paths.state},
            data=paths.data,
            log=paths.log,
            find_writer=lambda: read_holder_pid(paths.data),
            list_foreign=partial(list_unusable, context, foreign=True),
            list_denied=partial(list_unusable, context, foreign=False),
            list_exposed=partial(list_exposed, context),
            check_plugins=partial(_check_plugins, context),
        ),
        storage=checks.StorageInputs(
            path=context.database,
            schema=schema,
            find_schema=partial(_find_schema, context, schema),
            find_damage=partial(_query_catalogue, context, Catalogue.find_damage),
            deep=deep,
            find_word_fault=partial(
                _query_catalogue,
                context,
                lambda catalogue: catalogue.find_word_fault(join_tokens, deep=deep),
            ),
            list_remains=partial(list_remains, context),
            list_leftovers=partial(list_leftovers, context),
            list_vector_keys=partial(_list_vector_keys, context),
            list_expected_keys=partial(_query_catalogue, context, Catalogue.list_committed_keys),
            reviews=get_reviews_path(paths.data),
            read_reviews=partial(_read_reviews, context),
        ),
        documents=checks.DocumentInputs(
            count_pending=partial(_count_pending, context),
            has_model=partial(_has_model, context),
            measure_coverage=measure,
            list_lost_sources=partial(list_lost_sources, context),
            compare_contents=compare,
        ),
        models=checks.ModelInputs(
            read_weights=partial(_check_weights, context),
            measure_probe=partial(_measure_probe, context),
            read_versions=partial(_read_versions, context),
            check_server=lambda: check_server(context.settings),
            start_command=_find_start_command()
            if ollama
            else "export KEBAB_MODELS_LLM_ENDPOINT=URL",
        ),
    )


def _find_start_command() -> str:
    """Return what starts Ollama, or what does without it on a machine that does not have it."""
    if shutil.which("ollama"):
        return "ollama serve"
    return "export KEBAB_MODELS_LLM_PROVIDER=extractive"


def _read_settings(context: AppContext) -> checks.SettingsFile:
    report = context.report
    file = checks.SettingsFile(
        path=context.config_path,
        faults=report.faults if report else (),
        unknown_variables=report.unknown_variables if report else (),
    )
    try:
        resolve_endpoint(context.settings.models.llm, {})
    except ConfigInvalid as signal:
        return replace(file, warnings=(signal.format_message(),))
    return file


def _query_catalogue(context: AppContext, query: "Callable[[Catalogue], T]") -> T:
    with context.open_catalogue() as catalogue:
        return query(catalogue)


def _find_schema(context: AppContext, expected: int) -> int | None:
    try:
        with context.open_reader():
            return expected
    except NotIndexed as signal:
        return signal.found


def _list_vector_keys(context: AppContext) -> Keys:
    version = context.get_stored_version()
    return context.open_vector_table(version).list_keys(verify=True) if version else sort_keys(())


def _read_reviews(context: AppContext) -> checks.ReviewFile | None:
    """Return the file with the stored reviews; nothing is written, not even a migration."""
    from kebab.store.sqlite.reviews import SqliteReviewStore, get_reviews_path

    path = get_reviews_path(context.paths.data)
    if not path.exists():
        return None
    keep_days = context.settings.review.keep_days
    with SqliteReviewStore(context.paths.data, keep_days, read_only=True) as store:
        return checks.ReviewFile(path, path.stat().st_size, store.find_damage())


def _count_pending(context: AppContext) -> int:
    with context.open_reader() as reader:
        return reader.count_pending()


def find_version(context: AppContext) -> str | None:
    """Return the embedding version of the stored vectors, else of an installed model."""
    try:
        stored = context.get_stored_version()
    except (NotIndexed, StoreCorrupt):  # other checks report it
        stored = None
    if stored or context.embedders.server:
        return stored
    return next(
        (model.version for model in registry.MODELS if context.embedders.find_weights(model)),
        None,
    )


def _has_model(context: AppContext) -> bool:
    """Return whether an ingest can compute vectors now."""
    from kebab.embed.server_embedder import describe_fault

    version, embedders = find_version(context), context.embedders
    if embedders.server is not None:
        return describe_fault(embedders.server) is None
    model = embedders.find_version(version) if version else None
    return model is not None and bool(embedders.find_weights(model))


def _check_weights(context: AppContext) -> checks.Weights | None:
    from kebab.embed.install import verify_files
    from kebab.embed.server_embedder import describe_fault

    version, server = find_version(context), context.embedders.server
    if server is not None:
        fault = describe_fault(server)
        return checks.Weights(server.name, None, (fault,) if fault else (), server.url)
    model = context.embedders.find_version(version) if version else None
    if model is None:
        return None
    folder = context.embedders.find_weights(model)
    faults = tuple(verify_files(folder)) if folder else ()
    manifest = context.embedders.read_manifest(model)
    if folder and manifest is None and not faults:
        faults = ("the manifest cannot be read",)
    return checks.Weights(
        model=model.key,
        folder=folder,
        faults=faults,
    )


def _measure_probe(context: AppContext) -> tuple[float, ProbePair] | None:
    from kebab.embed.registry import measure_probe

    version = find_version(context)
    embedder = context.embedders.load_installed(version) if version else None
    if embedder is None:
        return None
    return measure_probe(embedder), embedder.profile.probe


def _find_configured_version(context: AppContext, stored: str | None) -> str | None:
    configured, server = context.settings.models.embedding.model, context.embedders.server
    if server is not None and stored is not None:
        model = server.find_version(stored)
        return model.version if model else f"{configured} of {server.url}"
    if stored is not None and stored.startswith(SERVERS):
        return configured
    return None if configured == AUTO else context.embedders.find_model(configured).version


def _read_versions(context: AppContext) -> checks.EmbeddingVersions:
    stored = context.get_stored_version()
    with context.open_catalogue() as catalogue:
        languages = catalogue.measure_languages()
    with context.open_reader() as reader:
        reason = reader.get_value(EMBEDDING_REASON)
    return checks.EmbeddingVersions(
        configured=_find_configured_version(context, stored),
        stored=stored,
        reason=reason,
        advice=describe_better_model(stored, languages) if stored is not None else None,
    )


def _check_plugins(context: AppContext) -> checks.Finding:
    """Check that every plugin can be used."""
    from kebab.parse.plugin import find_formats
    from kebab.plugins import GROUPS, inspect_plugins
    from kebab.review.rules.registry import RULES

    settings = context.settings.plugins
    own_rules = {rule.id for rule in RULES}
    faults, labels = list[str](), list[str]()
    for plugin, facts in inspect_plugins(settings, faults, *GROUPS):
        if own := own_rules.intersection(facts.names):
            faults.append(f"{plugin.label}: kebab itself has the rule {', '.join(own)}")
        else:
            labels.append(plugin.label)
    faults += find_formats(settings).faults
    if not faults:
        return checks.succeed(", ".join(labels) or ("none" if settings.enabled else "switched off"))
    return checks.warn("; ".join(dict.fromkeys(faults)), "export KEBAB_PLUGINS_ENABLED=false")
