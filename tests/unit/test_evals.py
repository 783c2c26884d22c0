import json
import math
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from kebab.config.settings import Settings
from kebab.errors.catalog import EmbeddingUnavailable, InvalidInput
from kebab.evals import (
    build_outcome,
    compute_figures,
    evaluate,
    load_questions,
)
from kebab.wire.evals import EvalOutcome, GoldenQuery
from kebab.wire.record import PageCitation, PageSpan
from tests.fakes import replies
from tests.fakes.facade import FakeKebab


@pytest.fixture
def write_lines(tmp_path):
    def write(name, *lines):
        path = tmp_path / name
        encoded = (one if isinstance(one, str) else json.dumps(one) for one in lines)
        path.write_text("\n".join(encoded) + "\n", encoding="utf-8")
        return path

    return write


def test_a_line_is_a_question_with_its_answer(write_lines):
    line = {"id": "a", "query": "q", "doc": "a.md", "line_start": 3, "line_end": 4, "other": 1}
    path = write_lines("q.jsonl", line, {"query": "r", "doc": "a.md", "line_start": 7})

    assert load_questions(path) == [
        GoldenQuery(id="a", query="q", doc="a.md", line_start=3, line_end=4),
        GoldenQuery(id="2", query="r", doc="a.md", line_start=7),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_question(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"query": "q", "doc": "a.md"}\r\n')

    assert len(load_questions(path)) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "malformed"),
        ({"query": "", "doc": "a.md"}, "query"),
        ({"query": "  ", "doc": "a.md"}, "blank"),
        ({"query": "q"}, "neither `doc` nor a grade"),
        ({"query": "q", "relevant": {"a.md": 0}}, "neither `doc` nor a grade"),
        ({"query": "q", "doc": "a.md", "line_end": 3}, "lines without `line_start`"),
        ({"query": "q", "relevant": {"a.md": 1}, "line_start": 3}, "lines without `doc`"),
        ({"query": "q", "doc": "a.md", "line_start": 3, "line_end": 2}, "before"),
        ({"id": "a", "query": "again", "doc": "a.md"}, "another line has the same id: a"),
    ],
)
def test_an_invalid_line_is_reported_with_file_and_line(write_lines, line, words):
    path = write_lines("q.jsonl", {"id": "a", "query": "q", "doc": "a.md"}, "", line)

    with pytest.raises(InvalidInput) as caught:
        load_questions(path)

    assert caught.value.field == f"{path}:3"
    assert words in caught.value.cause


def test_a_file_without_questions_is_refused(write_lines):
    with pytest.raises(InvalidInput, match="it holds no question"):
        load_questions(write_lines("q.jsonl"))


def hit(path="ops/backup.md", lines=(12, 13)):
    return replies.hit(doc_path=path, citation=replies.line_citation(path, *lines))


def judge(question, *hits):
    asked = GoldenQuery(id="1", query="q", **question)
    return build_outcome(asked, replies.response(*hits), 0.0)


@pytest.mark.parametrize(
    ("doc", "path", "same"),
    [
        ("backup.md", "ops/backup.md", True),
        ("./ops/backup.md", "notes/ops/backup.md", True),
        ("up.md", "ops/backup.md", False),
        ("notes/ops/backup.md", "ops/backup.md", False),
        (unicodedata.normalize("NFD", "각주.md"), "a/각주.md", True),
    ],
)
def test_a_document_is_named_by_whole_names_at_its_end(doc, path, same):
    assert judge({"doc": doc}, hit(path)).rank == (1 if same else None)


@pytest.mark.parametrize(
    ("lines", "right"),
    [((12, 13), True), ((1, 12), True), ((13, 20), True), ((1, 11), False), ((14, 14), False)],
)
def test_overlapping_lines_are_right(lines, right):
    assert judge(
        {"doc": "backup.md", "line_start": lines[0], "line_end": lines[1]}, hit()
    ).rank == (1 if right else None)


def test_a_passage_without_lines_overlaps_none():
    page = PageCitation(path="a.pdf", uri="a.pdf#page=1", page=PageSpan(number=1, of=2))
    found = replies.hit(doc_path="a.pdf", citation=page)

    assert judge({"doc": "a.pdf", "line_start": 1, "line_end": 2}, found).rank is None
    assert judge({"doc": "a.pdf"}, found).rank == 1


def test_a_grade_above_0_is_right():
    graded = {"doc": "a.md", "relevant": {"backup.md": 1, "c.md": 0}}

    assert judge(graded, hit("c.md"), hit()).rank == 2


def test_without_grades_ndcg_counts_the_right_hit_alone():
    asked = {"doc": "backup.md"}

    assert judge(asked, hit()).ndcg == 1
    assert judge(asked, hit("a.md"), hit()).ndcg == pytest.approx(1 / math.log2(3))
    assert judge(asked, *[hit("a.md")] * 10, hit()).ndcg == 0


def test_ndcg_of_grades_is_that_of_trec_eval():
    # Worked by hand: (1 + 3/log2(3) + 0) / (3 + 1/log2(3)), with gains 1, 3, 0.
    graded = {"relevant": {"a.md": 3, "b.md": 1, "c.md": 0}}

    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    found = judge(graded, hit("b.md"), hit("a.md"), hit("a.md", (1, 2)), hit("c.md"))
    assert found.ndcg == pytest.approx(expected)


def outcome(rank, **changes):
    given: dict[str, Any] = {
        "answerable": True,
        "ndcg": 1 / rank if rank else 0.0,
        "hits": 10,
        "score": 0.5,
        "confidence": "strong",
        "refused": False,
        "duration_ms": 2.0,
    }
    return EvalOutcome(id="1", query="q", rank=rank, **{**given, **changes})


MIXED = [
    outcome(1, score=0.95, duration_ms=9.0),
    outcome(2, score=0.55),
    outcome(7, score=0.55, confidence="weak", refused=True),
    outcome(None, hits=0, score=None, confidence=None, refused=True),
    outcome(None, answerable=False, hits=0, score=None, confidence=None, refused=True),
    outcome(None, answerable=False, hits=3, score=0.3, confidence="fair"),
]
"""Ranks 1, 2, 7, none; and two questions that nothing answers, one of them refused."""


def test_each_figure_has_its_value():
    expected = {
        "hit@1": 1 / 4,
        "hit@5": 2 / 4,
        "hit@10": 3 / 4,
        "mrr@10": (1 + 1 / 2 + 1 / 7) / 4,
        "ndcg@10": (1 + 1 / 2 + 1 / 7) / 4,
        "empty_rate": 1 / 4,
        "false_refusal_rate": 2 / 4,
        "refusal_recall": 1 / 2,
        # Of four first hits: one 0.05 from right, two 0.55 from wrong, one 0.3 from wrong.
        "calibration_error": (0.05 + 2 * 0.55 + 0.3) / 4,
        "median_ms": 2.0,
    }

    found = {one.metric: one.value for one in compute_figures(MIXED)}
    assert found == {name: pytest.approx(value) for name, value in expected.items()}


def test_figures_without_questions_are_undefined():
    none_unanswerable = {one.metric: one.value for one in compute_figures(MIXED[:1])}
    none_answerable = {one.metric: one.value for one in compute_figures(MIXED[4:])}

    assert none_unanswerable["refusal_recall"] is None
    assert none_answerable["hit@1"] is None


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

    def run(kind=FakeKebab, modes=()):
        kebab = kind(Settings(), config_path=Path("none"))
        return evaluate(kebab, path, lambda event: None, modes=modes)

    return run


def test_an_unavailable_mode_is_skipped_unless_it_is_selected(run_evaluation):
    report = run_evaluation(NoVectorsKebab)

    assert [one.mode for one in report.modes] == ["hybrid", "lexical"]
    assert [(one.mode, "no weights" in one.reason) for one in report.skipped] == [("vector", True)]
    with pytest.raises(EmbeddingUnavailable):
        run_evaluation(NoVectorsKebab, modes=("vector",))


def test_the_report_describes_the_questions(run_evaluation):
    golden = run_evaluation().golden

    assert (golden.answerable, golden.unanswerable) == (2, 1)
    assert (golden.missing, golden.missing_count) == (["gone.md"], 1)


def test_a_question_that_cannot_be_asked_is_named(run_evaluation):
    class RefusingKebab(FakeKebab):
        def search(self, request):
            raise InvalidInput(field="$.query", cause="it is empty")

    with pytest.raises(InvalidInput, match="question 1 cannot be asked"):
        run_evaluation(RefusingKebab)
