"""What kebab is compared with: small programs that run in the same interpreter, and `cp`."""

from pathlib import Path

from kebab.bench.bed import python
from kebab.bench.race import Command, Contestant, steady

PYTHON = "python -c pass"
CLICK = "import click"
ONNX = "onnxruntime alone"
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


def stat_files(folder: Path) -> Contestant:
    """Return a look at every file of a folder."""
    return steady(STAT, python(_STAT, str(folder)))


def copy_files(folder: Path, target: Path) -> Contestant:
    """Return a copy of a folder, to another place in every turn."""

    def command(turn: int) -> Command:
        return ("cp", "-r", str(folder), f"{target}-{turn}")

    return Contestant(name=COPY, command=command)
