"""Starts servers in a home of their own, and lists the processes of a home."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.surfaces.clients import HttpClient

_STOP_S = 20.0


@contextmanager
def run_server(
    arguments: tuple[str, ...], environment: Mapping[str, str], folder: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    """Yield a kebab that runs until the context ends; its standard error is a pipe."""
    process = subprocess.Popen(  # noqa: S603 - the program is kebab
        [sys.executable, "-m", "kebab", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=dict(environment),
        cwd=folder,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stderr is not None
        told = process.stderr.read()
        process.stderr.close()
    if b"Traceback" in told:
        raise RuntimeError(told.decode(errors="replace")[-2_000:])


@contextmanager
def run_http_server(
    environment: Mapping[str, str], folder: Path, *, allow_write: bool = True
) -> Iterator[HttpClient]:
    """Yield a client of an HTTP server."""
    writes = ("--allow-write",) if allow_write else ()
    arguments = ("serve", "--port", "0", *writes, "--json")
    with run_server(arguments, environment, folder) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        started = json.loads(line or b"{}")
        if "url" not in started:
            raise RuntimeError(f"the HTTP server did not start: {line!r}")
        token = Path(started["token_path"]).read_text(encoding="utf-8").strip()
        client = HttpClient(started["url"], token)
        try:
            yield client
        finally:
            client.close()


def list_processes(home: Path) -> dict[int, str]:
    """Return the command lines of the processes of a home by their ids, where `/proc` exists."""
    wanted = f"HOME={home}\0".encode()
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes() + b"\0":
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = words.decode(errors="replace").strip()
    found.pop(os.getpid(), None)
    return found


def count_descriptors(home: Path) -> int:
    """Return the number of open descriptors of the processes of a home, where `/proc` exists."""
    count = 0
    for process in list_processes(home):
        with suppress(OSError):
            count += len(os.listdir(f"/proc/{process}/fd"))  # noqa: PTH208 - names only
    return count
