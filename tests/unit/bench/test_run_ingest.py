import pytest

from kebab.bench.run import measure_ingest
from tests.fakes.runner import VERSION


def test_rates_come_from_the_one_run(make_context):
    context = make_context(version=VERSION, seconds=0.5)

    measure_ingest(context)

    figures = {one.name: one for one in context.results.figures}
    files = context.index_notes().corpus.files
    assert figures["ingest.documents"].median == pytest.approx(files / 0.5)
    assert figures["ingest.chunks"].median == pytest.approx(2 * files / 0.5)
    assert figures["ingest.time"].ratio == 1.0
    assert figures["ingest.memory"].median == 200
    assert figures["ingest.memory"].within
    assert figures["ingest.disk"].unit == "KB/chunk"
    assert figures["ingest.disk"].within
    assert context.results.gaps == []


def test_without_a_model_the_report_says_that_words_alone_were_indexed(make_context):
    context = make_context()

    measure_ingest(context)

    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("ingest.vectors", False)]


def test_a_run_that_fails_gives_no_figures(make_context):
    context = make_context(broken="ingest")

    measure_ingest(context)

    assert context.results.figures == []
    assert [gap.failed for gap in context.results.gaps] == [True]
