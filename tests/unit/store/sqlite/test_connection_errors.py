import apsw
import pytest

from kebab.errors.catalog import Cancelled, IoError, Locked, StoreCorrupt
from kebab.store.sqlite.connection import SIGNALS, translate_sqlite_errors


def test_the_table_holds_every_exception_of_apsw_and_no_other():
    declared = {
        value
        for value in vars(apsw).values()
        if isinstance(value, type) and issubclass(value, apsw.Error) and value is not apsw.Error
    }
    assert set(SIGNALS) == declared


@pytest.mark.parametrize(
    ("error", "signal"),
    [
        (apsw.FullError, IoError),
        (apsw.CantOpenError, IoError),
        (apsw.NoMemError, IoError),
        (apsw.AbortError, IoError),
        (apsw.BusyError, Locked),
        (apsw.NotADBError, StoreCorrupt),
        (apsw.SQLError, StoreCorrupt),
    ],
)
def test_an_exception_becomes_its_signal_and_stays_the_cause(error, signal):
    original = error("text")
    with pytest.raises(signal) as caught, translate_sqlite_errors("/data/kebab.sqlite", "write"):
        raise original
    assert caught.value.path == "/data/kebab.sqlite"
    assert caught.value.__cause__ is original


def test_an_interrupted_statement_is_a_cancelled_one():
    with pytest.raises(Cancelled), translate_sqlite_errors("p", "read"):
        raise apsw.InterruptError("interrupted")


def test_an_exception_that_only_a_bug_raises_passes_unchanged():
    with pytest.raises(apsw.BindingsError), translate_sqlite_errors("p", "read"):
        raise apsw.BindingsError("text")


@pytest.mark.parametrize(
    ("decode", "cause"),
    [
        (b"\xff\xfe".decode, "a stored text is not valid UTF-8"),
        (lambda: int("x"), "a stored value cannot be read"),
    ],
)
def test_a_stored_value_that_cannot_be_decoded_is_damage(decode, cause):
    with pytest.raises(StoreCorrupt) as caught, translate_sqlite_errors("/kb", "read"):
        decode()

    assert (caught.value.path, caught.value.cause) == ("/kb", cause)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_value_of_a_caller_that_cannot_be_encoded_passes_unchanged():
    with pytest.raises(UnicodeEncodeError), translate_sqlite_errors("/kb", "read"):
        "\ud800".encode()
