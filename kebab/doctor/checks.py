"""The checks of `kebab doctor` as functions of what was found, and the run over them."""

import os
import shlex
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kebab import __version__
from kebab.config.load import SettingsReport
from kebab.core.chunks import Keys, ProbePair, find_missing_keys, find_repeated_keys
from kebab.core.documents import SourceCounts
from kebab.core.ports import Clock
from kebab.errors.catalog import ModelNotPulled, ModelProtocol, ModelRejected, ModelUnreachable
from kebab.errors.hints import MAX_HINT_CHARS, build_variable_name
from kebab.errors.signal import Signal
from kebab.platform import find_editor, is_on_read_only_disk
from kebab.wire.coverage import (
    Coverage,
    describe_gaps,
    describe_left_out,
    describe_partial,
    pluralize,
)
from kebab.wire.health import CheckStatus, Doctor, DoctorCheck


class Finding(NamedTuple):
    """The result of a check; `fix` is the command that repairs a fault."""

    status: CheckStatus
    summary: str
    fix: str | None = None


class Check(NamedTuple):
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


def run_all(checks: Sequence[Check], clock: Clock) -> Doctor:
    """Run every check and return all results; a check that fails does not stop the others."""
    done: list[DoctorCheck] = []
    for check in checks:
        met = {result.name for result in done if result.status == "ok"}
        unmet = next((name for name in check.requires if name not in met), None)
        started = clock.monotonic()
        finding = skip(f"needs `{unmet}`") if unmet else run_check(check)
        took_ms = (clock.monotonic() - started) * 1000
        done.append(DoctorCheck(name=check.name, duration_ms=took_ms, **finding._asdict()))
    healthy = all(check.status != "fail" for check in done)
    return Doctor(ok=healthy, kebab_version=__version__, checks=done)


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


_LOW_SPACE = 1 << 30
_ENTER, _READ = stat.S_IXGRP | stat.S_IXOTH, stat.S_IRGRP | stat.S_IROTH
"""The permissions of other users."""


def check_settings(path: Path, report: SettingsReport | None, warning: str | None) -> Finding:
    """Check that the settings can be used; `warning` is about a value of them."""
    if report and report.faults:
        summary = "; ".join(dict.fromkeys(fault.format_message() for fault in report.faults))
        first = report.faults[0]
        fix = first.format_hint() or "kebab init"
        if first.choose_case() in ("", "setting"):
            variable = build_variable_name(first.path)
            fix = f"unset {variable}" if os.environ.get(variable) else "kebab init --force"
        return fail(f"{summary}; defaults are used instead", fix)
    if warning:
        editor = os.environ.get("EDITOR") or find_editor()
        return warn(f"{path}: {warning}", f"{editor} {shlex.quote(str(path))}")
    return succeed(str(path if path.exists() else f"defaults, no settings file: {path}"))


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


def list_denied(entries: Sequence[Path], *, writes: bool) -> list[Path]:
    """Return the files and folders that this user may not read or, if it `writes`, write."""
    wanted = os.R_OK | (os.W_OK if writes else 0)
    return [path for path in entries if not os.access(path, wanted | os.X_OK * path.is_dir())]


def list_exposed(data: Path, entries: Sequence[Path]) -> list[Path]:
    """Return the files in a data directory that other users can read."""
    folders = [folder for folder in (data, *data.parents) if folder.exists()]
    if not all(folder.stat().st_mode & _ENTER for folder in folders):
        return []
    return [path for path in entries if path.is_file() and path.stat().st_mode & _READ]


def check_permissions(
    data: Path, foreign: Sequence[Path], denied: Sequence[Path], exposed: Sequence[Path]
) -> Finding:
    """Check that this user, and nobody else, can read and write the files of the index.

    `denied` are files that this user may not change, `foreign` those of them of another user, and
    `exposed` files that other users can read.
    """
    for found, finding, words, fix in (
        (foreign, fail, "belong to another user", 'sudo chown -R "$(id -un)"'),
        (denied, fail, "cannot be read or written", "chmod -R u+rwX"),
        (exposed, warn, "can be read by other users", "chmod -R go-rwx"),
    ):
        if found:
            count = pluralize(len(found), "file")
            summary = f"{words}: {count}, the first: {found[0]}"
            return finding(summary, f"{fix} {shlex.quote(str(data))}")
    return succeed("only you can read the files of the index")


def check_disk_space(data: Path, free: Callable[[Path], int] | None = None) -> Finding:
    """Check that the disk has space for the index."""
    existing = _find_existing_folder(data)
    fix = f"df -h {shlex.quote(str(existing))}"
    space = free(existing) if free else shutil.disk_usage(existing).free
    summary = f"{space / 1e6:,.0f} MB free: {existing}"
    if not space:
        return fail(f"the disk is full, {summary}", fix)
    return warn(f"little space, {summary}", fix) if space < _LOW_SPACE else succeed(summary)


def check_log(path: Path) -> Finding:
    """Report where errors are logged."""
    if not path.exists():
        return succeed(f"no error was logged yet: {path}")
    return succeed(f"{path.stat().st_size / 1e3:,.0f} kB: {path}")


def _find_existing_folder(path: Path) -> Path:
    """Return the path, or the nearest parent that exists."""
    candidates = (path, *path.parents)
    return next(folder for folder in candidates if folder.exists() or folder == folder.parent)


FIX = "kebab doctor --fix"
"""The fix for what a repair removes; it shows its plan and asks before."""
UPGRADE = "pip install --upgrade kebab"
"""The fix for what a newer version wrote; no repair touches it."""
_MAX_QUOTED, _MOST_NAMES = 3, 5


def check_database(
    path: Path, found: int | None, expected: int, remains: Sequence[Path]
) -> Finding:
    """Check that there is a database whose schema this build can read.

    `remains` are the files of an index without its database.
    """
    if found is None:
        if names := ", ".join(file.name for file in remains[:_MAX_QUOTED]):
            return fail(f"the database is lost or empty, parts of an index are left: {names}", FIX)
        return fail(f"nothing indexed yet: {path}", "kebab ingest FOLDER")
    if found < expected:
        return fail(f"schema {found} needs a migration to {expected}", "kebab ingest")
    if found > expected:
        summary = f"written by a newer kebab, schema {found}, this build reads {expected}"
        return fail(summary, UPGRADE)
    return succeed(f"schema {found}: {path}")


def check_integrity(faults: Sequence[str]) -> Finding:
    """Check the integrity of the SQLite file."""
    if faults:
        return fail(f"the database is damaged: {'; '.join(faults[:_MAX_QUOTED])}", FIX)
    return succeed("SQLite finds the database intact")


def check_full_text(fault: str | None, *, deep: bool) -> Finding:
    """Check the full-text index."""
    if fault:
        return fail(f"the full-text index differs from the passages: {fault}", FIX)
    compared = "each" if deep else "a sample"
    return succeed(f"every passage is in the full-text index, and words of {compared} find it")


def check_leftovers(found: Sequence[Path]) -> Finding:
    """Check that no killed call has left files."""
    summary = f"{pluralize(len(found), 'file')} left over from a call that was ended"
    return warn(f"{summary}: {found[0]}", FIX) if found else succeed("no call has left files")


def check_vectors(list_expected: Callable[[], Keys], list_rows: Callable[[], Keys]) -> Finding:
    """Check that the vector table has exactly one row for each vector of the database."""
    expected, rows = list_expected(), list_rows()
    lacking, extra = find_missing_keys(expected, rows), find_missing_keys(rows, expected)
    # An ingest may add and remove vectors between both reads; what it changed is no fault.
    now = set(list_expected() if lacking or extra else ())
    if missing := len(now.intersection(lacking)):
        return fail(f"{pluralize(missing, 'vector')} of {len(expected):,} missing", FIX)
    if repeats := len(find_repeated_keys(rows)):
        return fail(f"{pluralize(repeats, 'vector')} stored more than once", FIX)
    summary = f"{pluralize(len(expected), 'vector')}, each with its passage"
    removed = len(set(extra) - now)
    return succeed(f"{summary}; the next ingest deletes {removed:,} more" if removed else summary)


def check_reviews(path: Path, faults: Sequence[str] | None) -> Finding:
    """Check the database of the stored reviews, which is apart from the index."""
    if faults is None:
        return succeed("no review is stored")
    if faults:
        return fail(f"the stored reviews are damaged: {'; '.join(faults[:_MAX_QUOTED])}", FIX)
    return succeed(f"{path.stat().st_size / 1e3:,.0f} kB: {path}")


def check_pending(count: int, has_model: Callable[[], bool]) -> Finding:
    """Check that no passage waits for a vector; with a model an ingest computes it."""
    if count:
        summary = f"{pluralize(count, 'passage')} not embedded yet, found by words only"
        return warn(summary, "kebab ingest" if has_model() else "kebab model pull")
    return succeed("no passage waits for a vector")


def check_sources(lost: Sequence[SourceCounts]) -> Finding:
    """Check that the folder of every source exists, and is not suddenly empty."""
    if not lost:
        return succeed("the folder of every source is there")
    first = lost[0]
    others = f", and {len(lost) - 1:,} more" if len(lost) > 1 else ""
    count = pluralize(first.documents, "document")
    return warn(
        f"a folder with {count} in the index is gone or empty: {first.source.root}{others}",
        f"kebab source rm {shlex.quote(first.source.name)}",
    )


def check_files(coverage: Coverage | None, lost_sources: Sequence[SourceCounts]) -> Finding:
    """Check that every file is read as it is now; those of lost folders are left out."""
    lost = 0
    if coverage is not None and coverage.gone:
        lost = min(coverage.gone, sum(one.documents for one in lost_sources))
    if gaps := describe_gaps(coverage, "healthy", lost=lost):
        is_refused = coverage is not None and coverage.failed  # the report says why
        return warn(gaps, "kebab ingest --verbose" if is_refused else "kebab ingest")
    if coverage is None or coverage.files == lost:
        return skip("no document has a file")
    subject = "every other file" if lost else "every file"
    count = pluralize(coverage.files - lost, "file")
    summary = f"{subject} is as it was read, by time and size: {count}"
    return succeed(f"{summary}{describe_partial(coverage)}{describe_left_out(coverage)}")


def check_contents(checked: int, differing: Mapping[str, set[str]]) -> Finding:
    """Report the files whose content is not what was indexed, by kind; an ingest reads them."""
    compared = pluralize(checked, "file")
    kinds = [
        f"{len(paths):,} {kind}: {', '.join(sorted(paths)[:_MAX_QUOTED])}"
        + (", …" if len(paths) > _MAX_QUOTED else "")
        for kind, paths in differing.items()
        if paths
    ]
    if kinds:
        return warn(f"{'; '.join(kinds)}; {compared} compared", "kebab ingest")
    return succeed(f"every file has the content that was indexed: {compared}")


def check_embedding_files(model: str | None, folder: Path | None, faults: Sequence[str]) -> Finding:
    """Check that the files of a model are on this machine and unchanged."""
    if model is None:
        return warn("no embedding model yet, searches use words only", "kebab model pull")
    pull = f"kebab model pull {model}"
    if folder is None:
        return warn(f"model not installed, searches use words only: {model}", pull)
    if faults:
        return fail(f"damaged model files in {folder}: {'; '.join(faults)}", pull)
    return succeed(f"{model}: {folder}")


def check_embedding_server(place: str, fault: str | None, start: str) -> Finding:
    """Check that a server computes vectors; `start` is the command that helps."""
    if fault:
        return warn(f"no vectors of {place}, searches use words only: {fault}", start)
    return succeed(place)


def check_embedding_probe(result: tuple[float, ProbePair] | None) -> Finding:
    """Check that the model computes its known vectors.

    The tolerance of the pair covers differences in arithmetic between processors; another pooling,
    prefix or model differs by far more.
    """
    if result is None:
        return skip("no installed model to check")
    cosine, probe = result
    summary = f"cosine of two known sentences {cosine:.4f}, expected: {probe.cosine:.4f}"
    return succeed(summary) if probe.accepts(cosine) else fail(summary, "kebab model pull")


def check_embedding_version(
    configured: str | None, stored: str | None, reason: str | None, advice: tuple[str, str] | None
) -> Finding:
    """Check that the configured model is the one that the index was built with.

    `configured` is None when the settings leave the choice to kebab. `reason` says why kebab chose
    the stored one, `advice` why another would fit the text better, with the command.
    """
    if stored is None:
        return skip("no vector is stored")
    if configured not in {None, stored}:
        summary = f"built with {stored}, but configured is {configured}"
        return fail(summary, "kebab model use auto")
    if advice is not None:
        cause, command = advice
        return warn(f"{stored}, but {cause}", command)
    return succeed(f"{stored}, because {reason}" if reason else stored)


def check_language_model(check_server: Callable[[], str | None], start: str) -> Finding:
    """Check that the language model can answer; only `kebab ask` needs it.

    A server that is away needs attention. A model or a key that the server refuses is a fault of
    the settings. `start` is the command that helps where nothing else does.
    """
    try:
        description = check_server()
    except (ModelNotPulled, ModelRejected) as signal:
        message = signal.format_message()
        if isinstance(signal, ModelNotPulled) and signal.models:
            message = f"{message}; it has {', '.join(signal.models[:_MOST_NAMES])}"
        return fail(message, _choose_server_fix(signal, start))
    except Signal as signal:
        return warn(signal.format_message(), _choose_server_fix(signal, start))
    return succeed(description) if description else skip("the settings use no language model")


def _choose_server_fix(signal: Signal, start: str) -> str:
    """Return the command that repairs the fault; hints about asking help nobody here."""
    if isinstance(signal, ModelProtocol) and not signal.setting:
        return "restart the model server, then try again: `kebab doctor`"
    hint = signal.format_hint()
    is_plain = isinstance(signal, ModelUnreachable) and signal.choose_case() in ("ollama", "server")
    if hint is None or is_plain or hint == "kebab doctor":
        return start
    return "export KEBAB_MODELS_LLM_MODEL=NAME" if "kebab ask" in hint else hint
