"""The trace of a caller is kept when it has the form of W3C Trace Context."""

import os

import pytest

from kebab.app.classify import View, classify_error
from kebab.errors.catalog import (
    ConfigInvalid,
    ConfirmationRequired,
    EmbeddingUnavailable,
    IoError,
    ModelNotPulled,
    ModelUnreachable,
    TimedOut,
)
from kebab.errors.signal import Exit

VERBOSE = View(verbose=True)
NO_WEIGHTS = EmbeddingUnavailable(model="auto", tried=[], cause="working offline")


@pytest.mark.parametrize(
    ("raised", "code", "status"),
    [
        (KeyboardInterrupt(), "cancelled", Exit.INTERRUPTED),
        (PermissionError(13, "Permission denied", "/x"), "io_error", Exit.ERROR),
        (OSError("no file at all"), "generic", Exit.ERROR),
        (ValueError("what"), "generic", Exit.ERROR),
        (MemoryError(), "out_of_memory", Exit.ERROR),
        (RuntimeError("std::bad_alloc"), "out_of_memory", Exit.ERROR),
        (OSError(12, "Cannot allocate memory"), "out_of_memory", Exit.ERROR),
        (IoError(path="/x", op="read", cause="out of memory"), "out_of_memory", Exit.ERROR),
    ],
)
def test_other_exceptions_get_a_matching_code(raised, code, status):
    fault = classify_error(raised, operation="ingest")

    assert (fault.reply.code, fault.exit) == (code, status)


@pytest.mark.parametrize(
    ("raised", "operation", "hint"),
    [
        (RuntimeError("a bug"), "doctor", None),
        (RuntimeError("a bug"), "list", "kebab doctor"),
        (NO_WEIGHTS, "model pull", None),
        (NO_WEIGHTS, "search", "kebab model pull auto"),
        (ConfirmationRequired(operation="reset"), "reset", "kebab reset --yes"),
        (ConfigInvalid(path="/x", cause="no"), "init", ConfigInvalid.hint),
        (TimedOut(operation="first_token", elapsed_ms=2, deadline_ms=1), "ask", None),
    ],
)
def test_no_hint_names_the_command_that_just_failed(raised, operation, hint):
    assert classify_error(raised, operation=operation).reply.hint == hint


def test_an_unmapped_exception_hides_its_message_unless_verbose():
    raised = ValueError("secret path /home/me")
    raised.__cause__ = KeyError("inner")
    plain = classify_error(raised, operation="x").reply
    verbose = classify_error(raised, operation="x", view=VERBOSE).reply

    assert "secret" not in plain.message
    assert plain.details == {}
    assert verbose.details["chain"] == ["ValueError: secret path /home/me", "KeyError: 'inner'"]


def test_verbose_lists_the_causes_without_secrets():
    raised = IoError(path="/x", op="read", cause="gone")
    raised.__cause__ = FileNotFoundError("http://me:hunter2@host")

    assert "chain" not in classify_error(raised, operation="x").reply.details
    assert classify_error(raised, operation="x", view=VERBOSE).reply.details["chain"] == [
        "FileNotFoundError: http://[redacted]@host"
    ]
    alone = classify_error(IoError(path="/x", op="read", cause="gone"), operation="x", view=VERBOSE)
    assert "chain" not in alone.reply.details


def test_secrets_are_removed_from_message_hint_and_details():
    signal = ModelUnreachable(
        endpoint="http://me:hunter2@host:11434", operation="ask", cause="Authorization: Bearer abc"
    )
    pulled = ModelNotPulled(model="http://me:hunter2@hub/x", endpoint="", operation="ask")
    tried = EmbeddingUnavailable(model="m", tried=["hub", "http://me:hunter2@mirror"], cause="x")

    told = [classify_error(one, operation="ask").reply for one in (signal, pulled, tried)]

    assert "hunter2" not in repr(told)
    assert "abc" not in told[0].message
    assert told[1].hint == "ollama pull 'http://[redacted]@hub/x'"
    assert told[2].details["tried"] == ["hub", "http://[redacted]@mirror"]


def test_a_deleted_working_folder_is_an_io_error(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(FileNotFoundError) as caught:
        os.path.realpath(".")

    reply = classify_error(caught.value, operation="ingest").reply

    assert (reply.code, reply.details["path"]) == ("io_error", ".")
    assert reply.message.endswith("the working folder was deleted")
