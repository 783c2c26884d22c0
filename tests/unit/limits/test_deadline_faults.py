import pytest

from kebab.errors.catalog import ParseFailed
from kebab.limits.deadline import (
    build_failure,
    describe_exhaustion,
    describe_failure,
    raise_memory_error,
)


def test_the_cause_names_the_limit():
    assert describe_exhaustion(1024) == "needs more than 1,024 MB of memory"


@pytest.mark.parametrize(
    ("fault", "cause"),
    [(ValueError("odd"), "the parser failed: odd"), (ValueError(), "the parser failed")],
)
def test_a_failure_is_described_by_its_message(fault, cause):
    assert describe_failure(fault) == cause


def test_only_a_lack_of_memory_is_raised_again():
    error = build_failure("a.pdf", "pdf-v1", "the parser failed")
    raise_memory_error(error)
    error.__cause__ = MemoryError()

    with pytest.raises(MemoryError):
        raise_memory_error(error)

    assert isinstance(error, ParseFailed)
