"""Repairs a knowledge base: connects the table of repairs in `kebab.doctor` to the stores.

The order is that of dependence: the permissions of the files, the database, the vectors of its
passages. Each repair takes the writer lock for its work.
"""

import errno
import shlex
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.doctor import build_inputs, check_health, find_version
from kebab.app.ingest import ingest
from kebab.app.own_files import (
    COPIES,
    get_vectors_folder,
    list_index_files,
    list_leftovers,
    list_own_files,
    measure_size,
)
from kebab.core.documents import STDIN, VECTORS_DIRTY, Source, VectorRow
from kebab.core.durable import delete_path
from kebab.core.files import resolve_links
from kebab.core.ids import Key
from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind
from kebab.doctor.checks import REWRITE, Check, build_checks, run_check
from kebab.doctor.repairs import Plan, Remedy, plan_repairs, run_repairs
from kebab.errors.catalog import NotIndexed, StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.ingest.job import ProgressReporter
from kebab.wire.health import DoctorRequest
from kebab.wire.ingest import IngestRequest
from kebab.wire.repair import LostText, RepairCopy, RepairReport, RepairRequest

if TYPE_CHECKING:
    from kebab.store.lance.exact_index import ExactIndex
    from kebab.store.lance.vectors import LanceVectors
    from kebab.store.sqlite.salvage import RowRepairs
    from kebab.store.sqlite.writer import SqliteWriter

_OPERATION = "doctor --fix"
_SPARE_SPACE = 1.1
"""The draft of the database needs as much space as its copy, and a little more."""
_MIB = 1 << 20
_ROWS_AT_ONCE = 4096


def repair(
    context: AppContext, request: RepairRequest, report: ProgressCallback, cancel: Cancel
) -> RepairReport:
    """Repair what the checks find; a dry run only says what would be done.

    Raises:
        ReadOnly: Writing is switched off.
        Locked: Another process is writing.
    """
    work = _Work(context, request, report, cancel)
    if request.dry_run:
        repairs, copy = plan_repairs(work.build_remedies()), None
    else:
        context.refuse_when_read_only(_OPERATION)
        with context.acquire_writer_lock():
            pass  # refuse at once when another process writes
        repairs, copy = run_repairs(work.build_remedies(), work.make_copy, work.tell, cancel)
    work.tell("checking")
    context.close()  # the files that are open may have been replaced
    health = check_health(context, DoctorRequest(deep=True))
    work.end()
    rows = work.rows
    return RepairReport(
        ok=health.ok,
        dry_run=request.dry_run,
        cancelled=cancel.requested,
        repairs=repairs,
        copy=copy,
        read_again=len(rows.again) if rows else 0,
        lost=[LostText(doc_path=path, passages=left) for path, left in rows.partial]
        if rows
        else [],
        unplaced=rows.unplaced if rows else 0,
        health=health,
    )


class _Work:
    """The repairs of one call over the adapters."""

    def __init__(
        self, context: AppContext, request: RepairRequest, report: ProgressCallback, cancel: Cancel
    ) -> None:
        self._context = context
        self._request = request
        self._report = report
        self._progress = ProgressReporter(report, context.clock)
        self._cancel = cancel
        self.rows: RowRepairs | None = None
        """What happened to the rows of the database, or would happen."""

    def tell(self, message: str) -> None:
        self._progress.send(ProgressKind.HEARTBEAT, phase="repair", message=message)

    def end(self) -> None:
        cancelled = self._cancel.requested
        self._progress.send(ProgressKind.ABORTED if cancelled else ProgressKind.COMPLETED)

    def _pass_on(self, event: Progress) -> None:
        """Report an event of an ingest, but for its end, which is not that of this call."""
        if event.kind not in (ProgressKind.COMPLETED, ProgressKind.ABORTED):
            self._report(event)

    @cached_property
    def _checks(self) -> Mapping[str, Check]:
        return {check.name: check for check in build_checks(build_inputs(self._context, deep=True))}

    def build_remedies(self) -> list[Remedy]:
        """Return the table of repairs in their order."""
        checks, faults = self._checks, ("fail",)
        database = [checks[name] for name in _DATABASE_CHECKS]
        return [
            Remedy(
                kind="permissions",
                checks=[checks["permissions"]],
                plan=self._plan_permissions,
                apply=lambda: None,
            ),
            Remedy(
                kind="database",
                checks=[*database, checks["sources"]],
                plan=self._plan_database,
                apply=self._repair_database,
                statuses=faults,
            ),
            Remedy(
                kind="reviews",
                checks=[checks["reviews"]],
                plan=self._plan_reviews,
                apply=self._repair_reviews,
                statuses=faults,
            ),
            Remedy(
                kind="embedding_files",
                checks=[checks["embedding_files"]],
                plan=lambda: Plan(
                    action="download the files of the embedding model again, and check their hashes"
                ),
                apply=self._repair_embedding_files,
                needs=database,
                statuses=("fail", "warn") if self._has_model_folder() else faults,
            ),
            Remedy(
                kind="vectors",
                checks=[checks["vectors"]],
                plan=self._plan_vectors,
                apply=self._repair_vectors,
                needs=database,
            ),
            Remedy(
                kind="leftovers",
                checks=[checks["leftovers"]],
                plan=self._plan_leftovers,
                apply=self._delete_leftovers,
                needs=database,
            ),
        ]

    def make_copy(self) -> RepairCopy:
        """Copy the index, complete or not at all."""
        context = self._context
        data = context.paths.data
        own = [path for path in list_own_files(context)[:-1] if path.exists()]
        size = sum(map(measure_size, own))
        target = data / COPIES / time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(context.clock.now()))
        while target.exists():
            target = target.with_name(f"{target.name}-")
        draft = target.with_name(f".{target.name}")
        with context.acquire_writer_lock(), translate_os_errors(target, "create"):
            needed, free = round(size * _SPARE_SPACE) * 2, shutil.disk_usage(data).free
            if needed > free:
                cause = (
                    f"a copy and the repair need {needed / _MIB:,.1f} MiB,"
                    f" and {free / _MIB:,.1f} MiB are free"
                )
                raise OSError(errno.ENOSPC, cause)
            draft.mkdir(mode=0o700, parents=True)
            for path in own:
                copy = shutil.copytree if path.is_dir() else shutil.copy2
                copy(path, draft / path.name)
            draft.rename(target)
        back = f"cd {shlex.quote(str(data))} && cp -a {COPIES}/{target.name}/. ."
        return RepairCopy(path=str(target), bytes=size, hint=f"kebab reset --yes && {back}")

    def _plan_permissions(self) -> Plan:
        return Plan(
            action="nothing: only you can decide who may use these files",
            reason="kebab does not change the permissions of files",
            hint=run_check(self._checks["permissions"]).fix,
        )

    def _plan_database(self) -> Plan:
        database = self._context.database
        if self.rows is None:
            # What is lost is known only when everything was read.
            with TemporaryDirectory(prefix="kebab-") as folder:
                self.rows = self._rebuild(Path(folder) / database.name, keep=False)
        rows = self.rows
        if rows.rescan and not (self._request.sources or rows.sources):
            return Plan(
                action="nothing",
                reason="the index does not tell any more which folders it was made of",
                hint="kebab doctor --fix --source FOLDER",
            )
        reading = "files of damaged documents" if not rows.rescan else "every source"
        return Plan(
            action="rebuild the database from every row that can be read,"
            f" and its word index from the passages; then read again: {reading}",
            drops=True,
            bytes=sum(measure_size(path) for path in list_index_files(self._context)),
        )

    def _rebuild(self, draft: Path, *, keep: bool) -> "RowRepairs":
        from kebab.store.sqlite.salvage import rebuild_database
        from kebab.text.tokenizer import join_tokens

        paths = self._context.paths
        named = [resolve_links(path) for path in self._request.sources]
        sources = [Source(name=path, root=path, kind="folder") for path in named]
        sources.append(Source(name=STDIN, root=str(paths.stdin_dir), kind="stdin"))
        return rebuild_database(self._context.database, draft, join_tokens, sources, keep=keep)

    def _repair_database(self) -> None:
        from kebab.store.sqlite.salvage import DRAFT_SUFFIX

        context = self._context
        if run_check(self._checks["database"]).fix == REWRITE:
            with suppress(StoreCorrupt, NotIndexed), context.open_writer(_OPERATION):
                pass  # an older schema needs only its migrations
            if all(run_check(self._checks[name]).status == "ok" for name in _DATABASE_CHECKS):
                self.rows = None
                return
        database = context.database
        with context.acquire_writer_lock():
            self.rows = self._rebuild(
                database.with_name(f"{database.name}{DRAFT_SUFFIX}"), keep=True
            )
        context.close()
        if run_check(self._checks["vectors"]).status != "ok":
            self._repair_vectors(embeds=False)  # an ingest would compute all of them again
        if self.rows.rescan:
            self._ingest(self._request.sources)
        if self.rows.again:
            self._ingest(self.rows.again)

    def _ingest(self, paths: list[str]) -> None:
        self.tell("reading files")
        ingest(self._context, IngestRequest(paths=paths), self._pass_on, self._cancel)

    def _plan_reviews(self) -> Plan:
        path = self._get_reviews_path()
        return Plan(
            action="rebuild the database of the reviews from every row that can be read",
            drops=True,
            bytes=measure_size(path),
        )

    def _get_reviews_path(self) -> Path:
        from kebab.store.sqlite.reviews import get_reviews_path

        return get_reviews_path(self._context.paths.data)

    def _repair_reviews(self) -> None:
        from kebab.store.sqlite.salvage import DRAFT_SUFFIX, rebuild_reviews

        path = self._get_reviews_path()
        with self._context.acquire_writer_lock():
            rebuild_reviews(path, path.with_name(f"{path.name}{DRAFT_SUFFIX}"))

    def _repair_embedding_files(self) -> None:
        version = find_version(self._context)
        if version is not None:
            embedders = self._context.embedders
            embedders.download(embedders.find_model(version), self._pass_on, self._cancel)

    def _has_model_folder(self) -> bool:
        """Return whether something is where the files of the model should be."""
        version = find_version(self._context)
        return version is not None and (self._context.paths.models / version).exists()

    def _plan_vectors(self) -> Plan:
        return Plan(
            action="delete the vectors that belong to no passage, take the missing ones from the"
            " files of the table, and compute the others again if the embedding model is installed",
            drops=True,
            bytes=measure_size(get_vectors_folder(self._context)),
        )

    def _repair_vectors(self, *, embeds: bool = True) -> None:
        from kebab.ingest.job import RunContext
        from kebab.ingest.vectors import VectorSync, reconcile

        context = self._context
        with context.open_writer(_OPERATION) as library:
            version = context.get_stored_version()
            if version is None:
                return
            vectors = context.open_vector_table(version)
            with translate_os_errors(folder := get_vectors_folder(context), "write"):
                if folder.is_file():
                    folder.unlink()
            copies, damaged = vectors.load_copies(), set[Key]()
            try:
                damaged = vectors.find_damaged_keys()
                reconcile(library, vectors, version, verify=True)
            except StoreCorrupt:
                vectors.clear()
                reconcile(library, vectors, version)
            if copies is not None:
                _restore_vectors(library, vectors, version, copies, damaged)
            # The state of the files is stored at the end of an update.
            library.set_value(VECTORS_DIRTY, "1")
            run = RunContext(self._pass_on, context.clock, self._cancel)
            sync = VectorSync(library, context.open_vector_table, run)
            if embeds:
                sync.update(context.embedders.load_installed(version))

    def _plan_leftovers(self) -> Plan:
        found = list_leftovers(self._context)
        size = sum(map(measure_size, found))
        return Plan(action=f"delete them, {size:,} bytes", drops=True, bytes=size)

    def _delete_leftovers(self) -> None:
        with self._context.acquire_writer_lock():
            for path in list_leftovers(self._context):
                with translate_os_errors(path, "write"):
                    delete_path(path)


_DATABASE_CHECKS = ("database", "integrity", "full_text")


def _restore_vectors(
    library: "SqliteWriter",
    vectors: "LanceVectors",
    version: str,
    copies: "ExactIndex",
    damaged: "set[Key]",
) -> None:
    """Store the intact vectors of a damaged table for chunks whose row is lost."""
    committed, last = set(library.list_committed_keys()), Key(0)
    while chunks := library.list_chunks(last, _ROWS_AT_ONCE):
        last = chunks[-1].key
        lacking = {one.key: one for one in chunks if one.key not in committed}
        found = copies.get([key for key in lacking if key not in damaged])
        rows = [
            VectorRow(key, lacking[key].chunk_id, lacking[key].doc_id, vector)
            for key, vector in found.items()
        ]
        if rows:
            vectors.append(rows)
            library.mark_vectors([row.key for row in rows], "committed", version)
