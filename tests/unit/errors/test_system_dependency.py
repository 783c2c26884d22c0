import sys

import pytest

from kebab.errors import system
from kebab.errors.catalog import DependencyMissing
from kebab.errors.system import (
    build_import_error,
    format_install,
    translate_import_errors,
)


def test_a_missing_library_hints_at_installing(monkeypatch):
    monkeypatch.setitem(sys.modules, "apsw", None)

    with pytest.raises(DependencyMissing) as caught, translate_import_errors("the index", "apsw"):
        import apsw  # noqa: F401

    install = "pip install apsw"
    assert caught.value.details() == {
        "feature": "the index",
        "install": install,
        "program": None,
        "cause": None,
    }
    assert caught.value.format_hint() == "pip install apsw"
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize(
    "fault",
    [
        ImportError("libonnx.so.1: cannot open shared object file", name="onnxruntime"),
        OSError("libgomp.so.1: cannot open shared object file"),
    ],
)
def test_a_broken_library_hints_at_reinstalling(fault):
    with (
        pytest.raises(DependencyMissing) as caught,
        translate_import_errors("embedding", "onnxruntime"),
    ):
        raise fault

    assert caught.value.install == "pip install --force-reinstall onnxruntime"


@pytest.mark.parametrize("path", ["", "/nowhere"])
def test_the_command_calls_the_pip_of_this_interpreter(monkeypatch, path):
    monkeypatch.setenv("PATH", path)

    assert format_install("kebab", ["code", "pdf"]) == (
        f"{sys.executable} -m pip install 'kebab[code,pdf]'"
    )


def test_an_unexpected_failed_import_names_the_library():
    signal = build_import_error(ModuleNotFoundError("text", name="platformdirs.unix"))

    assert isinstance(signal, DependencyMissing)
    assert (signal.feature, signal.install) == ("platformdirs", "pip install platformdirs")


def test_an_interrupted_import_is_an_interruption(monkeypatch):
    attempts = []

    def interrupt(name):
        attempts.append(name)
        raise ImportError("initialization failed", name=name) from KeyboardInterrupt()

    monkeypatch.setattr(system, "import_module", interrupt)
    with pytest.raises(KeyboardInterrupt):
        system.import_library("onnxruntime", "embedding", "onnxruntime")

    assert len(attempts) == 1


def test_an_import_that_would_end_the_process_is_refused(monkeypatch):
    monkeypatch.setattr(system, "read_memory_limit", lambda: 1)

    monkeypatch.setattr(system, "read_address_space", lambda: 1)
    with pytest.raises(ImportError, match="cannot allocate memory"):
        system._AddressSpaceGuard.find_spec("numpy")
    assert system._AddressSpaceGuard.find_spec("json") is None
