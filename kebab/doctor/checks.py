"""The checks of `kebab doctor`: their inputs, findings and order, and the run over them."""

import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from kebab import __version__
from kebab.core.chunks import ProbePair
from kebab.core.documents import SourceCounts
from kebab.core.ids import Keys, find_missing_keys, find_repeated_keys
from kebab.core.ports import Clock
from kebab.errors.catalog import (
    ConfigInvalid,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
)
from kebab.errors.hints import MAX_HINT_CHARS, build_variable_name
from kebab.errors.signal import Signal
from kebab.platform import (
    find_editor,
    is_on_read_only_disk,
    list_missing_features,
    read_open_files_limit,
)
from kebab.wire.coverage import Coverage, describe_gaps, describe_left_out, describe_partial
from kebab.wire.health import CheckStatus, Doctor, DoctorCheck


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check; `fix` is the command that repairs a fault."""

    status: CheckStatus
    summary: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the health.

    `fix` is reported when the check raises an error that names no command. The check is skipped
    unless every check in `requires` has the status `ok`.
    """

    name: str
    run: Callable[[], Finding]
    fix: str
    requires: tuple[str, ...] = ()


def succeed(summary: str) -> Finding:
    """Return a finding without a fault."""
    return Finding("ok", summary)


def warn(summary: str, fix: str) -> Finding:
    """Return a finding that needs attention while the rest works."""
    return Finding("warn", summary, fix)


def fail(summary: str, fix: str) -> Finding:
    """Return the finding of a fault."""
    return Finding("fail", summary, fix)


def skip(summary: str) -> Finding:
    """Return a finding for a check that cannot run or has nothing to check."""
    return Finding("skip", summary)


def suggest_move(path: Path) -> str:
    """Return the command that moves a file or folder to a name that nothing has.

    A fix never deletes: what is moved away can be looked at, and moved back. A long folder is named
    only once, because a hint is short.
    """
    names = (f"{path.name}.old", *(f"{path.name}.old.{number}" for number in range(1, 100)))
    free = (path.with_name(name) for name in names if not os.path.lexists(path.with_name(name)))
    target = next(free)
    line = f"mv {shlex.quote(str(path))} {shlex.quote(str(target))}"
    if len(line) <= MAX_HINT_CHARS:
        return line
    folder = shlex.quote(str(path.parent))
    return f"cd {folder} && mv {shlex.quote(path.name)} {shlex.quote(target.name)}"


def format_count(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def run_all(
    checks: Sequence[Check], clock: Clock, report: Callable[[Doctor], None] = lambda _: None
) -> Doctor:
    """Run every check and return all results; a check that fails does not stop the others.

    `report` receives a report without a check first, then one of each check as it ends.
    """
    done: list[DoctorCheck] = []
    report(build_report([]))
    for check in checks:
        met = {result.name for result in done if result.status == "ok"}
        unmet = next((name for name in check.requires if name not in met), None)
        started = clock.monotonic()
        finding = skip(f"needs `{unmet}`") if unmet else run_check(check)
        took_ms = (clock.monotonic() - started) * 1000
        done.append(DoctorCheck(name=check.name, duration_ms=took_ms, **asdict(finding)))
        report(build_report(done[-1:]))
    return build_report(done)


def build_report(checks: list[DoctorCheck]) -> Doctor:
    """Return a report of some checks."""
    healthy = all(check.status != "fail" for check in checks)
    return Doctor(ok=healthy, kebab_version=__version__, checks=checks)


def run_check(check: Check) -> Finding:
    """Run a check; an error that it raises is a fault."""
    try:
        return check.run()
    except Signal as signal:
        hint = signal.format_hint()  # that of a row may be to run this command
        return fail(signal.format_message(), check.fix if hint in (None, "kebab doctor") else hint)
    except OSError as fault:
        location = f": {fault.filename}" if fault.filename else ""
        # The file itself may be intact, so the missing permission is granted.
        is_refused = isinstance(fault, PermissionError) and fault.filename
        fix = f"chmod u+rw {shlex.quote(str(fault.filename))}" if is_refused else check.fix
        return fail(f"{fault.strerror or fault}{location}", fix)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorInputs:
    """The inputs of all checks."""

    machine: "MachineInputs"
    storage: "StorageInputs"
    documents: "DocumentInputs"
    models: "ModelInputs"


def build_checks(inputs: DoctorInputs) -> Sequence[Check]:
    """Return every check in order."""
    machine, stores = inputs.machine, inputs.storage
    documents, models = inputs.documents, inputs.models
    readable, intact, installed = ("database",), ("database", "integrity"), ("embedding_files",)
    init, ingest, pull = "kebab init", "kebab ingest", "kebab model pull"
    off = ", ".join(list_missing_features())
    return (
        Check("configuration", partial(check_settings, machine.read_settings), init),
        Check("directories", partial(check_folders, machine.folders), init),
        Check("permissions", partial(check_permissions, machine), init),
        Check("disk", partial(check_disk_space, machine.data), "df -h"),
        Check("descriptors", check_open_files, "ulimit -n 1024"),
        *([Check("system", partial(succeed, f"off on this system: {off}"), init)] if off else []),
        Check("writer_lock", partial(check_writer, machine.find_writer), init),
        Check("log", partial(check_log, machine.log), init),
        Check("plugins", machine.check_plugins, init),
        Check("database", partial(check_database, stores), FIX),
        Check("integrity", partial(check_integrity, stores), FIX, readable),
        Check("full_text", partial(check_full_text, stores), FIX, intact),
        Check("vectors", partial(check_vectors, stores), FIX, intact),
        Check("leftovers", partial(check_leftovers, stores), FIX),
        Check("reviews", partial(check_reviews, stores), FIX),
        Check("pending", partial(check_pending, documents), ingest, intact),
        Check("sources", partial(check_sources, documents), "kebab source list", intact),
        Check("files", partial(check_files, documents), ingest, intact),
        Check(
            "embedding_version",
            partial(check_embedding_version, models),
            "kebab model use auto",
            intact,
        ),
        Check("embedding_files", partial(check_embedding_files, models), pull),
        Check("embedding_probe", partial(check_embedding_probe, models), pull, installed),
        Check("language_model", partial(check_language_model, models), models.start_command),
    )


_MIB, _LOW_SPACE = 1 << 20, 1 << 30
_FEW_OPEN_FILES = 256
"""The vector store alone keeps dozens of files open during compaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """The settings file, its faults, warnings about its values, and variables without effect."""

    path: Path
    faults: tuple[ConfigInvalid, ...] = ()
    warnings: tuple[str, ...] = ()
    unknown_variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineInputs:
    """The inputs of the checks of the machine.

    `folders` are the folders that kebab writes to, by purpose. `find_writer` returns the process
    that is writing. `list_foreign` returns the files of another user that this one may not change,
    `list_denied` such files of this user, and `list_exposed` those that other users can read.
    """

    read_settings: Callable[[], SettingsFile]
    folders: Mapping[str, Path]
    data: Path
    log: Path
    find_writer: Callable[[], int | None]
    list_foreign: Callable[[], Sequence[Path]] = tuple
    list_denied: Callable[[], Sequence[Path]] = tuple
    list_exposed: Callable[[], Sequence[Path]] = tuple
    check_plugins: Callable[[], Finding] = lambda: succeed("none")


def check_settings(read_settings: Callable[[], SettingsFile]) -> Finding:
    """Check that the settings can be used."""
    file = read_settings()
    if file.faults:
        summary = "; ".join(dict.fromkeys(fault.format_message() for fault in file.faults))
        first = file.faults[0]
        fix = first.format_hint() or "kebab init"
        if first.choose_case() in ("", "setting"):
            variable = build_variable_name(first.path)
            fix = f"unset {variable}" if os.environ.get(variable) else "kebab init --force"
        return fail(f"{summary}; defaults are used instead", fix)
    if file.warnings:
        editor = os.environ.get("EDITOR") or find_editor()
        edit = f"{editor} {shlex.quote(str(file.path))}"
        return warn(f"{file.path}: {'; '.join(file.warnings)}", edit)
    if file.unknown_variables:
        names = file.unknown_variables
        return warn(f"variables without effect: {', '.join(names)}", f"unset {' '.join(names)}")
    where = file.path if file.path.exists() else f"defaults, no settings file: {file.path}"
    return succeed(str(where))


def check_folders(folders: Mapping[str, Path]) -> Finding:
    """Check that every folder can be written or created."""
    for purpose, path in folders.items():
        existing = _find_existing_folder(path)
        if not existing.is_dir():
            fix = suggest_move(existing)
            return fail(f"a file is in the place of the {purpose} folder: {existing}", fix)
        if is_on_read_only_disk(existing):
            summary = f"the {purpose} folder is on a read-only file system: {existing}"
            return fail(summary, f"df -h {shlex.quote(str(existing))}")
        if not os.access(existing, os.W_OK | os.X_OK):
            summary = f"no permission to write the {purpose} folder: {existing}"
            return fail(summary, f"chmod u+rwx {shlex.quote(str(existing))}")
    return succeed(", ".join(f"{purpose}: {path}" for purpose, path in folders.items()))


def check_permissions(machine: MachineInputs) -> Finding:
    """Check that this user, and nobody else, can read and write the files of the index."""
    folder = shlex.quote(str(machine.data))
    for list_files, finding, words, fix in (
        (machine.list_foreign, fail, "belong to another user", 'sudo chown -R "$(id -un)"'),
        (machine.list_denied, fail, "cannot be read or written", "chmod -R u+rwX"),
        (machine.list_exposed, warn, "can be read by other users", "chmod -R go-rwx"),
    ):
        if found := list_files():
            count = format_count(len(found), "file")
            return finding(f"{words}: {count}, the first: {found[0]}", f"{fix} {folder}")
    return succeed("only you can read the files of the index")


def check_disk_space(data: Path, free: Callable[[Path], int] | None = None) -> Finding:
    """Check that the disk has space for the index."""
    existing = _find_existing_folder(data)
    fix = f"df -h {shlex.quote(str(existing))}"
    space = free(existing) if free else shutil.disk_usage(existing).free
    summary = f"{space / _MIB:,.0f} MiB free: {existing}"
    if not space:
        return fail(f"the disk is full, {summary}", fix)
    return warn(f"little space, {summary}", fix) if space < _LOW_SPACE else succeed(summary)


def check_open_files(read_limit: Callable[[], int | None] = read_open_files_limit) -> Finding:
    """Check that a process may open enough files."""
    if (limit := read_limit()) is None:
        return succeed("no limit of open files is known")
    summary = f"a process may open {limit:,} files"
    return succeed(summary) if limit >= _FEW_OPEN_FILES else warn(summary, "ulimit -n 1024")


def check_writer(find_writer: Callable[[], int | None]) -> Finding:
    """Report the process that is writing, which is no fault."""
    pid = find_writer()
    return succeed("no process is writing" if pid is None else f"a process is writing: pid {pid}")


def check_log(path: Path) -> Finding:
    """Report where errors are logged."""
    if not path.exists():
        return succeed(f"no error was logged yet: {path}")
    return succeed(f"{format_count(path.stat().st_size, 'byte')}: {path}")


def _find_existing_folder(path: Path) -> Path:
    """Return the path, or the nearest parent that exists."""
    candidates = (path, *path.parents)
    return next(folder for folder in candidates if folder.exists() or folder == folder.parent)


FIX = "kebab doctor --fix"
"""The fix for what a repair removes; it shows its plan and asks before."""
UPGRADE = "pip install --upgrade kebab"
"""The fix for what a newer version wrote; no repair touches it."""
_MAX_QUOTED, _MOST_NAMES = 3, 5


@dataclass(frozen=True, slots=True)
class ReviewFile:
    """The file with the stored runs of reviews, which is apart from the index."""

    path: Path
    bytes: int
    faults: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageInputs:
    """The inputs of the checks of the stores; every callable may raise a signal.

    `find_schema` returns the schema version of the database, None without one; `schema` is that of
    this build. `list_remains` returns the files of an index without its database, `list_leftovers`
    those of killed calls, `find_damage` returns the faults of the database, and
    `find_word_fault` that of the full-text index, None without one; if it is `deep`, words of every
    passage are looked up, else of a sample. `list_vector_keys` returns the key of every vector row,
    repeated keys included, `list_expected_keys` the keys that have a vector according to the
    database. `reviews` is the file of `read_reviews`.
    """

    path: Path
    schema: int
    find_schema: Callable[[], int | None]
    find_damage: Callable[[], Sequence[str]]
    find_word_fault: Callable[[], str | None]
    list_vector_keys: Callable[[], Keys]
    list_expected_keys: Callable[[], Keys]
    deep: bool = False
    list_remains: Callable[[], Sequence[Path]] = tuple
    list_leftovers: Callable[[], Sequence[Path]] = tuple
    reviews: Path
    read_reviews: Callable[[], ReviewFile | None]


def check_database(storage: StorageInputs) -> Finding:
    """Check that there is a database that this build can read."""
    found, expected = storage.find_schema(), storage.schema
    if found is None:
        if remains := ", ".join(path.name for path in storage.list_remains()[:_MAX_QUOTED]):
            return fail(
                f"the database is lost or empty, parts of an index are left: {remains}", FIX
            )
        return fail(f"nothing indexed yet: {storage.path}", "kebab ingest FOLDER")
    if found < expected:
        return fail(f"schema {found} needs a migration to {expected}", "kebab ingest")
    if found > expected:
        summary = f"written by a newer kebab, schema {found}, this build reads {expected}"
        return fail(summary, UPGRADE)
    return succeed(f"schema {found}: {storage.path}")


def check_integrity(storage: StorageInputs) -> Finding:
    """Check the integrity of the SQLite file."""
    if faults := storage.find_damage():
        return fail(f"the database is damaged: {'; '.join(faults[:_MAX_QUOTED])}", FIX)
    return succeed("SQLite finds the database intact")


def check_full_text(storage: StorageInputs) -> Finding:
    """Check the full-text index."""
    if fault := storage.find_word_fault():
        return fail(f"the full-text index differs from the passages: {fault}", FIX)
    compared = "each" if storage.deep else "a sample"
    return succeed(f"every passage is in the full-text index, and words of {compared} find it")


def check_leftovers(storage: StorageInputs) -> Finding:
    """Check that no killed call has left files."""
    found = storage.list_leftovers()
    summary = f"{format_count(len(found), 'file')} left over from a call that was ended"
    return warn(f"{summary}: {found[0]}", FIX) if found else succeed("no call has left files")


def check_vectors(storage: StorageInputs) -> Finding:
    """Check that the vector table has exactly one row for each vector of the database."""
    expected, rows = storage.list_expected_keys(), storage.list_vector_keys()
    lacking, extra = find_missing_keys(expected, rows), find_missing_keys(rows, expected)
    # An ingest may add and remove vectors between both reads; what it changed is no fault.
    now = set(storage.list_expected_keys() if lacking or extra else ())
    if missing := len(now.intersection(lacking)):
        return fail(f"{format_count(missing, 'vector')} of {len(expected):,} missing", FIX)
    if repeats := len(find_repeated_keys(rows)):
        return fail(f"{format_count(repeats, 'vector')} stored more than once", FIX)
    summary = f"{format_count(len(expected), 'vector')}, each with its passage"
    removed = len(set(extra) - now)
    return succeed(f"{summary}; the next ingest deletes {removed:,} more" if removed else summary)


def check_reviews(storage: StorageInputs) -> Finding:
    """Check the file with the stored reviews."""
    file = storage.read_reviews()
    if file is None:
        return succeed("no review is stored")
    if file.faults:
        faults = "; ".join(file.faults[:_MAX_QUOTED])
        return fail(f"the stored reviews are damaged: {faults}", FIX)
    return succeed(f"{file.bytes:,} bytes: {file.path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInputs:
    """The inputs of the checks of the documents.

    `has_model` returns whether an ingest can compute vectors now, `measure_coverage` None without
    an index that can be read. Without `compare_contents` files are compared by time and size.
    """

    count_pending: Callable[[], int]
    has_model: Callable[[], bool] = lambda: True
    measure_coverage: Callable[[], Coverage | None]
    list_lost_sources: Callable[[], Sequence[SourceCounts]] = tuple
    compare_contents: Callable[[], Finding] | None = None


def check_pending(documents: DocumentInputs) -> Finding:
    """Check that every passage has a vector."""
    if count := documents.count_pending():
        summary = f"{format_count(count, 'passage')} not embedded yet, found by words only"
        return warn(summary, "kebab ingest" if documents.has_model() else "kebab model pull")
    return succeed("every passage has a vector")


def check_sources(documents: DocumentInputs) -> Finding:
    """Check that the folder of every source exists, and is not suddenly empty."""
    lost = documents.list_lost_sources()
    if not lost:
        return succeed("the folder of every source is there")
    first = lost[0]
    others = f", and {len(lost) - 1:,} more" if len(lost) > 1 else ""
    count = format_count(first.documents, "document")
    return warn(
        f"a folder with {count} in the index is gone or empty: {first.source.root}{others}",
        f"kebab source rm {shlex.quote(first.source.name)}",
    )


def check_files(documents: DocumentInputs) -> Finding:
    """Check that every file is read as it is now; those of lost folders are left out."""
    if documents.compare_contents is not None:
        return documents.compare_contents()
    coverage, lost = documents.measure_coverage(), 0
    if coverage is not None and coverage.gone:
        lost = min(coverage.gone, sum(one.documents for one in documents.list_lost_sources()))
    if gaps := describe_gaps(coverage, "healthy", lost=lost):
        return warn(gaps, "kebab ingest")
    if coverage is None or coverage.files == lost:
        return skip("no document has a file")
    subject = "every other file" if lost else "every file"
    count = format_count(coverage.files - lost, "file")
    summary = f"{subject} is as it was read, by time and size: {count}"
    return succeed(f"{summary}{describe_partial(coverage)}{describe_left_out(coverage)}")


@dataclass(frozen=True, slots=True)
class Weights:
    """The files of the embedding model, compared with their SHA-256.

    `folder` is None without an installed model. `server` is the address of the server that computes
    vectors, and `faults` then say why it does not.
    """

    model: str
    folder: Path | None
    faults: tuple[str, ...] = ()
    server: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingVersions:
    """The embedding version of the settings and of the stored vectors.

    `configured` is None when the settings leave the choice to kebab, `stored` when no vector is
    stored. `reason` says why kebab chose the stored one, `advice` why another model would fit the
    text better, with the command that changes to it.
    """

    configured: str | None
    stored: str | None
    reason: str | None = None
    advice: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInputs:
    """The inputs of the checks of the models.

    `read_weights` returns None when no model was chosen yet. `measure_probe` returns the measured
    cosine of the model's probe pair and the pair, None when no model is installed. The tolerance of
    the pair covers differences in arithmetic between processors; another pooling, prefix or model
    differs by far more. `check_server` describes the server that answers questions. It returns None
    when no server is needed, and raises a signal when the server cannot answer; `start_command` is
    the command that helps then.
    """

    read_weights: Callable[[], Weights | None]
    measure_probe: Callable[[], tuple[float, ProbePair] | None]
    read_versions: Callable[[], EmbeddingVersions]
    check_server: Callable[[], str | None]
    start_command: str


def check_embedding_files(models: ModelInputs) -> Finding:
    """Check that the model files are on this machine and unchanged."""
    weights = models.read_weights()
    if weights is None:
        return warn("no embedding model yet, searches use words only", "kebab model pull")
    if weights.server is not None:
        place = f"{weights.model} at {weights.server}"
        if not weights.faults:
            return succeed(place)
        summary = f"no vectors of {place}, searches use words only: {weights.faults[0]}"
        return warn(summary, models.start_command)
    if weights.folder is None:
        missing = f"model not installed, searches use words only: {weights.model}"
        return warn(missing, f"kebab model pull {weights.model}")
    if weights.faults:
        damage = f"damaged model files in {weights.folder}: {'; '.join(weights.faults)}"
        return fail(damage, f"kebab model pull {weights.model}")
    return succeed(f"{weights.model}: {weights.folder}")


def check_embedding_probe(models: ModelInputs) -> Finding:
    """Check that the model computes its known vectors."""
    if (result := models.measure_probe()) is None:
        return skip("no installed model to check")
    cosine, probe = result
    summary = f"cosine of two known sentences {cosine:.4f}, expected: {probe.cosine:.4f}"
    return succeed(summary) if probe.accepts(cosine) else fail(summary, "kebab model pull")


def check_embedding_version(models: ModelInputs) -> Finding:
    """Check that the configured model is the one that the index was built with."""
    versions = models.read_versions()
    if versions.stored is None:
        return skip("no vector is stored")
    if versions.configured not in {None, versions.stored}:
        summary = f"built with {versions.stored}, but configured is {versions.configured}"
        return fail(summary, "kebab model use auto")
    if versions.advice is not None:
        cause, command = versions.advice
        return warn(f"{versions.stored}, but {cause}", command)
    because = f", because {versions.reason}" if versions.reason else ""
    return succeed(f"{versions.stored}{because}")


def check_language_model(models: ModelInputs) -> Finding:
    """Check that the language model can answer; only `kebab ask` needs it.

    A server that is away needs attention. A model or a key that the server refuses is a fault of
    the settings.
    """
    try:
        description = models.check_server()
    except (ModelNotPulled, ModelRejected) as signal:
        message = signal.format_message()
        if isinstance(signal, ModelNotPulled) and signal.models:
            message = f"{message}; it has {', '.join(signal.models[:_MOST_NAMES])}"
        return fail(message, _choose_server_fix(signal, models))
    except Signal as signal:
        return warn(signal.format_message(), _choose_server_fix(signal, models))
    return succeed(description) if description else skip("the settings use no language model")


def _choose_server_fix(signal: Signal, models: ModelInputs) -> str:
    """Return the command that repairs the fault; hints about asking help nobody here."""
    if isinstance(signal, ModelProtocol) and not signal.setting:
        return "restart the model server, then try again: `kebab doctor`"
    hint = signal.format_hint()
    is_plain = isinstance(signal, ModelUnreachable) and signal.choose_case() in ("ollama", "server")
    if hint is None or is_plain or hint == "kebab doctor":
        return models.start_command
    return "export KEBAB_MODELS_LLM_MODEL=NAME" if "kebab ask" in hint else hint
