import inspect

import lance_namespace.errors
import lancedb.exceptions
import lancedb.remote.errors
import pyarrow.lib
import pytest

from kebab.errors.catalog import DependencyMissing, IoError, Locked, StoreCorrupt
from kebab.errors.system import translate_import_errors
from kebab.store.lance.errors import (
    build_signal,
    build_signal_table,
    translate_lance_errors,
)

FOREIGN = {
    value
    for module in (
        lancedb.exceptions,
        lancedb.remote.errors,
        lance_namespace.errors,
        pyarrow.lib,
    )
    for value in vars(module).values()
    if inspect.isclass(value) and issubclass(value, Exception)
} - {pyarrow.lib.QueueEmpty}  # Python's own, which Arrow catches


@pytest.mark.parametrize("foreign", sorted(FOREIGN, key=repr), ids=repr)
def test_every_exception_of_the_libraries_has_a_meaning(foreign):
    assert any(ancestor in build_signal_table() for ancestor in foreign.__mro__)


@pytest.mark.parametrize(
    ("error", "signal"),
    [
        (RuntimeError("lance error: LanceError(IO): failed to fill whole buffer"), StoreCorrupt),
        (RuntimeError("lance error: Retryable commit conflict for version 3"), Locked),
        (RuntimeError("LanceError(IO): No space left on device (os error 28)"), IoError),
        (ValueError("Table 'x' was not found"), StoreCorrupt),
        (PermissionError("Permission denied"), IoError),
        (MemoryError(), IoError),
        (pyarrow.lib.ArrowMemoryError("malloc failed"), IoError),
        (pyarrow.lib.ArrowInvalid("bad"), StoreCorrupt),
        (pyarrow.lib.ArrowCapacityError("bad"), StoreCorrupt),
    ],
    ids=repr,
)
def test_an_exception_becomes_its_signal_and_stays_the_cause(error, signal):
    with pytest.raises(signal) as caught, translate_lance_errors("/data/lance/x.lance", "write"):
        raise error
    assert caught.value.path == "/data/lance/x.lance"
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("module", ["pyo3_runtime", "pyo3_async_runtimes"])
def test_a_panic_of_the_engine_is_a_damaged_table(module):
    panic = type("PanicException", (BaseException,), {"__module__": module})
    with (
        pytest.raises(StoreCorrupt) as caught,
        translate_lance_errors("/data/lance/x.lance", "read"),
    ):
        raise panic("range end index 4 out of range\nstack")

    assert caught.value.cause == "range end index 4 out of range"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, TypeError])
def test_other_exceptions_pass(kind):
    with pytest.raises(kind), translate_lance_errors("p", "read"):
        raise kind


def test_an_exception_that_only_a_bug_raises_passes_unchanged():
    with pytest.raises(pyarrow.lib.ArrowTypeError), translate_lance_errors("p", "read"):
        raise pyarrow.lib.ArrowTypeError("text")


def test_only_the_first_line_of_a_cause_is_reported():
    signal = build_signal(ValueError("what happened\nbacktrace"), "p", "read")
    assert isinstance(signal, StoreCorrupt)
    assert signal.cause == "what happened"


def test_a_missing_library_is_reported_as_such():
    with (
        pytest.raises(DependencyMissing),
        translate_lance_errors("p", "read"),
        translate_import_errors("vectors", "lancedb"),
    ):
        raise ModuleNotFoundError("text", name="lancedb")
