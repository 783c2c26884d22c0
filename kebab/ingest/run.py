"""Runs an ingest of files, or of a text without a file: scan, plan, store, remove, embed, report.

A text without a file of its own is stored as a Markdown file, so that it can be cited.
"""

import json
import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs
from msgspec.structs import replace

from kebab.core.chunks import DocId, compute_digest
from kebab.core.documents import STDIN, Source, SourcePlan, UnreadFile, build_last_scan_key
from kebab.core.files import SkipCounts, resolve_links
from kebab.core.ports import Embedder
from kebab.core.progress import Cancel, ProgressCallback, ProgressKind, ignore_progress
from kebab.errors.catalog import DependencyMissing, ParseFailed, TimedOut
from kebab.errors.signal import Signal
from kebab.errors.system import escape_undecodable, translate_os_errors
from kebab.ingest.build import UNREADABLE, DocumentBuilder, choose_recipe, compute_recipes
from kebab.ingest.commit import DocumentCommitter, build_ahead
from kebab.ingest.job import (
    EmptyLibrary,
    IngestJob,
    IngestPorts,
    LibraryState,
    RunContext,
    TextNote,
    build_item,
    choose_changed_scopes,
    choose_scopes,
)
from kebab.ingest.members import MemberScanner
from kebab.ingest.plan import (
    Plan,
    ScanSummary,
    compare_files,
    is_single_file,
    scan_scopes,
    store_exempt_files,
)
from kebab.ingest.survey import survey_languages
from kebab.ingest.vectors import NO_MODEL, NoModel, VectorSync
from kebab.platform import create_folder, replace_file
from kebab.wire.ingest import EmbeddingSummary, IngestItem, IngestReport, PictureFailure

if TYPE_CHECKING:
    from kebab.ingest.cluster import ClusterWork
    from kebab.store.sqlite.writer import SqliteWriter

_EXAMPLES = 3


def build_report(
    job: IngestJob, summary: ScanSummary, plan: Plan, failed: Sequence[IngestItem] = ()
) -> IngestReport:
    """Build the report of a run from its scan and its plan, before anything is stored.

    `failed` are the items of the scopes that cannot be read.
    """
    skips = SkipCounts()
    for scan in summary.scans:
        skips.merge(scan.found.skips)
    items = [*failed]
    if job.dry_run:
        items += [task.to_item() for task in plan.tasks]
        items += [document.to_item() for document in plan.missing]
    inner = sum(scan.found.inner + scan.found.named for scan in summary.scans)
    report = IngestReport(
        scope=[scope.location for scope in summary.scopes],
        dry_run=job.dry_run,
        scanned=plan.files + skips.total - inner + len(summary.failures),
        new=0,
        updated=0,
        moved=0,
        unchanged=plan.unchanged,
        skipped=skips.total,
        removed=0,
        errors=0,
        cancelled=False,
        duration_ms=0,
        skipped_by_reason=dict(sorted(skips.by_reason.items())),
        skipped_by_extension=dict(sorted(skips.by_extension.items())),
        skip_examples={
            reason: [escape_undecodable(name) for name in names]
            for reason, names in skips.examples.items()
        },
        items=[],
        embedding=EmbeddingSummary(version=None, embedded=0, reused=0, pending=0, unsupported=0),
        slowest=[],
    )
    return _add_items(report, items)


def _add_items(report: IngestReport, items: Sequence[IngestItem]) -> IngestReport:
    """Return a report with further items, and with the counts that follow from them."""
    kinds = Counter(item.kind for item in (*report.items, *items))
    return structs.replace(
        report,
        items=[*report.items, *items],
        new=kinds["new"],
        updated=kinds["updated"],
        moved=kinds["moved"],
        removed=kinds["removed"],
        errors=kinds["error"],
        documents=report.unchanged + kinds["new"] + kinds["updated"] + kinds["moved"],
    )


def run_ingest(
    job: IngestJob,
    ports: IngestPorts,
    report: ProgressCallback = ignore_progress,
    cancel: Cancel | None = None,
) -> IngestReport:
    """Bring the library and its vectors up to date with the files.

    Raises:
        EmbeddingMismatch: The vectors come from another model than the embedder's.
        IoError: A path does not exist, or a root is suddenly empty or missing.
        ParseFailed: The parser refuses the only file named.
        TooLarge: The only file named is above the size limit.
        UnsupportedMedia: No parser reads the only file named.
    """
    work = None
    if ports.cluster is not None:
        from kebab.ingest.cluster import ClusterWork

        work = ClusterWork(ports.cluster, ports.node_model)
    context = RunContext(report, ports.clock, cancel or Cancel(), ports.list_searched, work)
    context.reporter.send(ProgressKind.SCAN_STARTED)
    ended = ProgressKind.ABORTED
    try:
        done = _Run(job, ports, context, work).execute()
        if not done.cancelled:
            ended = ProgressKind.COMPLETED
    finally:
        context.reporter.send(ended)
    return done


class _Run:
    def __init__(
        self, job: IngestJob, ports: IngestPorts, context: RunContext, cluster: "ClusterWork | None"
    ) -> None:
        self._build = build_ahead if cluster is None else cluster.build_ahead
        self._job = job
        self._ports = ports
        self._reporter = context.reporter
        self._context = context
        self._library_state: LibraryState = ports.library or EmptyLibrary()
        self._recipes = compute_recipes(ports.parsers, job.chunker)
        self._started = ports.clock.now()

    def execute(self) -> IngestReport:
        """Run all steps."""
        summary, plan = self._plan()
        failed = [
            structs.replace(
                build_item("error", scope.source.name, scope.location),
                error=self._ports.describe_error(error),
            )
            for scope, error in summary.failures
        ]
        report = build_report(self._job, summary, plan, failed)
        library, cancel = self._ports.library, self._context.cancel
        if not (cancel.requested or self._job.dry_run) and library is not None:
            self._store_plan(summary, plan, library)
            if not self._job.changed or plan.tasks or plan.touched or plan.missing:
                report = self._apply(summary, plan, report, library)
        return structs.replace(
            report, cancelled=cancel.requested, duration_ms=self._reporter.elapsed_ms
        )

    def _apply(
        self,
        summary: ScanSummary,
        plan: Plan,
        report: IngestReport,
        library: "SqliteWriter",
    ) -> IngestReport:
        """Bring library and vectors up to date, and add the results to the report."""
        vectors = VectorSync(library, self._ports.vectors, self._context)
        # Without memory for the index the next run looks for lost vectors.
        try:
            vectors.reconcile(verify=self._job.force)
        except NO_MODEL as error:
            self._report_no_model(vectors, error)
        embedder = self._load_embedder(plan, library, vectors)
        committer = DocumentCommitter(
            library, self._context, self._ports.describe_error, self._build
        )
        self._store_changes(plan, committer, vectors)
        not_read = len(plan.tasks) - committer.tried
        # Embedding needs the memory more than the records of files.
        for scan in summary.scans:
            scan.found.entries.clear()
            scan.known.clear()
        plan.tasks.clear()
        plan.touched.clear()
        plan.missing.clear()
        if not self._context.cancel.requested:
            self._context.limit_embedding(self._job.vector_seconds)
            try:
                vectors.update(embedder)
            except NO_MODEL as error:  # chunks stay pending
                self._report_no_model(vectors, error)
        report = structs.replace(
            _add_results(report, committer, vectors, library),
            not_read=not_read,
            pictures=self._group_failures(committer.pictures),
        )
        self._record_run(summary, report, library)
        if is_single_file(self._job, summary.scopes) and committer.fault:
            failed = next(item for item in committer.items if item.kind == "error")
            if failed.doc_path in (summary.scopes[0].files or ()):
                raise committer.fault
        if is_single_file(self._job, summary.scopes) and committer.pictures:
            path, failure = committer.pictures[0]
            if any(one.no_passages for one in committer.items if one.doc_path == path):
                raise failure
        return report

    def _group_failures(self, failures: Sequence[tuple[str, Signal]]) -> list[PictureFailure]:
        """Return the reasons why a model could not read pictures, each once."""
        groups: dict[str, tuple[Signal, list[str]]] = {}
        for path, fault in failures:
            groups.setdefault(fault.format_message(), (fault, []))[1].append(path)
        return [
            PictureFailure(
                error=self._ports.describe_error(fault),
                count=len(paths),
                examples=paths[:_EXAMPLES],
            )
            for fault, paths in groups.values()
        ]

    def _plan(self) -> tuple[ScanSummary, Plan]:
        job, library, scanner = self._job, self._library_state, self._ports.scanner
        choose = choose_changed_scopes if job.changed else choose_scopes
        scopes = choose(job, library, scanner)
        cancelled = self._context.cancel.requested
        if self._ports.library is not None and not (job.dry_run or cancelled):
            # New folders are registered before the scan, so that a killed scan is known.
            registered = self._ports.library.list_sources()
            for source in [scope.source for scope in scopes]:
                is_new = source.kind == "folder" and source not in registered
                if is_new and os.access(source.root, os.R_OK | os.X_OK):
                    self._ports.library.add_source(source)
        tick = partial(self._reporter.send_heartbeat, "scan")
        members = (
            None
            if self._ports.containers is None
            else MemberScanner(
                containers=self._ports.containers,
                scanner=scanner,
                library=library,
                job=job,
                guard=self._ports.guard,
                recipes=self._recipes,
                tick=tick,
            )
        )
        summary = scan_scopes(scopes, job, library, scanner, tick, members)
        total = sum(len(scan.found.entries) for scan in summary.scans)
        self._reporter.send(ProgressKind.SCAN_COMPLETED, count=(total, total), unit="files")
        sources = [scan.scope.source for scan in summary.scans]
        # Without a readable time every file of a source is compared by content.
        last_scans = {}
        for source in sources:
            stored = library.get_value(build_last_scan_key(source.name))
            last_scans[source.name] = int(stored) if stored and stored.isdecimal() else 0
        plan = compare_files(
            summary.scans,
            recipes=self._recipes,
            last_scans=last_scans,
            force=job.force,
            should_stop=self._should_stop,
            containers=self._ports.containers,
        )
        return summary, plan

    def _should_stop(self) -> bool:
        self._reporter.send_heartbeat("compare")
        return self._context.cancel.requested

    def _load_embedder(
        self, plan: Plan, library: "SqliteWriter", vectors: VectorSync
    ) -> Embedder | None:
        """Load the model when it has something to embed."""
        if not plan.list_files_to_read() and not library.count_pending():
            return None
        self._reporter.send(ProgressKind.HEARTBEAT, phase="model")
        try:
            ports = self._ports
            reads = (ports.survey_parsers or ports.parsers, ports.guard, ports.containers)
            model = ports.embedder(partial(survey_languages, plan, library, *reads))
            if model is None:
                return None
            vectors.set_model(model.embedder, reason=model.reason)
        except NO_MODEL as error:
            self._report_no_model(vectors, error)
            return None
        # The embedding step raises it again, after the documents are stored.
        with suppress(DependencyMissing):
            model.embedder.prepare()
        return model.embedder

    def _store_plan(self, summary: ScanSummary, plan: Plan, library: "SqliteWriter") -> None:
        """Store what the run is about to read, so that a killed run leaves what is not read."""
        registered = library.list_sources()
        for scan in summary.scans:
            if scan.scope.source not in registered:
                library.add_source(scan.scope.source)
            store_exempt_files(library, scan)
        unread: defaultdict[str, list[UnreadFile]] = defaultdict(list)
        for task in plan.tasks:
            known, entry, is_read_again = task.known, task.entry, False
            if known is not None and task.kind == "updated":
                # Its document has its content, and only another form is due.
                is_same = (known.size, known.mtime_ns) == (entry.size, entry.mtime_ns)
                recipe = choose_recipe(self._recipes, entry, known.recipe)
                is_read_again = is_same and (self._job.force or known.recipe != recipe)
                is_read_again = is_read_again and known.recipe != UNREADABLE
            if not is_read_again:
                file = UnreadFile(entry.path, indexed=known is not None)
                unread[task.source.name].append(file)
        rules = self._job.rules.compute_digest()
        plans = []
        for scan in summary.scans:
            scope, found = scan.scope, scan.found
            files = [file for file in unread[scope.source.name] if scope.contains(file.path)]
            denied = "permission denied"
            files += [UnreadFile(path, path in scan.known, denied) for path in found.unreadable]
            plans.append(
                SourcePlan(
                    source=scope.source.name,
                    below=scope.below,
                    files=scope.files,
                    unread=files,
                    folders=found.folders,
                    rules=rules,
                )
            )
        library.store_plans(plans)

    def _store_changes(self, plan: Plan, committer: DocumentCommitter, vectors: VectorSync) -> None:
        with self._ports.batch():
            committer.touch(plan.touched)
            if plan.tasks:
                committer.store(
                    plan.tasks,
                    DocumentBuilder(
                        parsers=self._ports.parsers,
                        guard=self._ports.guard,
                        budget=self._ports.budget(),
                        chunker=self._job.chunker,
                        recipes=self._recipes,
                        deadline_s=self._job.deadline_s,
                        max_memory_mb=self._job.max_memory_mb,
                        containers=self._ports.containers,
                    ),
                )
        missing = plan.missing + committer.missing
        if missing and not self._context.cancel.requested:
            vectors.copy_equal_vectors()
            with self._ports.batch():
                committer.remove(missing)

    def _report_no_model(self, vectors: VectorSync, fault: NoModel) -> None:
        vectors.fault = fault
        message = "no passage is embedded in this run, new ones are found by words"
        self._reporter.send(ProgressKind.HEARTBEAT, phase="model", message=message)

    def _record_run(
        self, summary: ScanSummary, report: IngestReport, library: "SqliteWriter"
    ) -> None:
        """Record the run; a cancelled one records no scan, because files may be left over."""
        if not self._context.cancel.requested:
            for scan in summary.scans:
                if scan.scope.is_whole:
                    started_ns = str(int(self._started * 1_000_000_000))
                    library.set_value(build_last_scan_key(scan.scope.source.name), started_ns)
        changed = len(report.items) - report.errors
        finished = self._ports.clock.now()
        library.record_run(" ".join(report.scope), self._started, finished, changed)
        if changed or report.embedding.embedded or report.embedding.reused:
            library.checkpoint()


def _add_results(
    report: IngestReport,
    committer: DocumentCommitter,
    vectors: VectorSync,
    library: "SqliteWriter",
) -> IngestReport:
    """Return a report with the items of the stored files and the vectors of each."""
    counts = vectors.counts
    stored = library.count_committed(
        {DocId(item.doc_id) for item in committer.items if item.doc_id is not None}
    )
    items = []
    for item in committer.items:
        if item.doc_id is None:
            items.append(item)
            continue
        doc_id = DocId(item.doc_id)
        embedded = counts.embedded.get(doc_id, 0)
        reused = stored.get(doc_id, 0) - embedded
        items.append(structs.replace(item, embedded=embedded, reused=reused))
    elsewhere = sum(count for doc_id, count in counts.copied.items() if doc_id not in stored)
    reused = elsewhere + sum(item.reused for item in items)
    return structs.replace(
        _add_items(report, items),
        slowest=committer.slowest,
        embedding=structs.replace(vectors.build_summary(), reused=reused),
    )


_FRONT_MATTER = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<block>(?:.*\n)*?)(?P=fence)[ \t]*(?:\r?\n|\Z)"
)
_OWN_FIELDS = re.compile(r"^(?:title|source_uri)[ \t]*[:=].*\n", re.MULTILINE)
_NOT_A_WORD = re.compile(r"[\W_]+")
_OWN_FILE_NAME = re.compile(r".+-[0-9a-f]{12}\.md(?:\.[0-9]+)?")
_SLUG_BYTES = 80


def ingest_text(
    note: TextNote,
    job: IngestJob,
    ports: IngestPorts,
    report: ProgressCallback = ignore_progress,
    cancel: Cancel | None = None,
) -> IngestReport:
    """Store a text as a document; the same title and URI again replace its content.

    When the text cannot be parsed, the folder is restored.

    Raises:
        IoError: The text cannot be written.
        ParseFailed: The parser refuses the text.
        TimedOut: The text's deadline passed.
    """
    path = Path(note.folder, build_file_name(note))
    content = build_file_text(note).encode("utf-8", "replace")
    with translate_os_errors(path, "read"):
        previous = path.read_bytes() if path.is_file() else None
    _write(path, content)
    source = Source(name=STDIN, root=resolve_links(note.folder), kind="stdin")
    assert ports.library is not None, "only a dry run has no library"
    ports.library.add_source(source)
    text_job = IngestJob(
        paths=(str(path),),
        force=job.force,
        chunker=job.chunker,
        deadline_s=job.deadline_s,
        max_memory_mb=job.max_memory_mb,
        # The limit was checked for the text; the file also contains the title.
        rules=replace(job.rules, max_file_bytes=0),
    )
    try:
        return run_ingest(text_job, ports, report, cancel)
    except (ParseFailed, TimedOut):
        # The file would fail again in every later run, and the user could not remove it.
        _restore(path, previous)
        raise


def build_file_name(note: TextNote) -> str:
    """Return the name under which a text is kept, from its title and URI alone."""
    words = _NOT_A_WORD.sub("-", unicodedata.normalize("NFC", note.title)).strip("-").lower()
    slug = words.encode("utf-8", "replace")[:_SLUG_BYTES].decode("utf-8", "ignore").strip("-")
    return (
        f"{slug or 'text'}-{compute_digest('stdin', note.title, note.source_uri or '', size=6)}.md"
    )


def is_own_file_name(name: str) -> bool:
    """Return whether a file of the folder has a name that only kebab gives, drafts included."""
    return _OWN_FILE_NAME.fullmatch(name) is not None


def build_file_text(note: TextNote) -> str:
    """Return the file: title and URI within the front matter, then the text."""
    fenced = _FRONT_MATTER.match(note.text)
    fence = fenced["fence"] if fenced else "---"
    separator = " = " if fence == "+++" else ": "
    own = _OWN_FIELDS.sub("", fenced["block"]) if fenced else ""
    body = note.text[fenced.end() :] if fenced else f"\n{note.text}"
    lines = [f"title{separator}{_quote(note.title)}\n"]
    if note.source_uri:
        lines.append(f"source_uri{separator}{_quote(note.source_uri)}\n")
    return f"{fence}\n{''.join(lines)}{own}{fence}\n{body}"


def _quote(value: str) -> str:
    """Return a string that YAML and TOML both read as it is."""
    plain = "".join(char for char in value if unicodedata.category(char) not in {"Cc", "Cs"})
    return json.dumps(" ".join(plain.split()), ensure_ascii=False)


def _write(path: Path, content: bytes) -> None:
    with translate_os_errors(path, "write"):
        create_folder(path.parent)
        with replace_file(path) as file:
            file.write(content)


def _restore(path: Path, content: bytes | None) -> None:
    if content is not None:
        _write(path, content)
        return
    with translate_os_errors(path, "write"):
        path.unlink(missing_ok=True)
