"""Measures the search for the nearest of many vectors: all compared, and by the binary index.

    python -m tools.bench.nearest DATA_DIR QUERIES.npy --sizes 100k,1m [--engine IVF_RQ]

The vectors of a knowledge base are real; more of them are made by moving real ones along half the
difference of two others. QUERIES has unit vectors of questions. Each figure comes from a process
of its own that does what one search does: the nearest 1,032, the cosines of 1,000 hits by words,
the background. `--engine` measures an index of LanceDB on the same vectors too.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kebab.app.context import parse_dimension
from kebab.config.tuning import limit_blas_threads
from kebab.core.documents import VectorRow
from kebab.core.ids import ChunkId, DocId, Key
from kebab.store.lance.key_file import get_tables_folder
from kebab.store.lance.vectors import LanceVectors, MappedVectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kebab.core.chunks import Matrix

_SIZES = {"k": 1000, "m": 1_000_000}
_ROWS, _STRENGTH = 50_000, 0.5
_NEAREST, _BY_WORDS, _SHOWN = 1032, 1000, 10


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def load_vectors(data_dir: Path) -> "tuple[str, Matrix]":
    """Return the embedding version and the vectors of a knowledge base."""
    version = next(get_tables_folder(data_dir).glob("*.lance")).stem
    vectors = MappedVectors(data_dir, version, parse_dimension(version))
    index = vectors.load_index()
    assert index is not None, "the knowledge base has vectors"
    keys = LanceVectors(data_dir, version, parse_dimension(version)).list_keys()
    found = index.get([Key(key) for key in keys])
    return version, np.array(list(found.values()))


def multiply(real: "Matrix", size: int) -> "Iterator[Matrix]":
    """Yield the real vectors and moved ones, in parts, until there are `size`."""
    random = np.random.default_rng(0)
    for start in range(0, size, _ROWS):
        count = min(_ROWS, size - start)
        whole = real[start : start + count]
        one, other, third = random.integers(0, len(real), (3, count - len(whole)))
        moved = real[one] + _STRENGTH * (real[other] - real[third])
        moved /= np.linalg.norm(moved, axis=1, keepdims=True)
        yield np.concatenate([whole, moved])


def fill(folder: Path, version: str, real: "Matrix", size: int) -> LanceVectors:
    """Write an index of some size, without a binary index."""
    vectors, key = LanceVectors(folder, version, real.shape[1], approximate_from=1), 1
    for part in multiply(real, size):
        rows = [
            VectorRow(Key(number), ChunkId(f"{number:032x}"), DocId(f"{number:032x}"), row)
            for number, row in enumerate(part, key)
        ]
        vectors.append(rows)
        key += len(rows)
    return vectors


def drop_cache(folder: Path) -> None:
    """Let the system forget the files of a folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(arguments: list[str]) -> None:
    """Print the figures of this process: its first search and the median of more."""
    folder, version, name, repeats = Path(arguments[0]), *arguments[1:3], int(arguments[3])
    queries = np.load(name).astype(np.float32)
    words = [Key(int(one)) for one in np.random.default_rng(1).integers(1, 100_000, _BY_WORDS)]
    times: list[tuple[float, float]] = []
    found = []
    before = _read_figure("io", "read_bytes:")
    vectors: MappedVectors | None = None
    for query in queries[: repeats + 1]:
        started, used = time.perf_counter(), time.process_time()
        if vectors is None:
            vectors = MappedVectors(folder, version, queries.shape[1])
        found.append([int(key) for key, _ in vectors.find_nearest(query, _NEAREST)])
        vectors.compute_cosines(query, words)
        vectors.measure_background(query)
        times.append((time.perf_counter() - started, time.process_time() - used))
    rest = np.median(times[1:] or times, axis=0)
    figures = {
        "cold_wall_ms": times[0][0] * 1000,
        "cold_cpu_ms": times[0][1] * 1000,
        "warm_wall_ms": rest[0] * 1000,
        "warm_cpu_ms": rest[1] * 1000,
        "memory_mb": _read_figure("status", "VmHWM:") / 1024,
        "read_mb": (_read_figure("io", "read_bytes:") - before) / 1e6,
    }
    print(json.dumps({"figures": figures, "found": found}))  # noqa: T201 - the parent reads it


def _read_figure(file: str, name: str) -> int:
    """Return what the system says of this process."""
    lines = Path(f"/proc/self/{file}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def _run(folder: Path, version: str, queries: str, repeats: int) -> Any:
    command = [sys.executable, "-m", "tools.bench.nearest", "--measure", str(folder), version]
    command += [queries, str(repeats)]
    result = subprocess.run(command, capture_output=True, check=True)  # noqa: S603
    return json.loads(result.stdout)


def measure_size(folder: Path, version: str, queries: str, label: str) -> list[list[int]]:
    """Print the figures of one way to search; return what the queries found."""
    figures = _run(folder, version, queries, 60)
    once = _run(folder, version, queries, 0)["figures"]
    drop_cache(folder)
    first = _run(folder, version, queries, 0)["figures"]
    shown = {name: round(value, 1) for name, value in figures["figures"].items()}
    shown |= {"memory_mb": round(once["memory_mb"]), "warm_memory_mb": shown["memory_mb"]}
    shown |= {"disk_wall_ms": round(first["cold_wall_ms"]), "read_mb": round(first["read_mb"], 1)}
    _print(f"{label}: {shown}")
    found: list[list[int]] = figures["found"]
    return found


def compute_recall(found: list[list[int]], exact: list[list[int]], limit: int) -> float:
    """Return the share of the exact nearest that were found."""
    pairs = [
        (set(one[:limit]), set(other[:limit])) for one, other in zip(found, exact, strict=True)
    ]
    return sum(len(one & other) for one, other in pairs) / sum(len(other) for _, other in pairs)


def measure_engine(
    folder: Path, version: str, queries: str, kind: str, exact: list[list[int]]
) -> None:
    """Print the figures of an index of LanceDB, in this process."""
    started = time.process_time()
    import lancedb

    imported, started = time.process_time() - started, time.process_time()
    table = lancedb.connect(get_tables_folder(folder)).open_table(version)
    table.create_index(vector_column_name="vector", metric="dot", index_type=kind)
    built = time.process_time() - started
    for limit in (_SHOWN, _NEAREST):
        found, started = [], time.process_time()
        for query in np.load(queries).astype(np.float32)[: len(exact)]:
            near = table.search(query, vector_column_name="vector").distance_type("dot")
            rows = near.refine_factor(2).select(["key", "_distance"]).limit(limit).to_arrow()
            found.append(rows["key"].to_pylist())
        used = (time.process_time() - started) / len(exact) * 1000
        recall = compute_recall(found, exact, limit)
        _print(
            f"  {kind} of LanceDB: import {imported:.1f} s, built {built:.1f} s of processor,"
            f" nearest {limit}: {used:.1f} ms of processor, recall {recall:.4f}",
        )


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("queries")
    parser.add_argument("--sizes", default="100k,300k,1m")
    parser.add_argument("--engine")
    given = parser.parse_args()
    limit_blas_threads()
    version, real = load_vectors(given.data_dir)
    _print(f"{len(real):,} real vectors of {version}, load {os.getloadavg()[0]:.0f}")
    for text in given.sizes.split(","):
        size = int(text[:-1]) * _SIZES[text[-1]]
        with tempfile.TemporaryDirectory(prefix="kebab-nearest-") as name:
            folder = Path(name)
            vectors = fill(folder, version, real, size)
            exact = measure_size(folder, version, given.queries, f"{text} all compared")
            started = time.perf_counter(), time.process_time()
            vectors.maintain()
            wall, used = time.perf_counter() - started[0], time.process_time() - started[1]
            bytes_ = sum(path.stat().st_size for path in folder.rglob("*.binary"))
            _print(f"  built in {wall:.1f} s, {used:.1f} s of processor, {bytes_ / 1e6:.0f} MB")
            found = measure_size(folder, version, given.queries, f"{text} by the binary index")
            ten, all_ = (compute_recall(found, exact, limit) for limit in (_SHOWN, _NEAREST))
            _print(f"  recall@10 {ten:.4f}, of {_NEAREST:,} {all_:.4f}")
            if given.engine:
                measure_engine(folder, version, given.queries, given.engine, exact)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2:])
    else:
        main()
