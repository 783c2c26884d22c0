import pytest

from kebab.errors.catalog import ModelBusy, Unauthorized, build_catalog
from kebab.wire.error import RetryAdvice, build_error_row, build_error_rows, describe_backoff


def test_rows_come_by_code_with_their_explanation():
    codes = [row.code for row in build_error_rows()]

    assert codes == sorted(build_catalog())
    assert all(row.explanation for row in build_error_rows())


def test_a_row_says_how_long_to_wait_and_whether_it_is_reserved():
    busy, unauthorized = build_error_row(ModelBusy), build_error_row(Unauthorized)

    assert busy.backoff == RetryAdvice(first_ms=2_000, factor=2, ceiling_ms=60_000, attempts=6)
    assert not busy.reserved
    assert (unauthorized.backoff, unauthorized.reserved) == (None, False)


@pytest.mark.parametrize(
    ("first", "factor", "ceiling", "attempts", "words"),
    [
        (1_000, 2, 10_000, 4, "after 1000 ms, then twice as long each time"),
        (500, 1.5, 9_000, 2, "after 500 ms, then 1.5 times as long each time"),
        (500, 1, 500, 2, "after 500 ms, at most 2 times"),
        (0, 1, 0, 1, "at once, once"),
    ],
)
def test_a_backoff_is_described_in_words(first, factor, ceiling, attempts, words):
    advice = RetryAdvice(first_ms=first, factor=factor, ceiling_ms=ceiling, attempts=attempts)

    assert describe_backoff(advice).startswith(words)
