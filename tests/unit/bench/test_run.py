import pytest

from kebab.bench.run import (
    MEASUREMENTS,
    BenchOptions,
    describe_machine,
    index_corpus,
    measure_ingest,
    measure_search,
    measure_startup,
    run_benchmark,
)
from kebab.bench.sandbox import Sandbox, write_notes
from tests.fakes.runner import VERSION, FakeRunner


def run_selected(models, *only, **script):
    options = BenchOptions(chunks=12, runs=2, only=only)
    return run_benchmark(options, models, lambda event: None, FakeRunner(**script))


def test_all_measurements_run(models):
    report = run_selected(models, version=VERSION)

    assert {one.name.partition(".")[0] for one in report.figures} == set(MEASUREMENTS)
    assert report.gaps == []
    assert report.seed == 1


@pytest.mark.parametrize("name", sorted(MEASUREMENTS))
def test_one_measurement_can_be_selected(models, name):
    report = run_selected(models, name, version=VERSION)

    assert {one.name.partition(".")[0] for one in report.figures} == {name}


def test_figures_do_not_share_a_name(models):
    names = [(one.name, one.chunks) for one in run_selected(models, version=VERSION).figures]

    assert len(set(names)) == len(names)


def test_the_temporary_folder_is_removed(models, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()

    run_selected(models, version=VERSION)

    assert list((tmp_path / "t").iterdir()) == []


def test_the_machine_is_described():
    assert describe_machine().cores >= 1
    assert describe_machine().python.startswith("3.")


def test_notes_are_written_and_indexed_once(make_context):
    context = make_context()

    assert context.index_notes() is context.index_notes()
    assert len(context.runner.commands) == 1


def test_the_size_is_what_was_indexed(make_context):
    context = make_context(chunks=12)
    asked = context.count_chunks()

    notes = context.index_notes()

    assert asked == 12
    assert context.count_chunks() == notes.chunks


def test_sandboxes_do_not_share_a_knowledge_base(make_context):
    context = make_context()

    assert context.create_sandbox("a").data != context.create_sandbox("b").data


@pytest.fixture
def corpus(tmp_path):
    return write_notes(tmp_path / "files", 12, 1)


def sandbox(tmp_path, **script):
    return Sandbox(tmp_path / "sandbox", tmp_path / "models", FakeRunner(**script))


def test_indexing_reports_chunks_disk_and_model(tmp_path, corpus):
    indexed = index_corpus(sandbox(tmp_path, version=VERSION), corpus)

    assert (indexed.fault, indexed.chunks, indexed.version) == (None, 6, VERSION)
    assert indexed.disk_bytes > 0


def test_without_a_model_there_is_no_version(tmp_path, corpus):
    assert index_corpus(sandbox(tmp_path), corpus).version is None


def test_a_run_that_fails_is_reported(tmp_path, corpus):
    assert "broken on purpose" in str(
        index_corpus(sandbox(tmp_path, broken="ingest"), corpus).fault
    )


def test_a_run_that_leaves_files_out_does_not_count(tmp_path, corpus):
    home = sandbox(tmp_path)
    index_corpus(home, corpus)

    assert index_corpus(home, corpus).fault == "of 3 files 0 were new, 0 failed"


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


def names(context):
    return {one.name for one in context.results.figures}


def test_without_a_model_only_lexical_search_is_measured_and_the_gap_is_reported(make_context):
    context = make_context()

    measure_search(context)

    assert names(context) == {"search.import_click", "search.lexical"}
    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("search.hybrid", False)]


def test_with_a_model_both_are_measured(make_context, models):
    context = make_context(version=VERSION, models=models)

    measure_search(context)

    assert {"search.lexical", "search.hybrid", "search.onnxruntime"} <= names(context)
    assert context.results.gaps == []


def test_every_turn_asks_another_question(make_context):
    context = make_context(runs=3)

    measure_search(context)

    asked = [one[one.index("search") + 1] for one in context.runner.commands if "search" in one]
    assert len(set(asked)) == len(asked) == 4


def test_an_answer_without_its_vectors_does_not_count(make_context, models):
    context = make_context(
        version=VERSION, models=models, degraded=[{"channel": "vector", "reason": "no model"}]
    )

    measure_search(context)

    assert ("search.hybrid", "no model") in [(gap.name, gap.reason) for gap in context.results.gaps]


def test_notes_that_could_not_be_indexed_are_one_failure(make_context):
    context = make_context(broken="ingest")

    measure_search(context)

    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("search", True)]


def test_help_version_and_schema_are_compared_with_the_import_of_click(make_context):
    context = make_context(runs=3)

    measure_startup(context)

    figures = {one.name: one for one in context.results.figures}
    assert set(figures) == {
        "startup.python",
        "startup.import_click",
        "startup.help",
        "startup.version",
        "startup.schema",
    }
    for name in ("startup.help", "startup.version", "startup.schema"):
        assert (figures[name].yardstick, figures[name].ratio) == ("import click", 1.0)
        assert (figures[name].runs, figures[name].within) == (3, True)


def test_help_that_fails_is_a_gap_and_not_a_figure(make_context):
    context = make_context(broken="--help")

    measure_startup(context)

    assert [gap.name for gap in context.results.gaps if gap.failed] == ["startup.help"]
