from kebab.bench import asking
from kebab.bench.grown import grow
from tests.fakes.runner import VERSION


def measured(rig):
    asking.measure(rig, grow(rig, 20))
    return {one.name: one for one in rig.ledger.figures}


def test_words_alone_are_compared_with_the_word_index_alone(make_rig):
    figures = measured(make_rig())

    warm = figures["growth.warm_lexical"]
    assert (warm.median, warm.yardstick, warm.ratio) == (3.0, "SQLite FTS5 alone", 3.0)
    assert "growth.hybrid" not in figures


def test_both_are_compared_with_the_model_alone(make_rig, models):
    figures = measured(make_rig(version=VERSION, models=models))

    assert figures["growth.hybrid"].yardstick == "onnxruntime alone"
    assert figures["growth.warm_hybrid"].ratio == 2.0
    assert figures["growth.dot_product"].median == 0.55


def test_the_worst_of_a_hundred_is_a_figure_of_its_own(make_rig):
    worst = measured(make_rig())["growth.warm_lexical_p99"].median

    assert 3.9 < worst < 4.0


def test_memory_is_a_figure_with_a_budget(make_rig):
    assert measured(make_rig())["growth.lexical_memory"].within is False


def test_a_process_that_fails_is_a_gap(make_rig):
    rig = make_rig(broken="kebab.bench.asker")

    measured(rig)

    assert "growth.warm_lexical" in {gap.name for gap in rig.ledger.gaps if gap.failed}
