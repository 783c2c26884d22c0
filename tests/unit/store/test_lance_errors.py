import inspect
import resource

import pyarrow.lib
import pytest

from kebab.errors.catalog import IoError, Locked, StoreCorrupt
from kebab.store.lance import build_signal, build_signal_table, translate_lance_errors


def test_every_exception_of_the_libraries_has_a_meaning():
    # Every process that collects tests would import them at the top.
    import lance_namespace.errors
    import lancedb.exceptions
    import lancedb.remote.errors

    found = {
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

    table = build_signal_table()
    assert len(found) > 40
    assert [one for one in found if not any(ancestor in table for ancestor in one.__mro__)] == []


@pytest.mark.parametrize(
    ("error", "signal"),
    [
        (RuntimeError("lance error: LanceError(IO): failed to fill whole buffer"), StoreCorrupt),
        (RuntimeError("lance error: Retryable commit conflict for version 3"), Locked),
        (RuntimeError("LanceError(IO): No space left on device (os error 28)"), IoError),
        (ValueError("Table 'x' was not found"), StoreCorrupt),
        (RuntimeError("LanceError(IO): Cannot allocate memory (os error 12)"), IoError),
        (RuntimeError("lance error: memory allocation of 512 bytes failed"), IoError),
        (PermissionError("Permission denied"), IoError),
        (MemoryError(), IoError),
        (pyarrow.lib.ArrowMemoryError("malloc failed"), IoError),
        (pyarrow.lib.ArrowInvalid("bad"), StoreCorrupt),
        (pyarrow.lib.ArrowCapacityError("bad"), StoreCorrupt),
    ],
)
def test_an_exception_becomes_its_signal_and_stays_the_cause(error, signal):
    with pytest.raises(signal) as caught, translate_lance_errors("/data/lance/x.lance", "write"):
        raise error
    assert caught.value.path == "/data/lance/x.lance"
    assert caught.value.__cause__ is error


def make_panic(module, text):
    return type("PanicException", (BaseException,), {"__module__": module})(text)


@pytest.mark.parametrize("module", ["pyo3_runtime", "pyo3_async_runtimes"])
def test_a_panic_of_the_engine_is_a_damaged_table(module):
    panic = make_panic(module, "rust future panicked: range end index 4 out of range\nstack")
    with (
        pytest.raises(StoreCorrupt) as caught,
        translate_lance_errors("/data/lance/x.lance", "read"),
    ):
        raise panic

    assert caught.value.cause == "the engine of the vector index stopped"
    assert caught.value.__cause__ is panic


def test_a_panic_below_a_limit_of_memory_is_no_damage(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_000_000, 1_000_000))
    panic = make_panic("pyo3_runtime", "rust future panicked: unknown error")
    with pytest.raises(IoError), translate_lance_errors("/x.lance", "read"):
        raise panic


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (
            RuntimeError(
                "lance error: LanceError(IO): file size is too small,"
                " /root/.cargo/registry/src/index/lance-io-13.0.0/src/utils.rs:172:20"
            ),
            "the vector index cannot be read",
        ),
        (
            RuntimeError("LanceError(IO): No space left on device (os error 28), src/x.rs:1:2"),
            "No space left on device",
        ),
        (OSError("cannot map, /root/.cargo/registry/x/src/y.rs:3:4"), "cannot map"),
    ],
)
def test_messages_name_no_source_file_of_the_library(error, cause):
    signal = build_signal(error, "/x.lance", "read")

    assert signal is not None
    assert signal.details()["cause"] == cause


@pytest.mark.parametrize("kind", [KeyboardInterrupt, TypeError])
def test_other_exceptions_pass(kind):
    with pytest.raises(kind), translate_lance_errors("p", "read"):
        raise kind
