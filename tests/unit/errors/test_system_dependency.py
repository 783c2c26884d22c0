import os
import subprocess
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


def test_the_command_works_with_a_space_in_the_path(monkeypatch, tmp_path):
    folder = tmp_path / "my tools"
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    command = format_install("kebab", ["pdf"])

    done = subprocess.run(
        ["sh", "-c", f"echo {command}"], check=True, capture_output=True, text=True, env=os.environ
    )
    assert done.stdout.split("\n")[0] == f"{folder}/python -m pip install kebab[pdf]"


def test_an_unexpected_failed_import_names_the_library():
    signal = build_import_error(ModuleNotFoundError("text", name="platformdirs.unix"))

    assert isinstance(signal, DependencyMissing)
    assert (signal.feature, signal.install) == ("platformdirs", "pip install platformdirs")


@pytest.mark.parametrize("name", [None, "kebab.cli.nowhere", "readline"])
def test_a_failed_import_of_kebab_is_no_missing_library(name):
    assert build_import_error(ImportError("text", name=name)) is None


def test_a_library_that_is_just_being_replaced_is_imported_at_the_second_attempt(monkeypatch):
    attempts = []

    def import_later(name):
        attempts.append(name)
        if len(attempts) == 1:
            raise ImportError("the file is cut off", name=name)
        return "library"

    monkeypatch.setattr(system, "import_module", import_later)
    monkeypatch.setattr(system, "_IMPORT_RETRY_S", 0)

    assert system.import_library("onnxruntime", "embedding", "onnxruntime") == "library"
    assert attempts == ["onnxruntime", "onnxruntime"]


def test_the_cause_of_a_library_that_stays_broken_is_that_of_the_first_attempt(monkeypatch):
    causes = ["the file is cut off", "cannot load it twice"]

    def fail(name):
        raise ImportError(causes.pop(0), name=name)

    monkeypatch.setattr(system, "import_module", fail)
    monkeypatch.setattr(system, "_IMPORT_RETRY_S", 0)
    with pytest.raises(DependencyMissing) as caught:
        system.import_library("onnxruntime", "embedding", "onnxruntime")

    assert str(caught.value).endswith("embedding: the file is cut off")


@pytest.mark.parametrize(
    ("package", "attempts"), [("no-such-package", 1), ("pytest", 2)], ids=["absent", "installed"]
)
def test_a_library_that_is_not_installed_is_not_waited_for(monkeypatch, package, attempts):
    tried = []

    def fail(name):
        tried.append(name)
        raise ModuleNotFoundError("No module", name=name)

    monkeypatch.setattr(system, "import_module", fail)
    monkeypatch.setattr(system, "_IMPORT_RETRY_S", 0)
    with pytest.raises(DependencyMissing):
        system.import_library("library", "embedding", package)

    assert len(tried) == attempts


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

    with pytest.raises(ImportError, match="cannot allocate memory"):
        system._AddressSpaceGuard.find_spec("numpy")
    assert system._AddressSpaceGuard.find_spec("json") is None
