import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.evals import format_size, render_benchmark
from kebab.wire.evals import BenchFigure, BenchGap, BenchMachine, BenchReport


def figure(name, *, share=None, ratio=None):
    return BenchFigure(
        name=name,
        unit="s",
        minimum=0.09,
        median=0.1,
        maximum=0.25,
        runs=9,
        yardstick=None if ratio is None else "import click",
        ratio=ratio,
        budget=None if share is None else "≤ 1 s",
        within=None if share is None else share <= 1,
        share=share,
    )


def drawn(*figures, gaps=()):
    machine = BenchMachine(system="Linux x86_64", cores=2, python="3.12.1", kebab_version="0.1.0")
    reply = BenchReport(
        chunks=100,
        seed=1,
        figures=list(figures),
        gaps=list(gaps),
        machine=machine,
        duration_ms=61_000,
    )
    return list(render_benchmark(reply, Canvas()))


def line_with(lines, text):
    return next(line for line in lines if text in line)


def test_a_row_shows_median_spread_ratio_and_budget():
    row = line_with(drawn(figure("startup.help", share=0.5, ratio=1.9)), "0.100 s")

    assert row.split() == [
        "startup.help", "0.100", "s", "0.090", "…", "0.250",
        "1.90", "\N{MULTIPLICATION SIGN}", "import", "click", "≤", "1", "s", "✓",
    ]  # fmt: skip


def test_a_missed_budget_has_a_cross():
    assert line_with(drawn(figure("a", share=1.2)), "0.100 s").endswith("✗")


def test_columns_are_aligned():
    lines = drawn(figure("a", share=0.5), figure("much.longer", share=0.5))

    assert len({line.index("≤") for line in lines if "≤" in line}) == 1


def test_a_bar_is_full_up_to_its_mark_when_the_budget_is_used_up():
    bar = line_with(drawn(figure("a", share=1.0)), "100%")

    assert bar.count("█") == 15
    assert "█│·" in bar


def test_a_bar_never_exceeds_its_width():
    assert line_with(drawn(figure("a", share=70.0)), "7000%").count("█") == 30


def test_figures_without_a_budget_have_no_bar():
    assert not any("│" in line for line in drawn(figure("a")))


@pytest.mark.parametrize(("failed", "word"), [(True, "failed"), (False, "skipped")])
def test_gaps_are_reported_with_their_reason(failed, word):
    gap = BenchGap(name="search.hybrid", reason="no model", failed=failed)

    assert drawn(gaps=[gap])[-1] == f"{word}: search.hybrid: no model"


@pytest.mark.parametrize(
    ("chunks", "text"), [(305, "305"), (1_326, "1.33k"), (99_888, "99.9k"), (1_000_000, "1m")]
)
def test_a_size_is_short(chunks, text):
    assert format_size(chunks) == text
