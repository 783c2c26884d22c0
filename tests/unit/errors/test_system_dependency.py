import sys

import pytest

from kebab.errors.catalog import DependencyMissing
from kebab.errors.system import build_import_error, translate_import_errors


def test_a_library_that_is_not_there_is_to_be_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "apsw", None)

    with pytest.raises(DependencyMissing) as caught, translate_import_errors("the index", "apsw"):
        import apsw  # noqa: F401

    assert caught.value.details() == {"feature": "the index", "install": "pip install apsw"}
    assert caught.value.format_hint() == "pip install apsw"
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize(
    "fault",
    [
        ImportError("libonnx.so.1: cannot open shared object file", name="onnxruntime"),
        OSError("libgomp.so.1: cannot open shared object file"),
    ],
    ids=repr,
)
def test_a_library_that_is_broken_is_to_be_installed_anew(fault):
    with (
        pytest.raises(DependencyMissing) as caught,
        translate_import_errors("embedding", "onnxruntime"),
    ):
        raise fault

    assert caught.value.install == "pip install --force-reinstall onnxruntime"


def test_other_faults_of_a_library_stay_themselves():
    with pytest.raises(ZeroDivisionError), translate_import_errors("embedding", "onnxruntime"):
        raise ZeroDivisionError


def test_an_import_that_nobody_prepared_for_names_the_library():
    signal = build_import_error(ModuleNotFoundError("text", name="platformdirs.unix"))

    assert signal is not None
    assert signal.details() == {"feature": "platformdirs", "install": "pip install platformdirs"}


@pytest.mark.parametrize("name", [None, "kebab.cli.nowhere", "readline"])
def test_an_import_that_is_our_own_fault_means_no_library(name):
    assert build_import_error(ImportError("text", name=name)) is None
