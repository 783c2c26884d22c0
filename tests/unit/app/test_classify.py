import pytest

from kebab.app.classify import classify, redacted
from kebab.errors.catalog import IoError, ModelUnreachable, NotIndexed
from kebab.errors.signal import Exit


def test_a_signal_speaks_for_itself():
    fault = classify(NotIndexed(data_dir="/kb", expected=1, found=None), operation="search")

    assert (fault.reply.code, fault.exit, fault.quiet) == ("not_indexed", Exit.UNUSABLE, False)
    assert fault.reply.details == {"data_dir": "/kb", "expected": 1, "found": None}
    assert fault.reply.target == "/kb"
    assert fault.reply.hint == "kebab ingest FOLDER"


@pytest.mark.parametrize(
    ("raised", "code", "status"),
    [
        (KeyboardInterrupt(), "cancelled", Exit.INTERRUPTED),
        (PermissionError(13, "Permission denied", "/x"), "io_error", Exit.ERROR),
        (OSError("no file at all"), "generic", Exit.ERROR),
        (ValueError("what"), "generic", Exit.ERROR),
        (MemoryError(), "generic", Exit.ERROR),
    ],
)
def test_foreign_exceptions_get_the_code_that_fits(raised, code, status):
    fault = classify(raised, operation="ingest")

    assert (fault.reply.code, fault.exit) == (code, status)


def test_a_reader_that_went_away_is_quiet():
    fault = classify(BrokenPipeError(32, "Broken pipe"), operation="list")

    assert (fault.quiet, fault.exit) == (True, Exit.READER_GONE)


def test_what_nobody_mapped_says_nothing_of_itself_unless_asked():
    raised = ValueError("secret path /home/me")
    raised.__cause__ = KeyError("inner")
    plain = classify(raised, operation="x").reply
    verbose = classify(raised, operation="x", verbose=True).reply

    assert "secret" not in plain.message
    assert plain.details == {}
    assert verbose.details["chain"] == ["ValueError: secret path /home/me", "KeyError: 'inner'"]


def test_secrets_are_taken_out_of_message_and_details():
    signal = ModelUnreachable(
        endpoint="http://me:hunter2@host:11434", operation="ask", cause="Authorization: Bearer abc"
    )
    reply = classify(signal, operation="ask").reply

    assert "hunter2" not in f"{reply.message}{reply.details}{reply.target}"
    assert "abc" not in reply.message


def test_names_that_are_no_text_become_escapes():
    assert redacted("caf\udce9") == "caf\\xe9"
    signal = IoError(path="caf\udce9", op="read", cause="x")
    assert classify(signal, operation="x").reply.details["path"] == "caf\\xe9"


def test_two_faults_have_two_correlation_ids():
    ids = {classify(ValueError(), operation="x").reply.correlation_id for _ in range(3)}

    assert len(ids) == 3
