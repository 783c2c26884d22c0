import pytest

from kebab.errors.catalog import IoError, Locked, NotIndexed, TimedOut
from kebab.errors.signal import build_error_fields


def build(signal):
    return build_error_fields(
        signal, operation="search", message="m", hint=None, details=signal.details()
    )


@pytest.mark.parametrize(
    ("signal", "target"),
    [
        (IoError(path="/x", op="read", cause="gone"), "/x"),
        (NotIndexed(data_dir="/kb", expected=1, found=None), "/kb"),
        (TimedOut(operation="first_token", elapsed_ms=2, deadline_ms=1), "first_token"),
    ],
)
def test_the_target_is_the_most_specific_name_in_the_details(signal, target):
    assert build(signal)["target"] == target


def test_a_transient_error_says_when_to_retry():
    fields = build(Locked(path="x", holder_pid=7))

    assert (fields["retryable"], fields["retry"]) == (True, "transient")
    assert fields["retry_after_ms"] > 0


def test_every_reply_has_an_id_of_its_own():
    signal = Locked(path="x", holder_pid=7)

    assert build(signal)["correlation_id"] != build(signal)["correlation_id"]
