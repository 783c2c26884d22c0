"""A Ray cluster of two nodes on this machine; each node is a process group that can be killed."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_ATTEMPTS = 3
_NODE = (
    *("--num-cpus=1", "--object-store-memory=150000000", "--block"),
    *("--disable-usage-stats", "--include-log-monitor=false"),
)


class RayNodes:
    """Starts the head and further nodes, and finds their processes."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"127.0.0.1:{port}"
        # The name of a socket has at most 107 characters, and Ray needs 60 below its folder.
        self._folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        self._nodes: list[subprocess.Popen[bytes]] = []
        self.environment = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        """What a client of the cluster needs in its environment."""
        head = (
            "--head",
            f"--port={port}",
            "--include-dashboard=false",
            "--no-monitor",
            f"--temp-dir={self._folder}",
        )
        # Ray gives ports from 10002 on to its processes, unless it is told others.
        self._start(*head, "--min-worker-port=0", "--max-worker-port=0")

    def _start(self, *arguments: str) -> None:
        program = [sys.executable, "-m", "ray.scripts.scripts", "start", *arguments, *_NODE]
        # Ray lets its processes give way to all others, which would starve them beside tests.
        environment = {**os.environ, **self.environment, "RAY_worker_niceness": "0"}
        log = self._folder / f"node-{len(self._nodes)}.log"
        for _ in range(_ATTEMPTS):  # on a busy machine Ray gives up after a minute
            with log.open("wb") as file:
                self._nodes.append(
                    subprocess.Popen(
                        program, env=environment, stdout=file, stderr=file, start_new_session=True
                    )
                )
            while self._nodes[-1].poll() is None:
                if "Ray runtime started" in log.read_text(errors="replace"):
                    return
                time.sleep(0.1)
            self._kill(self._nodes.pop())
        raise RuntimeError(f"the node does not start: {log.read_text(errors='replace')}")

    def add_node(self) -> None:
        """Start a further node with one core."""
        ports = ("--min-worker-port=0", "--max-worker-port=0")
        self._start(f"--address={self.address}", *ports)

    def kill_node(self) -> None:
        """Kill all processes of the node that was started last."""
        self._kill(self._nodes.pop())

    def list_workers(self, name: str = "ray::run_batch") -> list[int]:
        """Return the processes of the nodes that run the work of a job."""
        groups = {node.pid for node in self._nodes}
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                command = (folder / "cmdline").read_bytes().decode(errors="replace")
                if command.startswith(name) and os.getsid(int(folder.name)) in groups:
                    found.append(int(folder.name))
        return found

    def _kill(self, node: "subprocess.Popen[bytes]") -> None:
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if os.getsid(int(folder.name)) == node.pid:
                    os.kill(int(folder.name), signal.SIGKILL)
        node.wait()

    def close(self) -> None:
        """Kill all nodes, and delete their folder."""
        while self._nodes:
            self.kill_node()
        shutil.rmtree(self._folder, ignore_errors=True)
