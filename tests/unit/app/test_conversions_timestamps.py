import pytest

from kebab.app.conversions import format_timestamp, parse_time
from kebab.errors.catalog import InvalidInput


def test_a_stamp_is_utc_with_z():
    assert format_timestamp(0) == "1970-01-01T00:00:00.000Z"
    assert format_timestamp(1_700_000_000.1234) == "2023-11-14T22:13:20.123Z"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02T00:00:00Z", 86_400),
        ("1970-01-01T01:00:00+01:00", 0),
        ("7d", 1_000_000 - 7 * 86_400),
        ("2w", 1_000_000 - 14 * 86_400),
        (" 3H ", 1_000_000 - 3 * 3600),
    ],
)
def test_dates_timestamps_and_ages_are_parsed(text, seconds):
    assert parse_time(text, "since", now=1_000_000) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2024-13-01", "7", "99999999999999999d"])
def test_anything_else_is_refused_with_the_field(text):
    with pytest.raises(InvalidInput) as caught:
        parse_time(text, "until", now=0)

    assert caught.value.field == "until"
