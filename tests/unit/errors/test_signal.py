import pytest

from kebab.errors.catalog import (
    IoError,
    NotIndexed,
    TimedOut,
    build_catalog,
)
from kebab.errors.signal import Backoff, Retry, Signal, build_error_fields


def _declare(name, code="loose_one", annotations=(), **more):
    body = {"code": code, "message": "x", "__annotations__": dict.fromkeys(annotations, str)}
    return type(name, (Signal,), body | more)


def test_templates_are_filled_with_the_details():
    signal = IoError(path="/notes", op="read", cause="permission denied")

    assert str(signal) == "cannot read /notes: permission denied"
    assert signal.details() == {"path": "/notes", "op": "read", "cause": "permission denied"}


def test_a_code_cannot_be_declared_twice():
    with pytest.raises(TypeError, match="declared twice: io_error"):
        _declare("Again", "io_error")


def test_a_detail_cannot_hide_an_attribute_of_its_row():
    with pytest.raises(TypeError, match="loose_one: details hide attributes"):
        _declare("Loose", annotations=["hint"])

    assert "loose_one" not in build_catalog()


@pytest.mark.parametrize(
    "details", [{}, {"path": "/", "op": "read"}, {"path": "/", "op": "read", "cause": "", "x": 1}]
)
def test_a_signal_takes_its_details_and_no_others(details):
    with pytest.raises(TypeError, match="io_error takes"):
        IoError(**details)


def test_exactly_a_row_that_suggests_how_long_to_wait_is_transient():
    assert _declare("Brief", "brief", backoff=Backoff()).retry is Retry.TRANSIENT
    assert _declare("Lasting", "lasting").retry is Retry.PERMANENT


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
