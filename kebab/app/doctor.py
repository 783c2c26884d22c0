"""Checks the health of a knowledge base and repairs it: runs `kebab.doctor` over the adapters.

The files of the user are the truth. Words come again from the stored text, vectors from the
passages, and a damaged database from the files of its sources.
"""

import os
import shutil
from contextlib import suppress
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
from kebab.app.model_adapters import SERVERS, check_server
from kebab.app.own_files import list_index_entries, list_leftovers, list_remains
from kebab.config.settings import AUTO
from kebab.core.chunks import Keys, sort_keys
from kebab.core.documents import EMBEDDING_REASON, STDIN
from kebab.core.files import resolve_links
from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind
from kebab.doctor import checks
from kebab.doctor.checks import FIX, Check, Finding
from kebab.doctor.repairs import OPERATION, Remedy, Repairs, confirm_repairs
from kebab.embed.registry import MODELS, describe_better_model
from kebab.errors.catalog import ConfigInvalid, NotIndexed, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import escape_undecodable, translate_os_errors
from kebab.ingest.job import ProgressReporter, RunContext
from kebab.llm.endpoint import resolve_endpoint
from kebab.platform import delete_path, list_missing_features
from kebab.store.sqlite import copies
from kebab.store.sqlite.writer import ListedSource, load_sources, write_sources
from kebab.wire.coverage import Coverage, Indexing
from kebab.wire.health import Doctor, DoctorRequest, MovedDatabase, RepairReport, RepairRequest
from kebab.wire.ingest import IngestRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.store.sqlite.catalogue import Catalogue


T = TypeVar("T")


def check_health(context: AppContext, request: DoctorRequest, *, deep: bool = False) -> Doctor:
    """Run every check and return the results.

    If it is `deep`, words of every passage are looked up in the full-text index, else of a sample.
    """
    checkup = Checkup(context, files=request.files, deep=deep)
    try:
        _ = context.paths
    except Signal as signal:
        # Every other check needs the folders.
        hint = signal.format_hint()
        fix = escape_undecodable(hint) if hint and hint != "kebab doctor" else None
        why = Finding("fail", escape_undecodable(signal.format_message()), fix)
        planned = [checkup.check_settings(), Check("directories", lambda: why, "")]
        return checks.run_all(planned, context.clock)
    indexing = find_indexing(context)
    health = _explain_checks(checks.run_all(checkup.list_checks(), context.clock), indexing)
    return structs.replace(health, coverage=checkup.coverage)


_PENDING = "pending"
"""The check of passages without vectors; a running ingest computes them."""


def _explain_checks(report: Doctor, indexing: Indexing | None) -> Doctor:
    """Return the report; while an ingest runs, no note suggests to run one."""
    if indexing is None:
        return report
    found = [
        structs.replace(check, fix=None)
        if check.status == "warn" and (check.name == _PENDING or suggests_ingest(check.fix))
        else check
        for check in report.checks
    ]
    return structs.replace(report, checks=found, indexing=indexing)


class Checkup:
    """The checks of one knowledge base; each looks at the adapters when it runs.

    `coverage` is what the check of files has measured. With `files` it compares the content of
    every file.
    """

    def __init__(self, context: AppContext, *, files: bool = False, deep: bool = False) -> None:
        self._context = context
        self._compares = files
        self._deep = deep
        self.coverage: Coverage | None = None

    def check_settings(self) -> Check:
        """Return the check of the settings."""
        return Check("configuration", self._check_settings, "kebab init")

    def list_checks(self) -> list[Check]:
        """Return every check in order."""
        context, paths = self._context, self._context.paths
        readable, intact, installed = ("database",), ("database", "integrity"), ("embedding_files",)
        init, ingest, pull = "kebab init", "kebab ingest", "kebab model pull"
        folders = {"data": paths.data, "models": paths.models, "state": paths.state}
        find_damage = partial(self._query, lambda catalogue: catalogue.find_damage())
        off = f"off on this system: {', '.join(list_missing_features())}"
        system = [Check("system", partial(checks.succeed, off), init)] * bool(
            list_missing_features()
        )
        return [
            self.check_settings(),
            Check("directories", partial(checks.check_folders, folders), init),
            Check("permissions", self._check_permissions, init, ("directories",)),
            Check("disk", partial(checks.check_disk_space, paths.data), "df -h"),
            *system,
            Check("writer_lock", self._check_writer, init),
            Check("log", partial(checks.check_log, paths.log), init),
            Check("plugins", partial(_check_plugins, context), init),
            Check("database", self._check_database, FIX),
            Check("integrity", lambda: checks.check_integrity(find_damage()), FIX, readable),
            Check("full_text", self._check_full_text, FIX, intact),
            Check("vectors", self._check_vectors, FIX, intact),
            Check("leftovers", lambda: checks.check_leftovers(list_leftovers(context)), FIX),
            Check("reviews", self._check_reviews, FIX),
            Check(_PENDING, self._check_pending, ingest, intact),
            Check("sources", self._check_sources, "kebab source list", intact),
            Check("files", self._check_files, ingest, intact),
            Check("embedding_version", self._check_version, "kebab model use auto", intact),
            Check("embedding_files", self._check_weights, pull),
            Check("embedding_probe", self._check_probe, pull, installed),
            Check("language_model", self._check_language_model, self._find_start_command()),
        ]

    def _query(self, query: "Callable[[Catalogue], T]") -> T:
        with self._context.open_catalogue() as catalogue:
            return query(catalogue)

    def _check_settings(self) -> Finding:
        context, warning = self._context, None
        try:
            resolve_endpoint(context.settings.models.llm, {})
        except ConfigInvalid as signal:
            warning = signal.format_message()
        return checks.check_settings(context.config_path, context.report, warning)

    def _check_permissions(self) -> Finding:
        context = self._context
        data, entries = context.paths.data, [*list_index_entries(context)]
        denied = checks.list_denied(entries, writes=not context.read_only)
        foreign = [path for path in denied if path.stat().st_uid != os.geteuid()]
        return checks.check_permissions(data, foreign, denied, checks.list_exposed(data, entries))

    def _check_writer(self) -> Finding:
        from kebab.store.sqlite.lock import read_writer

        writer = read_writer(self._context.paths.data)
        return checks.succeed(
            f"a process is writing: pid {writer.pid}" if writer else "no process is writing"
        )

    def _check_database(self) -> Finding:
        from kebab.store.sqlite.connection import get_expected_schema_version

        context, expected = self._context, get_expected_schema_version()
        found: int | None = expected
        try:
            context.open_reader().close()
        except NotIndexed as signal:
            found = signal.found
        return checks.check_database(context.database, found, expected, list_remains(context))

    def _check_full_text(self) -> Finding:
        from kebab.text.tokenizer import join_tokens

        deep = self._deep
        fault = self._query(lambda catalogue: catalogue.find_word_fault(join_tokens, deep=deep))
        return checks.check_full_text(fault, deep=deep)

    def _check_vectors(self) -> Finding:
        def list_stored() -> Keys:
            version = self._context.get_stored_version()
            if not version:
                return sort_keys(())
            return self._context.open_vector_table(version).list_keys(verify=True)

        committed = partial(self._query, lambda catalogue: catalogue.list_committed_keys())
        return checks.check_vectors(committed, list_stored)

    def _check_reviews(self) -> Finding:
        """Check the stored reviews; nothing is written, not even a migration."""
        from kebab.store.sqlite.reviews import SqliteReviewStore, get_reviews_path

        data, faults = self._context.paths.data, None
        if get_reviews_path(data).exists():
            keep_days = self._context.settings.review.keep_days
            with SqliteReviewStore(data, keep_days, read_only=True) as store:
                faults = store.find_damage()
        return checks.check_reviews(get_reviews_path(data), faults)

    def _check_pending(self) -> Finding:
        with self._context.open_reader() as reader:
            return checks.check_pending(reader.count_pending(), self._has_model)

    def _has_model(self) -> bool:
        """Return whether an ingest can compute vectors now."""
        from kebab.embed.server_embedder import describe_fault

        version, embedders = find_version(self._context), self._context.embedders
        if embedders.server is not None:
            return describe_fault(embedders.server) is None
        model = embedders.find_version(version) if version else None
        return model is not None and bool(embedders.find_weights(model))

    def _check_sources(self) -> Finding:
        if self._context.published:
            return _UNKNOWN_FILES
        return checks.check_sources(list_lost_sources(self._context))

    def _check_files(self) -> Finding:
        context = self._context
        if context.published:
            return _UNKNOWN_FILES
        if not self._compares:
            self.coverage = measure_stored_coverage(context, seconds=None)
            return checks.check_files(self.coverage, list_lost_sources(context))
        with context.open_reader() as reader:
            self.coverage, found = compare_contents(context, reader)
        differing = {
            "changed": found.changed,
            "gone": found.gone,
            "unreadable": found.unreadable,
            "new": found.new,
        }
        files = checks.check_files(self.coverage, list_lost_sources(context))
        if files.status == "ok" or any(differing.values()):
            return checks.check_contents(found.checked, differing)
        return files

    def _check_version(self) -> Finding:
        stored = self._context.get_stored_version()
        languages = self._query(lambda catalogue: catalogue.measure_languages())
        with self._context.open_reader() as reader:
            reason = reader.get_value(EMBEDDING_REASON)
        embedders = self._context.embedders
        name, server = self._context.settings.models.embedding.model, embedders.server
        configured: str | None = None
        if server is not None and stored is not None:
            model = server.find_version(stored)
            configured = model.version if model else f"{name} of {server.url}"
        elif stored is not None and stored.startswith(SERVERS):
            configured = name
        elif name != AUTO:
            configured = embedders.find_model(name).version
        return checks.check_embedding_version(
            configured,
            stored,
            reason,
            describe_better_model(stored, languages) if stored is not None else None,
        )

    def _check_weights(self) -> Finding:
        from kebab.embed.registry import verify_files
        from kebab.embed.server_embedder import describe_fault

        version, embedders = find_version(self._context), self._context.embedders
        if (server := embedders.server) is not None:
            place, start = f"{server.name} at {server.url}", self._find_start_command()
            return checks.check_embedding_server(place, describe_fault(server), start)
        model = embedders.find_version(version) if version else None
        if model is None:
            return checks.check_embedding_files(None, None, ())
        folder = embedders.find_weights(model)
        faults = list(verify_files(folder)) if folder else []
        if folder and not faults and embedders.read_manifest(model) is None:
            faults = ["the manifest cannot be read"]
        return checks.check_embedding_files(model.key, folder, faults)

    def _check_probe(self) -> Finding:
        from kebab.embed.registry import measure_probe

        version = find_version(self._context)
        embedder = self._context.embedders.load_installed(version) if version else None
        if embedder is None:
            return checks.check_embedding_probe(None)
        return checks.check_embedding_probe((measure_probe(embedder), embedder.profile.probe))

    def _check_language_model(self) -> Finding:
        return checks.check_language_model(
            partial(check_server, self._context.settings), self._find_start_command()
        )

    def _find_start_command(self) -> str:
        """Return what starts Ollama, or what does without it on a machine that lacks it."""
        if self._context.settings.models.llm.provider != "ollama":
            return "export KEBAB_MODELS_LLM_ENDPOINT=URL"
        if shutil.which("ollama"):
            return "ollama serve"
        return "export KEBAB_MODELS_LLM_PROVIDER=extractive"


_UNKNOWN_FILES = checks.skip("only the publisher has the files")


def find_version(context: AppContext) -> str | None:
    """Return the embedding version of the stored vectors, else of an installed model."""
    try:
        stored = context.get_stored_version()
    except (NotIndexed, StoreCorrupt):  # other checks report it
        stored = None
    if stored or context.embedders.server:
        return stored
    return next(
        (model.version for model in MODELS if context.embedders.find_weights(model)),
        None,
    )


def _check_plugins(context: AppContext) -> Finding:
    """Check that every plugin can be used."""
    from kebab.parse.isolation import find_formats
    from kebab.plugins import inspect_plugins

    settings = context.settings.plugins
    faults = list[str]()
    labels = [plugin.label for plugin, _ in inspect_plugins(settings, faults)]
    faults += find_formats(settings).faults
    if not faults:
        return checks.succeed(", ".join(labels) or ("none" if settings.enabled else "switched off"))
    return checks.warn("; ".join(dict.fromkeys(faults)), "export KEBAB_PLUGINS_ENABLED=false")


def repair(
    context: AppContext, request: RepairRequest, report: ProgressCallback, cancel: Cancel
) -> RepairReport:
    """Repair what the checks find; a dry run only says what would be done.

    Raises:
        ReadOnly: Writing is switched off.
        Locked: Another process is writing.
    """
    library = DamagedLibrary(context, request, report, cancel)
    repairs = library.build_repairs()
    if request.dry_run:
        done = [repairs.plan(fault) for fault in repairs.find_faults()]
    else:
        context.refuse_when_read_only(OPERATION)
        with context.acquire_writer_lock():
            pass  # refuse at once when another process writes
        done = repairs.run(cancel, library.tell)
    library.tell("checking")
    context.close()  # the files that are open may have been replaced
    health = check_health(context, DoctorRequest(), deep=True)
    library.end()
    return RepairReport(
        ok=health.ok,
        dry_run=request.dry_run,
        cancelled=cancel.requested,
        repairs=confirm_repairs(done, health),
        moved=library.moved,
        health=health,
    )


class DamagedLibrary:
    """The remedies of one call over the adapters."""

    def __init__(
        self, context: AppContext, request: RepairRequest, report: ProgressCallback, cancel: Cancel
    ) -> None:
        self._context = context
        self._request = request
        self._report = report
        self._progress = ProgressReporter(report, context.clock)
        self._cancel = cancel
        self.moved: list[MovedDatabase] = []
        """The databases that were moved aside."""

    def build_repairs(self) -> Repairs:
        """Return the remedies by the checks that find their faults."""
        remedies = {
            "database": Remedy(
                "move the database aside, and read its sources again",
                self._rebuild,
                reads_sources=True,
            ),
            "integrity": Remedy(
                "write the words again if only their index is damaged, else move the database aside"
                " and read its sources again",
                self._mend,
                reads_sources=True,
            ),
            "full_text": Remedy("write all words again from the stored text", self._write_words),
            "vectors": Remedy(
                "compute the missing vectors again if the embedding model is installed",
                self._compute_vectors,
            ),
            "leftovers": Remedy("delete them", self._delete_leftovers),
            "reviews": Remedy("move the stored reviews aside", self._move_reviews),
        }

        def list_checks() -> list[Check]:
            self._context.close()
            return Checkup(self._context, deep=True).list_checks()

        def knows_sources() -> bool:
            return bool(self._request.sources or self._list_sources())

        return Repairs(remedies, list_checks, knows_sources, self._context.clock)

    def tell(self, message: str) -> None:
        """Report what is done now."""
        self._progress.send(ProgressKind.HEARTBEAT, phase="repair", message=message)

    def end(self) -> None:
        """Report the end of the work."""
        cancelled = self._cancel.requested
        self._progress.send(ProgressKind.ABORTED if cancelled else ProgressKind.COMPLETED)

    def _pass_on(self, event: Progress) -> None:
        """Report an event of an ingest, but for its end, which is not that of this call."""
        if event.kind not in (ProgressKind.COMPLETED, ProgressKind.ABORTED):
            self._report(event)

    def _list_sources(self) -> list[ListedSource]:
        """Return the sources of the file beside the database."""
        context = self._context
        listed = load_sources(context.paths.data)
        texts = context.paths.stdin_dir
        if listed and texts.is_dir() and all(one.kind != "stdin" for one in listed):
            root = resolve_links(str(texts))
            listed.append(ListedSource(name=STDIN, root=root, kind="stdin", files=[], exempt=[]))
        return listed

    def _mend(self) -> None:
        """Write the words again when only their index is damaged, else read all sources again."""
        with suppress(StoreCorrupt), self._context.open_catalogue() as catalogue:
            if all("fts5" in fault.lower() for fault in catalogue.find_damage()):
                self._write_words()
                return
        self._rebuild()

    def _rebuild(self) -> None:
        context, named = self._context, [*map(resolve_links, self._request.sources)]
        with context.acquire_writer_lock():
            listed = self._list_sources()
            write_sources(context.paths.data, listed)
            if context.database.exists():
                contents = copies.find_contents(context.database)
                target = copies.move_aside(context.database, context.clock.now())
                documents, sessions = (
                    contents and contents.documents,
                    contents and contents.sessions,
                )
                moved = MovedDatabase(path=str(target), documents=documents, sessions=sessions)
                self.moved.append(moved)
        context.close()
        from kebab.app.ingest import ingest

        self.tell("reading files")
        if listed:
            ingest(context, IngestRequest(), self._pass_on, self._cancel)
        if named:
            ingest(context, IngestRequest(paths=named), self._pass_on, self._cancel)

    def _write_words(self) -> None:
        with self._context.open_writer(OPERATION) as library:
            library.rebuild_words()

    def _compute_vectors(self) -> None:
        from kebab.ingest.vectors import VectorSync

        context = self._context
        with context.open_writer(OPERATION) as library:
            run = RunContext(self._pass_on, context.clock, self._cancel)
            sync = VectorSync(library, context.open_vector_table, run)
            sync.reconcile(verify=True)
            if sync.version:
                sync.update(context.embedders.load_installed(sync.version))

    def _delete_leftovers(self) -> None:
        with self._context.acquire_writer_lock():
            for path in list_leftovers(self._context):
                with translate_os_errors(path, "write"):
                    delete_path(path)

    def _move_reviews(self) -> None:
        from kebab.store.sqlite.reviews import get_reviews_path

        context = self._context
        with context.acquire_writer_lock():
            target = copies.move_aside(get_reviews_path(context.paths.data), context.clock.now())
        self.moved.append(MovedDatabase(path=str(target)))
