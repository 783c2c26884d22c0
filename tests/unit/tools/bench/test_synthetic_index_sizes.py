import pytest

from tools.bench.synthetic_index import parse_sizes


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("1k", (1_000,)),
        ("100k,1K, 10k", (1_000, 10_000, 100_000)),
        ("1m,500", (500, 1_000_000)),
        ("1k,1000", (1_000,)),
    ],
)
def test_sizes_come_in_order_and_once(text, sizes):
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize("text", ["", "k", "1g", "1.5k", "-1k", "1k;10k", "9"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match=r"^"):
        parse_sizes(text)
