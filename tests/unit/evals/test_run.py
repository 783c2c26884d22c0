from pathlib import Path

import pytest

from kebab.config.settings import Settings
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.evals.metrics import GoldenFiles
from kebab.evals.run import EvalOptions, evaluate
from tests.fakes import replies
from tests.fakes.facade import FakeKebab

LINES = (
    '{"query": "restore", "doc": "ops/backup.md", "line_start": 99}\n'
    '{"query": "backups", "doc": "gone.md"}\n'
    '{"query": "nothing", "answerable": false}\n'
)


class NoVectorsKebab(FakeKebab):
    """Has no vectors."""

    def search(self, request):
        if request.mode == "vector":
            raise EmbeddingUnavailable(model="auto", tried=[], cause="no weights")
        return super().search(request)


@pytest.fixture
def run_evaluation(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_text(LINES)

    def run(kind=FakeKebab, **options):
        kebab = kind(Settings(), config_path=Path("none"))
        return evaluate(
            kebab, GoldenFiles(queries=path), EvalOptions(**options), lambda event: None
        )

    return run


def test_every_mode_is_measured_unless_some_are_selected(run_evaluation):
    assert [one.mode for one in run_evaluation().modes] == ["hybrid", "lexical", "vector"]
    assert [one.mode for one in run_evaluation(modes=("vector", "vector")).modes] == ["vector"]


def test_an_unavailable_mode_is_skipped_unless_it_is_selected(run_evaluation):
    report = run_evaluation(NoVectorsKebab)

    assert [one.mode for one in report.modes] == ["hybrid", "lexical"]
    assert report.skipped[0].mode == "vector"
    assert "no weights" in report.skipped[0].reason


def test_a_selected_mode_is_not_skipped(run_evaluation):
    with pytest.raises(EmbeddingUnavailable):
        run_evaluation(NoVectorsKebab, modes=("vector",))


def test_documents_that_are_not_indexed_are_named(run_evaluation):
    golden = run_evaluation().golden

    assert (golden.missing, golden.missing_count) == (["gone.md"], 1)


def test_questions_are_counted_by_kind(run_evaluation):
    golden = run_evaluation().golden

    assert (golden.answerable, golden.unanswerable) == (2, 1)
    assert (golden.with_lines, golden.graded) == (1, 0)


def test_lines_are_ignored_by_document(run_evaluation):
    strict, lenient = run_evaluation(), run_evaluation(by_doc=True)

    assert strict.modes[0].outcomes[0].rank is None
    assert lenient.modes[0].outcomes[0].rank == 1
    assert lenient.settings.by_doc
    assert strict.golden.digest != lenient.golden.digest


def test_the_report_describes_the_run(run_evaluation):
    report = run_evaluation(limit=20, per_doc=3, rerank=True)

    assert (report.settings.limit, report.settings.per_doc) == (20, 3)
    assert report.settings.rerank
    assert len(report.modes[0].hit_curve) == 20
    assert report.versions.kebab == "0.1.0"


class Moving(FakeKebab):
    """Changes with every search."""

    def search(self, request):
        reply = super().search(request)
        return replies.response(*reply.hits, corpus_revision=len(self.asked))


def test_a_change_of_the_index_during_the_run_is_reported(run_evaluation):
    assert run_evaluation(Moving).moved
    assert not run_evaluation().moved
    assert run_evaluation().corpus_revision == 7
