from tests.fakes.runner import VERSION
from tools.bench.latency import measure_latency
from tools.bench.synthetic_index import build_synthetic_index


def measured(context):
    measure_latency(context, build_synthetic_index(context, 20))
    return {one.name: one for one in context.results.figures}


def test_words_alone_are_compared_with_the_word_index_alone(make_context):
    figures = measured(make_context())

    warm = figures["growth.warm_lexical"]
    assert (warm.median, warm.yardstick, warm.ratio) == (3.0, "SQLite FTS5 alone", 3.0)
    assert "growth.hybrid" not in figures


def test_both_are_compared_with_the_model_alone(make_context, models):
    figures = measured(make_context(version=VERSION, models=models))

    assert figures["growth.hybrid"].yardstick == "onnxruntime alone"
    assert figures["growth.warm_hybrid"].ratio == 2.0
    assert figures["growth.dot_product"].median == 0.55


def test_the_worst_of_a_hundred_is_a_figure_of_its_own(make_context):
    worst = measured(make_context())["growth.warm_lexical_p99"].median

    assert 3.9 < worst < 4.0


def test_memory_is_a_figure_with_a_budget(make_context):
    assert measured(make_context())["growth.lexical_memory"].within is False


def test_a_process_that_fails_is_a_gap(make_context):
    context = make_context(broken="latency")

    measured(context)

    assert "growth.warm_lexical" in {gap.name for gap in context.results.gaps if gap.failed}
