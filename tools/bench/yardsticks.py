"""Yardsticks of the developer benchmarks: small programs in the same interpreter."""

import sys
from copy import copy
from pathlib import Path

from kebab.bench.sandbox import (
    TIMES,
    Budget,
    Candidate,
    Command,
    Sandbox,
    build_python_command,
    build_repeated_candidate,
)

DOT = "numpy dot product"
FTS = "SQLite FTS5 alone"
STAT = "stat of every file"

_DOT = """
import json, sys, time, numpy
dice = numpy.random.default_rng(1)
matrix = dice.standard_normal((int(sys.argv[1]), int(sys.argv[2])), numpy.float32)
found = []
for query in dice.standard_normal((35, matrix.shape[1]), numpy.float32):
    started = time.perf_counter()
    scores = matrix @ query
    numpy.argpartition(scores, -min(10, len(scores)))
    found.append((time.perf_counter() - started) * 1000)
print(json.dumps({"ms": found[5:]}))
"""
WRITE_FTS = """
import os, sys, apsw
base = apsw.Connection(sys.argv[2])
base.execute("CREATE VIRTUAL TABLE pages USING fts5(body)")
with base:
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            text = open(os.path.join(folder, name), encoding="utf-8").read()
            base.execute("INSERT INTO pages VALUES (?)", (text,))
"""
SEARCH_FTS = """
import sys, apsw
base = apsw.Connection(sys.argv[2])
words = " OR ".join(sys.argv[1].split())
found = base.execute("SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT 10", (words,))
print(len(found.fetchall()))
"""
WRITE_TANTIVY = """
import os, sys, tantivy
schema = tantivy.SchemaBuilder().add_text_field("body", stored=True).build()
os.mkdir(sys.argv[2])
writer = tantivy.Index(schema, sys.argv[2]).writer(heap_size=128_000_000)
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        text = open(os.path.join(folder, name), encoding="utf-8").read()
        writer.add_document(tantivy.Document(body=text))
writer.commit()
writer.wait_merging_threads()
"""
SEARCH_TANTIVY = """
import sys, tantivy
index = tantivy.Index.open(sys.argv[2])
print(len(index.searcher().search(index.parse_query(sys.argv[1], ["body"]), 10).hits))
"""
_STAT = """
import os, sys
waiting = [sys.argv[1]]
while waiting:
    for entry in os.scandir(waiting.pop()):
        entry.stat()
        if entry.is_dir():
            waiting.append(entry.path)
"""


def multiply_matrix(rows: int, dimension: int = 384) -> Command:
    """Return the command that searches a matrix in memory and prints milliseconds per question."""
    return build_python_command(_DOT, str(rows), str(dimension))


def index_words(folder: Path, target: Path) -> Candidate:
    """Return a candidate in which SQLite alone indexes the words of files, one row each."""

    def build_command(turn: int) -> Command:
        return build_python_command(WRITE_FTS, str(folder), f"{target}-{turn}.db")

    return Candidate(name=FTS, build_command=build_command)


def stat_files(folder: Path) -> Candidate:
    """Return a candidate that looks up the size and time of every file of a folder."""
    return build_repeated_candidate(STAT, build_python_command(_STAT, str(folder)))


def build_module_command(name: str, *arguments: str) -> Command:
    """Return the command that runs a module in this interpreter."""
    return (sys.executable, "-m", name, *arguments)


def require_ratio(limit: float) -> Budget:
    """Return a budget for a ratio that must not be lower."""
    return Budget(limit, TIMES, at_least=True)


def add_variables(sandbox: Sandbox, **variables: str) -> Sandbox:
    """Return the same knowledge base with further environment variables."""
    other = copy(sandbox)
    other.environment = {**sandbox.environment, **variables}
    return other
