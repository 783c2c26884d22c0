from kebab.cli.render.canvas import Canvas
from kebab.wire.evals import BenchImports, BenchModule
from tools.bench.render import draw_imports


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
