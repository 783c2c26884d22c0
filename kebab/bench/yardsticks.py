"""Yardsticks for kebab: small programs in the same interpreter, and `cp`."""

from pathlib import Path

from kebab.bench.interleave import Candidate, build_repeated_candidate
from kebab.bench.sandbox import Command, build_python_command

PYTHON = "python -c pass"
CLICK = "import click"
ONNX = "onnxruntime alone"
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
from kebab.bench.corpus import build_mixed_texts
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
for one in tokenizer.encode_batch(build_mixed_texts(count, seed)):
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


def build_python_candidate() -> Candidate:
    """Return a candidate that starts the interpreter."""
    return build_repeated_candidate(PYTHON, build_python_command("pass"))


def build_click_candidate() -> Candidate:
    """Return a candidate that starts a program with click."""
    return build_repeated_candidate(CLICK, build_python_command("import click"))


def build_question_candidate(model: Path, texts: list[str]) -> Candidate:
    """Return a candidate that loads a model and embeds one text without kebab."""

    def build_command(turn: int) -> Command:
        return build_python_command(_ONNX, str(model), texts[turn])

    return Candidate(name=ONNX, build_command=build_command)


def build_passages_command(model: Path, texts: tuple[int, int], threads: int) -> Command:
    """Return the command that runs the model alone on texts, given by their seed and count."""
    return build_python_command(_PASSAGES, str(model), *map(str, texts), str(threads))


def build_copy_candidate(folder: Path, target: Path) -> Candidate:
    """Return a candidate that copies a folder to another folder in every turn."""

    def build_command(turn: int) -> Command:
        return ("cp", "-r", str(folder), f"{target}-{turn}")

    return Candidate(name=COPY, build_command=build_command)
