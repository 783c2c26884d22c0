from kebab.bench.sandbox import TIMES
from kebab.cli.render.canvas import Canvas
from kebab.wire.evals import BenchGrowth
from tools.bench.render import draw_growth


def growth(name, *medians, within=None):
    return BenchGrowth(
        name=name,
        unit="s",
        chunks=[1000, 100_000],
        medians=list(medians),
        factor=medians[-1] / medians[0],
        chunks_factor=100.0,
        budget=None if within is None else f"≤ 8 {TIMES}",
        within=within,
    )


def test_a_row_shows_each_size_and_how_it_grows():
    lines = list(draw_growth([growth("growth.lexical", 0.1, 0.4, within=True)], Canvas()))

    assert lines[1] == "growth from 1k to 100k passages"
    assert lines[3].split() == [
        "growth.lexical", "0.100", "s", "0.400", "s", "4.00", TIMES, "≤", "8", TIMES, "▁▂", "✓",
    ]  # fmt: skip


def test_the_steps_are_decades():
    (line,) = list(draw_growth([growth("a", 0.001, 10.0)], Canvas()))[3:]

    assert line.endswith("▁█")


def test_without_growth_nothing_is_drawn():
    assert list(draw_growth([], Canvas())) == []
