import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as state
from tokenizers import Tokenizer

from kebab.embed import registry
from kebab.embed.onnx_embedder import Encoder, normalise, translate_model_errors
from kebab.embed.registry import MINILM
from kebab.errors.catalog import EmbeddingUnavailable
from tests.fakes import tiny_model

IDS = [2, 7, 8, 9, 3]


@pytest.fixture
def directory(tmp_path):
    return tiny_model.install_model(MINILM, tmp_path)


def damage(directory):
    path = directory / registry.MODEL_FILE
    path.write_bytes(b"\xff" * path.stat().st_size)


def test_a_cut_model_is_a_signal(directory):
    path = directory / registry.MODEL_FILE
    path.write_bytes(path.read_bytes()[:100])

    with pytest.raises(EmbeddingUnavailable, match="missing or incomplete"):
        Encoder(directory, MINILM).load()


def test_ids_outside_of_the_vocabulary_are_a_signal_and_print_nothing(directory, capfd):
    with pytest.raises(EmbeddingUnavailable):
        Encoder(directory, MINILM).embed([2, 999_999, 3])

    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_vector_without_direction_is_refused(value):
    with np.errstate(invalid="ignore"), pytest.raises(FloatingPointError, match="no direction"):
        normalise(np.full(3, value))


def test_the_runtime_writes_no_telemetry(tmp_path):
    program = "import kebab.embed.onnx_embedder, onnxruntime"
    environment = {
        name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"
    }
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", program], env=environment | home, check=True)

    assert list(tmp_path.rglob("*onnxruntime*")) == []


def test_an_error_while_preparing_is_raised_at_the_first_use_of_the_model(directory):
    damage(directory)
    encoder = Encoder(directory, MINILM)
    encoder.prepare()

    with pytest.raises(EmbeddingUnavailable, match="the runtime failed"):
        encoder.embed(IDS)


RAISED = {
    name: kind
    for name, kind in vars(state).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}


@pytest.mark.parametrize("name", sorted(RAISED))
def test_every_exception_of_the_runtime_becomes_the_signal(name):
    with (
        pytest.raises(EmbeddingUnavailable) as caught,
        translate_model_errors("a model", Path("a place")),
    ):
        raise RAISED[name]("words of the runtime")

    assert caught.value.model == "a model"
    assert caught.value.tried == ["a place"]
    assert caught.value.cause == "the runtime failed; words of the runtime"


def test_a_lack_of_memory_becomes_the_signal():
    with (
        pytest.raises(EmbeddingUnavailable) as caught,
        translate_model_errors("a model", Path("a place")),
    ):
        np.empty(1 << 58, np.int64)

    assert caught.value.cause == "out of memory"


def test_what_a_tokenizer_raises_becomes_the_signal():
    with (
        pytest.raises(EmbeddingUnavailable) as caught,
        translate_model_errors("a model", Path("a place")),
    ):
        Tokenizer.from_str("{}")

    assert caught.value.cause.startswith("the tokenizer failed; ")


@pytest.mark.parametrize("kind", [ZeroDivisionError, RecursionError, KeyboardInterrupt])
def test_other_exceptions_pass(kind):
    with pytest.raises(kind), translate_model_errors("a model", Path("a place")):
        raise kind
