import pytest

from kebab.errors.catalog import (
    IoError,
    NotIndexed,
    TimedOut,
    build_catalog,
)
from kebab.errors.signal import Signal, build_error_fields


def _declare(name, code="loose_one", annotations=(), **more):
    body = {"code": code, "message": "x", "__annotations__": dict.fromkeys(annotations, str)}
    return type(name, (Signal,), body | more)


def test_a_code_cannot_be_declared_twice():
    with pytest.raises(TypeError, match="declared twice: io_error"):
        _declare("Again", "io_error")


def test_a_detail_cannot_hide_an_attribute_of_its_row():
    with pytest.raises(TypeError, match="loose_one: details hide attributes"):
        _declare("Loose", annotations=["hint"])

    assert "loose_one" not in build_catalog()


def build(signal):
    return build_error_fields(
        signal, operation="search", message="m", hint=None, details=signal.details()
    )


@pytest.mark.parametrize(
    ("signal", "target"),
    [
        (IoError(path="/x", op="read", cause="gone"), "/x"),
        (NotIndexed(data_dir="/kb", expected="1", found=None), "/kb"),
        (TimedOut(operation="first_token", elapsed_ms=2, deadline_ms=1), "first_token"),
    ],
)
def test_the_target_is_the_most_specific_name_in_the_details(signal, target):
    assert build(signal)["target"] == target
