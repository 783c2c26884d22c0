"""Measures the processes and the folders of a home: memory, descriptors, threads, files, logs.

A measurement is a number under a name such as `http MB` or `data files`; the last word is its unit.
Processes are read from `/proc`, and the processes of one kind count together.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tools.surfaces.servers import list_processes

_KB, _MB = 1024, 1024 * 1024
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_KINDS = {"watch": "watch", "serve": "http", "kebab mcp": "mcp"}
"""The kinds of processes by a part of their command lines, the first that fits."""
_DESCRIPTORS = {"socket": "sockets", "pipe": "pipes", "anon_inode": "handles"}
"""The kinds of descriptors by the begin of what they lead to; all others are files."""


def list_servers(home: Path) -> dict[int, str]:
    """Return the kinds of the processes of a home that stay, by their ids."""
    kinds = {
        process: next((name for part, name in _KINDS.items() if part in words), "")
        for process, words in list_processes(home).items()
    }
    return {process: kind for process, kind in kinds.items() if kind}


def measure_processes(servers: Mapping[int, str]) -> dict[str, float]:
    """Return memory, threads, mapped files and descriptors of the processes by their kinds."""
    totals: Counter[str] = Counter()
    for process, kind in servers.items():
        totals[f"{kind} processes"] += 1
        for name, value in _measure_process(Path("/proc") / str(process)):
            totals[f"{kind} {name}"] += value  # type: ignore[assignment]
    return dict(totals)


def measure_memory(home: Path) -> dict[str, float]:
    """Return the memory of the servers of a home in MB, by their kinds."""
    found = measure_processes(list_servers(home)).items()
    return {name.removesuffix(" MB"): size for name, size in found if name.endswith(" MB")}


def _measure_process(folder: Path) -> Iterator[tuple[str, float]]:
    """Yield the measurements of a process; one that has ended has fewer or none.

    Shared pages count in proportion.
    """
    with suppress(OSError):
        for line in (folder / "smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                yield "MB", int(line.split()[1]) / _KB
        yield "threads", len([*(folder / "task").iterdir()])
        maps = (folder / "maps").read_text(encoding="utf-8", errors="replace").splitlines()
        yield "maps", len(maps)
        for link in (folder / "fd").iterdir():
            with suppress(FileNotFoundError):
                target = str(link.readlink())
                yield _DESCRIPTORS.get(target.partition(":")[0], "files"), 1
