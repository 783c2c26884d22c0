from kebab.bench.sandbox import TIMES
from kebab.cli.render.canvas import Canvas
from kebab.wire.evals import BenchGrowth, BenchImports, BenchModule
from tools.bench.render import draw_growth, draw_imports


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


def test_a_line_shows_how_many_modules_and_the_heaviest():
    heaviest = [BenchModule(name=f"m{at}", milliseconds=9.0 - at) for at in range(8)]
    one = BenchImports(command="kebab list", modules=212, milliseconds=83.8, heaviest=heaviest)

    lines = list(draw_imports([one], Canvas()))

    assert lines[2].split() == [
        "kebab", "list", "212", "modules", "83.8", "ms",
        "m0", "9.00,", "m1", "8.00,", "m2", "7.00,", "m3", "6.00",
    ]  # fmt: skip


def test_without_a_profile_nothing_is_drawn():
    assert list(draw_imports([], Canvas())) == []
