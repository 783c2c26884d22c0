import json
import os
import subprocess
import sys

import apsw
import pytest

from kebab.errors.catalog import Cancelled, IoError, Locked, StoreCorrupt
from kebab.store.sqlite import connection
from kebab.store.sqlite.connection import SIGNALS, translate_sqlite_errors
from kebab.store.sqlite.lock import WriterLock

linux = pytest.mark.skipif(sys.platform != "linux", reason="the list of locks is Linux's")


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
        (apsw.BusyError, IoError),
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
        (lambda: json.loads("[1"), "a stored value cannot be read"),
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


def report_busy(path):
    with pytest.raises((IoError, Locked)) as caught, translate_sqlite_errors(str(path), "write"):
        raise apsw.BusyError("database is locked")
    return caught.value


@linux
def test_a_busy_database_names_the_process_that_writes(tmp_path):
    code = (
        "import sys; from pathlib import Path; from kebab.store.sqlite.lock import WriterLock\n"
        "with WriterLock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert report_busy(tmp_path / "kebab.sqlite").holder_pid == process.pid
        assert isinstance(report_busy(tmp_path / "reviews.sqlite"), IoError)


@linux
def test_a_lock_that_no_other_process_holds_is_not_said(tmp_path):
    assert isinstance(report_busy(tmp_path / "kebab.sqlite"), IoError)
    with WriterLock(tmp_path):
        assert isinstance(report_busy(tmp_path / "kebab.sqlite"), IoError)


@linux
def test_a_file_of_another_device_is_not_the_database(tmp_path, monkeypatch):
    path = tmp_path / "kebab.sqlite"
    path.touch()
    status = path.stat()
    locks = tmp_path / "locks"
    monkeypatch.setattr(connection, "read_system_locks", lambda: locks.read_text("ascii"))
    for device, expected in ((status.st_dev, Locked), (status.st_dev ^ 1, IoError)):
        place = f"{os.major(device):02x}:{os.minor(device):02x}:{status.st_ino}"
        locks.write_text(f"1: POSIX  ADVISORY  WRITE 1 {place} 0 EOF\n", encoding="ascii")
        assert isinstance(report_busy(path), expected)


@pytest.mark.parametrize("text", [None, "", "nonsense\n"], ids=["absent", "empty", "other"])
def test_without_a_list_of_locks_the_holder_is_unknown(tmp_path, monkeypatch, text):
    locks = tmp_path / "locks"
    if text is not None:
        locks.write_text(text, encoding="ascii")
    monkeypatch.setattr(connection, "read_system_locks", lambda: locks.read_text("ascii"))

    fault = report_busy(tmp_path / "kebab.sqlite")
    expected = IoError if text == "" else Locked
    assert isinstance(fault, expected)
    assert getattr(fault, "holder_pid", None) is None
