"""What kebab is compared with: small programs that run in the same interpreter, and `cp`."""

from pathlib import Path

from kebab.bench.bed import python
from kebab.bench.race import Command, Contestant, steady

PYTHON = "python -c pass"
CLICK = "import click"
ONNX = "onnxruntime alone"
DOT = "numpy dot product"
FTS = "SQLite FTS5 alone"
STAT = "stat of every file"
COPY = "cp of the same files"

_ONNX = """
import sys, numpy, onnxruntime, tokenizers
folder, text = sys.argv[1:]
ids = numpy.array([tokenizers.Tokenizer.from_file(folder + "/tokenizer.json").encode(text).ids])
session = onnxruntime.InferenceSession(folder + "/model.onnx", providers=["CPUExecutionProvider"])
given = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
wanted = [one.name for one in session.get_inputs()]
session.run(None, {name: given[name] for name in wanted})
"""
_PASSAGES = """
import json, sys, time, numpy, onnxruntime, tokenizers
from concurrent.futures import ThreadPoolExecutor
from kebab.bench.corpus import mixed_texts
folder, seed, count, threads = sys.argv[1], *map(int, sys.argv[2:])
tokenizer = tokenizers.Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.no_padding()
tokenizer.no_truncation()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(folder + "/model.onnx", options)
wanted = [one.name for one in session.get_inputs()]
output = [session.get_outputs()[0].name]
feeds = []
for one in tokenizer.encode_batch(mixed_texts(count, seed)):
    for start in range(0, len(one.ids), 256):
        ids = numpy.array([one.ids[start : start + 256]])
        given = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
        feeds.append({name: given[name] for name in wanted})
feeds.sort(key=lambda feed: -feed["input_ids"].size)
run = lambda feed: session.run(output, feed)
with ThreadPoolExecutor(threads) as pool:
    list(pool.map(run, feeds[-4:]))
    started = time.perf_counter()
    list(pool.map(run, feeds))
    print(json.dumps({"texts": count, "seconds": time.perf_counter() - started}))
"""
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
_FTS = """
import os, sys, apsw
base = apsw.Connection(sys.argv[2])
base.execute("CREATE VIRTUAL TABLE pages USING fts5(body)")
with base:
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            text = open(os.path.join(folder, name), encoding="utf-8").read()
            base.execute("INSERT INTO pages VALUES (?)", (text,))
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


def bare_python() -> Contestant:
    """Return the start of the interpreter."""
    return steady(PYTHON, python("pass"))


def import_click() -> Contestant:
    """Return the start of any program that uses click."""
    return steady(CLICK, python("import click"))


def raw_query(model: Path, texts: list[str]) -> Contestant:
    """Return the load of a model and the embedding of one text, without kebab."""
    return Contestant(name=ONNX, command=lambda turn: python(_ONNX, str(model), texts[turn]))


def raw_passages(model: Path, texts: tuple[int, int], threads: int) -> Command:
    """Return the model run on the tokens of texts (their seed and count), as fast as it runs."""
    return python(_PASSAGES, str(model), *map(str, texts), str(threads))


def dot_product(rows: int, dimension: int = 384) -> Command:
    """Return the search of a matrix in memory, told in milliseconds for each question."""
    return python(_DOT, str(rows), str(dimension))


def word_index(folder: Path, target: Path) -> Contestant:
    """Return what SQLite alone takes to index the words of whole files, one row each."""

    def command(turn: int) -> Command:
        return python(_FTS, str(folder), f"{target}-{turn}.db")

    return Contestant(name=FTS, command=command)


def stat_files(folder: Path) -> Contestant:
    """Return a look at every file of a folder."""
    return steady(STAT, python(_STAT, str(folder)))


def copy_files(folder: Path, target: Path) -> Contestant:
    """Return a copy of a folder, to another place in every turn."""

    def command(turn: int) -> Command:
        return ("cp", "-r", str(folder), f"{target}-{turn}")

    return Contestant(name=COPY, command=command)
