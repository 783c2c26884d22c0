"""Repairs what the checks of `doctor` find: runs `doctor --fix` over the stores.

The files of the user are the truth. Words come again from the stored text, vectors from the
passages, and a damaged database from the files of its sources. A repair belongs to a check: it runs
when the finding names this command, and has succeeded when the check finds nothing any more.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from msgspec import structs

from kebab.app.context import AppContext
from kebab.app.doctor import Checkup, check_health
from kebab.app.ingest import ingest
from kebab.app.own_files import list_leftovers
from kebab.core.documents import STDIN
from kebab.core.durable import delete_path
from kebab.core.files import resolve_links
from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind
from kebab.doctor.checks import FIX, run_all
from kebab.errors.catalog import Locked, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import translate_os_errors
from kebab.ingest.job import ProgressReporter
from kebab.store.sqlite import copies
from kebab.store.sqlite.writer import ListedSource, load_sources, write_sources
from kebab.wire.health import (
    DoctorCheck,
    DoctorRequest,
    MovedDatabase,
    Repair,
    RepairReport,
    RepairRequest,
)
from kebab.wire.ingest import IngestRequest

_OPERATION = "doctor --fix"
_NO_SOURCES = "nothing tells any more which folders the index was made of"


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
        repairs = [work.plan(fault) for fault in work.find_faults()]
    else:
        context.refuse_when_read_only(_OPERATION)
        with context.acquire_writer_lock():
            pass  # refuse at once when another process writes
        repairs = work.run()
    work.tell("checking")
    context.close()  # the files that are open may have been replaced
    health = check_health(context, DoctorRequest(), deep=True)
    work.end()
    return RepairReport(
        ok=health.ok,
        dry_run=request.dry_run,
        cancelled=cancel.requested,
        repairs=[_confirm(one, health.checks) for one in repairs],
        moved=work.moved,
        health=health,
    )


def _confirm(done: Repair, checks: list[DoctorCheck]) -> Repair:
    """Return a repair that failed after all when its check still finds the fault."""
    found = next((one for one in checks if one.name == done.check and one.fix == FIX), None)
    if done.outcome != "repaired" or found is None:
        return done
    reason = f"the check still finds: {found.summary}"
    return structs.replace(done, outcome="failed", reason=reason)


class _Remedy(NamedTuple):
    """What a repair does, in words and as a function."""

    action: str
    apply: Callable[[], None]


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
        self.moved: list[MovedDatabase] = []
        """The databases that were moved aside."""
        rebuild = _Remedy("move the database aside, and read its sources again", self._rebuild)
        self._remedies: Mapping[str, _Remedy] = {
            "database": rebuild,
            "integrity": _Remedy(
                "write the words again if only their index is damaged, else move the database aside"
                " and read its sources again",
                self._mend,
            ),
            "full_text": _Remedy("write all words again from the stored text", self._write_words),
            "vectors": _Remedy(
                "compute the missing vectors again if the embedding model is installed",
                self._compute_vectors,
            ),
            "leftovers": _Remedy("delete them", self._delete_leftovers),
            "reviews": _Remedy("move the stored reviews aside", self._move_reviews),
        }

    def tell(self, message: str) -> None:
        self._progress.send(ProgressKind.HEARTBEAT, phase="repair", message=message)

    def end(self) -> None:
        cancelled = self._cancel.requested
        self._progress.send(ProgressKind.ABORTED if cancelled else ProgressKind.COMPLETED)

    def _pass_on(self, event: Progress) -> None:
        """Report an event of an ingest, but for its end, which is not that of this call."""
        if event.kind not in (ProgressKind.COMPLETED, ProgressKind.ABORTED):
            self._report(event)

    def find_faults(self) -> list[DoctorCheck]:
        """Return the findings that have a repair."""
        self._context.close()
        checks = Checkup(self._context, deep=True).list_checks()
        health = run_all([one for one in checks if one.name in self._remedies], self._context.clock)
        return [one for one in health.checks if one.fix == FIX]

    def plan(self, fault: DoctorCheck) -> Repair:
        """Return what would be done about a fault."""
        planned = Repair(
            check=fault.name,
            summary=fault.summary,
            action=self._remedies[fault.name].action,
            outcome="planned",
        )
        if fault.name in ("database", "integrity") and not (
            self._request.sources or self._list_sources()
        ):
            hint = f"kebab {_OPERATION} --source FOLDER"
            return structs.replace(planned, outcome="refused", reason=_NO_SOURCES, hint=hint)
        return planned

    def run(self) -> list[Repair]:
        """Repair one fault after another, as each may remove or uncover others.

        Raises:
            Locked: Another process is writing.
        """
        done: dict[str, Repair] = {}
        while fault := next((one for one in self.find_faults() if one.name not in done), None):
            planned = self.plan(fault)
            if planned.outcome == "planned" and not self._cancel.requested:
                self.tell(f"repairing: {fault.name.replace('_', ' ')}")
                planned = self._apply(planned)
            done[fault.name] = planned
        return list(done.values())

    def _apply(self, planned: Repair) -> Repair:
        try:
            self._remedies[planned.check].apply()
        except Locked:
            raise
        except Signal as signal:
            return structs.replace(
                planned,
                outcome="failed",
                reason=signal.format_message(),
                hint=signal.format_hint(),
            )
        return structs.replace(planned, outcome="repaired")

    def _list_sources(self) -> list[ListedSource]:
        """Return the sources of the file beside the database, else those that it still names."""
        context = self._context
        listed = load_sources(context.paths.data) or copies.find_sources(context.database)
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
        self.tell("reading files")
        if listed:
            ingest(context, IngestRequest(), self._pass_on, self._cancel)
        if named:
            ingest(context, IngestRequest(paths=named), self._pass_on, self._cancel)

    def _write_words(self) -> None:
        with self._context.open_writer(_OPERATION) as library:
            library.rebuild_words()

    def _compute_vectors(self) -> None:
        from kebab.ingest.job import RunContext
        from kebab.ingest.vectors import VectorSync

        context = self._context
        with context.open_writer(_OPERATION) as library:
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
