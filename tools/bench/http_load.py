"""Loads an HTTP server with concurrent clients, and reports errors, latencies and memory.

Run from a checkout: `python -m tools.bench.http_load --clients 50 --seconds 60`. Without `--url` it
starts a server over the knowledge base of the settings.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from urllib.parse import urlsplit

_SEED = 7
_WORDS = (
    "backup",
    "restore",
    "sourdough",
    "password",
    "index",
    "meeting",
    "server",
    "배포",
    "검색",
)
_MODES = ("lexical", "hybrid")
_START_S = 30.0
_WARM_UP_S = 3.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Load:
    """What the clients saw."""

    latencies: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)

    def count_errors(self) -> int:
        """Return the number of requests without an answer of status 200."""
        return sum(self.statuses.values()) - self.statuses["200"]

    def find_percentile(self, share: float) -> float:
        """Return the latency in milliseconds that this share of the answers does not exceed."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


def build_body(chance: random.Random) -> bytes:
    """Return a request that is rarely the same twice."""
    query = " ".join(chance.sample(_WORDS, chance.randint(1, 3)))
    suffix = f" {chance.randint(0, 200)}"
    request = {
        "query": query + suffix,
        "mode": chance.choice(_MODES),
        "limit": chance.randint(1, 20),
    }
    return json.dumps(request).encode()


async def run_client(url: str, token: str, until: float, load: Load, seed: int) -> None:
    """Send one request after the other on one connection until a moment."""
    place = urlsplit(url)
    chance = random.Random(seed)  # noqa: S311 - no secret
    writer = None
    try:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        while time.monotonic() < until:
            body = build_body(chance)
            started = time.monotonic()
            writer.write(_build_head(place.netloc, token, len(body)) + body)
            status = await _read_status(reader)
            load.latencies.append(time.monotonic() - started)
            load.statuses[status] += 1
    except (OSError, EOFError) as fault:
        load.statuses[type(fault).__name__] += 1
    finally:
        if writer is not None:
            writer.close()


def _build_head(host: str, token: str, length: int) -> bytes:
    return (
        f"POST /v1/search HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


async def _read_status(reader: asyncio.StreamReader) -> str:
    """Read a response and return its status; a body that is no JSON is an error."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    reply = json.loads(await reader.readexactly(length))
    status = head.split(" ", 2)[1]
    found = reply["schema_version"]
    return status if status != "200" or found == "search_response.v1" else found


async def run_clients(url: str, token: str, clients: int, seconds: float) -> Load:
    """Run clients at the same time."""
    load, until = Load(), time.monotonic() + seconds
    await asyncio.gather(
        *(run_client(url, token, until, load, _SEED + number) for number in range(clients))
    )
    return load


def list_processes(pid: int) -> list[int]:
    """Return a process and those that it started."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    return [pid, *(int(one) for file in children for one in file.read_text().split())]


def read_memory_mb(pid: int) -> list[int]:
    """Return the memory of the server and its workers that no file backs: no mapped weights."""
    texts = [Path(f"/proc/{one}/status").read_text("utf-8") for one in list_processes(pid)]
    return [round(int(text.partition("RssAnon:")[2].split()[0]) / 1000) for text in texts]


def read_processor_s(pid: int) -> float:
    """Return the processor time of the server and its workers."""
    stats = [Path(f"/proc/{one}/stat").read_text("ascii") for one in list_processes(pid)]
    times = [text.rpartition(")")[2].split()[11:13] for text in stats]
    return sum(int(time) for pair in times for time in pair) / _TICKS


@contextmanager
def start_server(more: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Yield the URL, the token and the process id of a new server."""
    with tempfile.TemporaryDirectory() as state:
        environment = {**os.environ, "XDG_STATE_HOME": state, "KEBAB_DAEMON_AUTO": "false"}
        line = [
            sys.executable,
            "-m",
            "kebab",
            "serve",
            "--http",
            "127.0.0.1:0",
            "--json",
            *os.environ.get("FL", "").split(),
            *os.environ.get("FL", "").split(),
            *os.environ.get("FL", "").split(),
            *os.environ.get("FL", "").split(),
            *more,
        ]
        with Popen(line, env=environment, stderr=PIPE, stdout=DEVNULL, text=True) as process:  # noqa: S603 - our own program
            assert process.stderr is not None
            try:
                event = json.loads(process.stderr.readline())
                token = Path(event["token_path"]).read_text(encoding="ascii").strip()
                yield event["url"], token, process.pid
            finally:
                process.terminate()


def measure(url: str, token: str, pid: int, options: argparse.Namespace) -> dict[str, object]:
    """Return the figures of one run; a warm-up before it does not count."""
    asyncio.run(run_clients(url, token, options.clients, _WARM_UP_S))
    memory, processor = read_memory_mb(pid), read_processor_s(pid)
    load = asyncio.run(run_clients(url, token, options.clients, options.seconds))
    used = read_processor_s(pid) - processor
    p50, p99 = load.find_percentile(0.5), load.find_percentile(0.99)
    return {
        "requests": len(load.latencies),
        "errors": load.count_errors(),
        "statuses": dict(load.statuses),
        "per_second": round(len(load.latencies) / options.seconds, 1),
        "p50_ms": round(p50, 1),
        "p99_ms": round(p99, 1),
        "p99_to_p50": round(p99 / p50, 2) if p50 else None,
        "memory_mb": [memory, read_memory_mb(pid)],
        "processor_ms": round(1000 * used / max(len(load.latencies), 1), 2),
    }


def main(arguments: Sequence[str]) -> int:
    """Print the figures as JSON; return 1 when a request failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("serve", nargs="*", help="more flags of the server, after `--`")
    options = parser.parse_args(arguments)
    with start_server(options.serve) as (url, token, pid):
        figures = measure(url, token, pid, options)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    return 1 if figures["errors"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
