from kebab.wire.evals import BenchFigure
from tests.fakes.runner import VERSION
from tools.bench import growth
from tools.bench.synthetic_index import build_synthetic_index

SIZES = (12, 120)


def figure(name, chunks, median):
    return BenchFigure(
        name=name,
        unit="s",
        minimum=median,
        median=median,
        maximum=median,
        runs=1,
        yardstick=None,
        ratio=None,
        budget=None,
        within=None,
        chunks=chunks,
    )


def test_every_size_has_its_figures(make_context, models):
    context = make_context(version=VERSION, models=models)

    growth.measure_growth(context, SIZES)

    names = [one.name for one in context.results.figures]
    assert context.results.gaps == []
    for name in ("growth.ingest", "growth.disk", "growth.warm_hybrid", "growth.reset"):
        assert names.count(name) == 2


def test_without_a_model_searches_are_lexical_and_the_gap_is_reported(make_context):
    context = make_context()

    growth.measure_growth(context, SIZES)

    names = {one.name for one in context.results.figures}
    assert "growth.warm_lexical" in names
    assert "growth.warm_hybrid" not in names
    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("growth.hybrid", False)]


def test_the_largest_size_is_compared_with_the_smallest():
    (grown,) = growth.compare_sizes([figure("growth.lexical", 1000, 0.1), figure("x", None, 1.0),
                               figure("growth.lexical", 100, 0.05)])  # fmt: skip

    assert (grown.chunks, grown.medians) == ([100, 1000], [0.05, 0.1])
    assert (grown.factor, grown.chunks_factor, grown.within) == (2.0, 10.0, True)


def test_a_figure_that_grows_too_fast_is_over_its_budget():
    (grown,) = growth.compare_sizes(
        [figure("growth.lexical", 10, 0.01), figure("growth.lexical", 1000, 0.1)]
    )

    assert grown.within is False


def test_what_has_one_size_does_not_grow():
    assert growth.compare_sizes([figure("growth.lexical", 10, 0.1)]) == []


def test_notes_that_could_not_be_indexed_are_one_failure_for_each_size(make_context):
    context = make_context(broken="index")

    growth.measure_growth(context, SIZES)

    assert {gap.name for gap in context.results.gaps if gap.failed} == {"growth.12", "growth.120"}


def test_what_is_kept_up_is_measured_at_its_size(make_context):
    context = make_context()
    grown = build_synthetic_index(context, 20)

    growth.measure_upkeep(context, grown)

    figures = {one.name: one for one in context.results.figures}
    assert set(figures) == {"growth.noop", "growth.schema", "growth.doctor", "growth.reset"}
    assert {one.chunks for one in figures.values()} == {grown.chunks}


def test_a_reset_that_fails_is_a_gap(make_context):
    context = make_context(broken="reset")

    growth.measure_upkeep(context, build_synthetic_index(context, 20))

    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("growth.reset", True)]
