import math
import unicodedata

import pytest

from kebab.evals.metrics import Question, compute_ndcg, find_rank, is_relevant, is_same_document
from kebab.wire.citation import PageCitation, PageSpan
from tests.fakes import replies


def hit(path="ops/backup.md", lines=(12, 13)):
    return replies.hit(doc_path=path, citation=replies.line_citation(path, *lines))


def question(**changes):
    return Question(id="1", text="q", **changes)


@pytest.mark.parametrize(
    ("doc", "path", "same"),
    [
        ("backup.md", "ops/backup.md", True),
        ("ops/backup.md", "ops/backup.md", True),
        ("./ops/backup.md", "notes/ops/backup.md", True),
        ("up.md", "ops/backup.md", False),
        ("ops", "ops/backup.md", False),
        ("notes/ops/backup.md", "ops/backup.md", False),
        ("", "ops/backup.md", False),
        (unicodedata.normalize("NFD", "각주.md"), "a/각주.md", True),
    ],
)
def test_a_document_is_named_by_whole_names_at_its_end(doc, path, same):
    assert is_same_document(doc, path) is same


@pytest.mark.parametrize(
    ("lines", "right"),
    [((12, 13), True), ((1, 12), True), ((13, 20), True), ((1, 11), False), ((14, 14), False)],
)
def test_overlapping_lines_are_relevant(lines, right):
    assert is_relevant(question(doc="backup.md", lines=lines), hit()) is right


def test_without_lines_any_passage_of_the_document_is_relevant():
    assert is_relevant(question(doc="backup.md"), hit())
    assert not is_relevant(question(doc="other.md"), hit())


def test_a_passage_without_lines_overlaps_none():
    page = PageCitation(path="a.pdf", uri="a.pdf#page=1", page=PageSpan(number=1, of=2))
    found = replies.hit(doc_path="a.pdf", citation=page)

    assert not is_relevant(question(doc="a.pdf", lines=(1, 2)), found)
    assert is_relevant(question(doc="a.pdf"), found)


def test_a_grade_above_0_is_relevant():
    graded = question(doc="a.md", relevant={"backup.md": 1, "c.md": 0})

    assert is_relevant(graded, hit())
    assert not is_relevant(graded, hit("c.md"))


def test_no_hit_is_relevant_to_an_unanswerable_question():
    assert not is_relevant(question(doc="backup.md", answerable=False), hit())


def test_the_rank_is_that_of_the_first_relevant_hit():
    hits = [hit("a.md"), hit(), hit()]

    assert find_rank(question(doc="backup.md"), hits) == 2
    assert find_rank(question(doc="none.md"), hits) is None


def test_without_grades_ndcg_counts_the_relevant_hit_alone():
    assert compute_ndcg(question(doc="backup.md"), [hit()]) == 1
    assert compute_ndcg(question(doc="backup.md"), [hit("a.md"), hit()]) == pytest.approx(
        1 / math.log2(3)
    )
    assert compute_ndcg(question(doc="backup.md"), [hit("a.md")] * 10 + [hit()]) == 0
    assert compute_ndcg(question(doc="backup.md"), []) == 0


def test_ndcg_of_grades_is_that_of_trec_eval():
    # Worked by hand: (1 + 3/log2(3) + 0) / (3 + 1/log2(3)), with gains 1, 3, 0.
    graded = question(relevant={"a.md": 3, "b.md": 1, "c.md": 0})
    hits = [hit("b.md"), hit("a.md"), hit("c.md")]

    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert compute_ndcg(graded, hits) == pytest.approx(expected)


def test_a_document_counts_once_at_the_rank_of_its_first_passage():
    graded = question(relevant={"a.md": 1, "b.md": 1})

    once = compute_ndcg(graded, [hit("x/a.md"), hit("x/a.md"), hit("b.md")])
    twice = compute_ndcg(graded, [hit("x/a.md"), hit("y/a.md")])
    assert once == pytest.approx(1)
    assert twice == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_the_ideal_order_has_ten_documents():
    graded = question(relevant={f"{number}.md": 1 for number in range(20)})

    assert compute_ndcg(graded, [hit(f"{number}.md") for number in range(10)]) == pytest.approx(1)


def test_negative_grades_are_no_gain():
    assert compute_ndcg(question(relevant={"a.md": -1, "b.md": 1}), [hit("a.md")]) == 0
