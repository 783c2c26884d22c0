import pytest

from kebab.cli.render.canvas import Canvas, format_bytes, pluralize, render_fields


def test_values_are_in_one_column_and_empty_ones_are_omitted():
    rows = render_fields([("a", "1"), ("longer", "2"), ("none", "")], Canvas(), "  ")

    assert list(rows) == ["  a       1", "  longer  2"]


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (23_400_000, "23.4 MB"), (10**16, "10000.0 TB")],
)
def test_sizes_are_short(count, text):
    assert format_bytes(count) == text


def test_a_count_of_one_has_a_singular_noun():
    assert (pluralize(1, "file"), pluralize(0, "file")) == ("1 file", "0 files")
