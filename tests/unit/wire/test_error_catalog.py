import pytest

from kebab.wire.error import RetryAdvice, describe_backoff


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
