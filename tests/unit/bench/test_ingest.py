import pytest

from kebab.bench import ingest
from tests.fakes.runner import VERSION


def test_rates_come_from_the_one_run(make_rig):
    rig = make_rig(version=VERSION, seconds=0.5)

    ingest.measure(rig)

    figures = {one.name: one for one in rig.ledger.figures}
    files = rig.notes().corpus.files
    assert figures["ingest.documents"].median == pytest.approx(files / 0.5)
    assert figures["ingest.chunks"].median == pytest.approx(2 * files / 0.5)
    assert figures["ingest.time"].ratio == 1.0
    assert figures["ingest.memory"].median == 200
    assert figures["ingest.memory"].within
    assert figures["ingest.disk"].unit == "KB/chunk"
    assert figures["ingest.disk"].within
    assert rig.ledger.gaps == []


def test_without_a_model_it_is_said_that_words_alone_were_indexed(make_rig):
    rig = make_rig()

    ingest.measure(rig)

    assert [(gap.name, gap.failed) for gap in rig.ledger.gaps] == [("ingest.vectors", False)]


def test_a_run_that_fails_gives_no_figures(make_rig):
    rig = make_rig(broken="ingest")

    ingest.measure(rig)

    assert rig.ledger.figures == []
    assert [gap.failed for gap in rig.ledger.gaps] == [True]
