import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as state

from kebab.embed.faults import CAUSES, translated
from kebab.errors.catalog import EmbeddingUnavailable

RAISED = {
    name: kind
    for name, kind in vars(state).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}


def test_the_table_names_every_exception_of_the_runtime():
    assert set(CAUSES) == set(RAISED)


@pytest.mark.parametrize("name", sorted(RAISED))
def test_every_exception_becomes_the_signal(name):
    with pytest.raises(EmbeddingUnavailable) as caught, translated("a model", "a place"):
        raise RAISED[name]("words of the runtime")

    assert caught.value.model == "a model"
    assert caught.value.tried == ["a place"]
    assert caught.value.cause == f"{CAUSES[name]}; words of the runtime"


def test_other_exceptions_pass():
    with pytest.raises(ZeroDivisionError), translated("a model", "a place"):
        raise ZeroDivisionError
