import pytest

from kebab.errors.catalog import Generic, IoError, StaleCursor, build_catalog
from kebab.errors.signal import Backoff, Canonical, Exit, Kind, Meaning, Origin, Retry, Signal


def _meaning(code, **more):
    return Meaning(
        code=code,
        kind=Kind.UNKNOWN,
        canonical=Canonical.INTERNAL,
        domain="TEST.X",
        origin=Origin.CORE,
        exit=Exit.ERROR,
        http=500,
        grpc="INTERNAL",
        retry=Retry.NONE,
    )._replace(**more)


def test_templates_are_filled_with_the_details():
    signal = IoError(path="/notes", op="read", cause="permission denied")

    assert str(signal) == "cannot read /notes: permission denied"
    assert signal.details() == {"path": "/notes", "op": "read", "cause": "permission denied"}


def test_a_hint_may_name_details_and_may_be_absent():
    assert StaleCursor(issued_revision=1, current_revision=2).format_hint() is not None
    assert build_catalog()["cancelled"].hint is None


def test_a_code_cannot_be_declared_twice():
    with pytest.raises(TypeError, match="declared twice: io_error"):
        type("Again", (Signal,), {}, meaning=_meaning("io_error"), message="x")


def test_a_template_cannot_name_a_detail_that_is_not_declared():
    with pytest.raises(TypeError, match="unknown details"):
        type("Loose", (Signal,), {}, meaning=_meaning("loose_one"), message="{nothing}")

    assert "loose_one" not in build_catalog()


@pytest.mark.parametrize(
    "details", [{}, {"path": "/", "op": "read"}, {"path": "/", "op": "read", "cause": "", "x": 1}]
)
def test_a_signal_takes_its_details_and_no_others(details):
    with pytest.raises(TypeError, match="io_error takes"):
        IoError(**details)


def test_a_detail_with_a_default_may_be_left_out():
    assert Generic().details() == {"chain": None}


def test_a_transient_row_suggests_how_long_to_wait():
    assert _meaning("x", retry=Retry.TRANSIENT).with_default_backoff().backoff == Backoff()
    assert _meaning("x").with_default_backoff().backoff is None


def test_a_row_where_trying_again_makes_no_sense_cannot_suggest_it():
    with pytest.raises(TypeError, match="only a transient row"):
        type("Vain", (Signal,), {}, meaning=_meaning("vain", backoff=Backoff()), message="x")
