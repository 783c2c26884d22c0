from tools.bench import growth
from tools.bench.synthetic_index import build_synthetic_index


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
