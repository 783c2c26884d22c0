"""Starts a warm process of its own for a test, and ends it."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from kebab.warm.start import ask_status

_START_S = 60.0


class WarmProcess:
    """A warm process with a runtime folder of its own, and calls that it serves."""

    def __init__(self, environ: Mapping[str, str], runtime: Path) -> None:
        self.environ = {**environ, "XDG_RUNTIME_DIR": str(runtime), "KEBAB_DAEMON_AUTO": "true"}
        self.runtime = runtime
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kebab", "serve"],
            env=self.environ,
            cwd=environ["HOME"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def socket(self) -> str:
        """The path of its socket."""
        (found,) = (path for path in (self.runtime / "kebab").iterdir() if not path.suffix)
        return str(found)

    def read_status(self) -> dict[str, object] | None:
        """Return its status, None before it listens."""
        with suppress(ValueError, OSError):
            return ask_status(self.socket)
        return None

    def wait_until_idle(self) -> list[int]:
        """Return the pids of its workers when all of them wait for calls."""
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            status = self.read_status()
            workers: list[dict[str, int]] = status["workers"] if status else []  # type: ignore[assignment]
            if workers and not any(worker["busy"] for worker in workers):
                return [worker["pid"] for worker in workers]
            time.sleep(0.02)
        raise TimeoutError("the warm process does not get ready")

    def count_calls(self) -> int:
        """Return how many calls its workers took."""
        status = self.read_status()
        return int(str(status["calls"])) if status else 0

    def call(
        self, *arguments: str, stdin: bytes = b"", **options: str
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a command line that the warm process may serve; options are variables."""
        return run_call(self.environ | options, *arguments, stdin=stdin)

    def call_cold(
        self, *arguments: str, stdin: bytes = b""
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run the same command line in a process of its own."""
        return run_call(self.environ | {"KEBAB_DAEMON_AUTO": "false"}, *arguments, stdin=stdin)


def run_call(
    environ: Mapping[str, str], *arguments: str, stdin: bytes = b""
) -> "subprocess.CompletedProcess[bytes]":
    """Run a command line in a new process."""
    line = [sys.executable, "-m", "kebab", *arguments]
    return subprocess.run(
        line, env=dict(environ), input=stdin, capture_output=True, check=False, timeout=60
    )


@contextmanager
def start_warm_process(environ: Mapping[str, str]) -> Iterator[WarmProcess]:
    """Yield a warm process that is ready; afterwards it is gone."""
    with open_runtime_folder() as runtime:
        warm = WarmProcess(environ, runtime)
        try:
            warm.wait_until_idle()
            yield warm
        finally:
            warm.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                warm.process.wait(timeout=20)
            warm.process.kill()
            warm.process.wait()


@contextmanager
def open_runtime_folder() -> Iterator[Path]:
    """Yield a private folder whose path is short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="kw-", dir="/tmp" if os.path.isdir("/tmp") else None))  # noqa: PTH112 - pytest's folders are too long
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
