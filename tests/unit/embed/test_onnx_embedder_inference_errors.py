import numpy as np
import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as state
from tokenizers import Tokenizer

from kebab.embed.model_tokenizer import translate_tokenizer_errors
from kebab.embed.onnx_embedder import RUNTIME_CAUSES, translate_runtime_errors
from kebab.errors.catalog import EmbeddingUnavailable

RAISED = {
    name: kind
    for name, kind in vars(state).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}


def test_the_table_names_every_exception_of_the_runtime():
    assert set(RUNTIME_CAUSES) == set(RAISED)


@pytest.mark.parametrize("name", sorted(RAISED))
def test_every_exception_becomes_the_signal(name):
    with (
        pytest.raises(EmbeddingUnavailable) as caught,
        translate_runtime_errors("a model", "a place"),
    ):
        raise RAISED[name]("words of the runtime")

    assert caught.value.model == "a model"
    assert caught.value.tried == ["a place"]
    assert caught.value.cause == f"{RUNTIME_CAUSES[name]}; words of the runtime"


def test_what_the_binding_does_not_know_becomes_the_signal():
    with (
        pytest.raises(EmbeddingUnavailable) as caught,
        translate_runtime_errors("a model", "a place"),
    ):
        raise RuntimeError("bad cast")

    assert caught.value.cause == "the runtime failed; bad cast"


@pytest.mark.parametrize("inside", [translate_runtime_errors, translate_tokenizer_errors])
def test_a_lack_of_memory_becomes_the_signal(inside):
    with pytest.raises(EmbeddingUnavailable) as caught, inside("a model", "a place"):
        np.empty(1 << 58, np.int64)

    assert caught.value.cause == "out of memory"


def test_what_a_tokenizer_raises_becomes_the_signal():
    with (
        pytest.raises(EmbeddingUnavailable) as caught,
        translate_tokenizer_errors("a model", "a place"),
    ):
        Tokenizer.from_str("{}")

    assert caught.value.cause.startswith("the tokenizer failed; ")


@pytest.mark.parametrize("inside", [translate_runtime_errors, translate_tokenizer_errors])
@pytest.mark.parametrize("kind", [ZeroDivisionError, RecursionError, KeyboardInterrupt])
def test_other_exceptions_pass(inside, kind):
    with pytest.raises(kind), inside("a model", "a place"):
        raise kind
