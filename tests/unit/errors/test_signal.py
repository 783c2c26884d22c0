import pytest

from kebab.errors.catalog import Generic, IoError, StaleCursor, build_catalog
from kebab.errors.signal import Backoff, Retry, Signal


def _declare(name, code="loose_one", annotations=(), **more):
    body = {"code": code, "message": "x", "__annotations__": dict.fromkeys(annotations, str)}
    return type(name, (Signal,), body | more)


def test_templates_are_filled_with_the_details():
    signal = IoError(path="/notes", op="read", cause="permission denied")

    assert str(signal) == "cannot read /notes: permission denied"
    assert signal.details() == {"path": "/notes", "op": "read", "cause": "permission denied"}


def test_a_hint_may_name_details_and_may_be_absent():
    assert StaleCursor(issued_revision=1, current_revision=2).format_hint() is not None
    assert build_catalog()["cancelled"].hint is None


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


def test_a_detail_with_a_default_may_be_left_out():
    assert Generic().details() == {"chain": None}


def test_exactly_a_row_that_suggests_how_long_to_wait_is_transient():
    assert _declare("Brief", "brief", backoff=Backoff()).retry is Retry.TRANSIENT
    assert _declare("Lasting", "lasting").retry is Retry.PERMANENT
