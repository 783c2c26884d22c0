import json

import pytest

from kebab.errors.catalog import InvalidInput, IoError
from kebab.evals.metrics import GoldenFiles, Question, compute_digest, load_questions, read_qrels


@pytest.fixture
def write_lines(tmp_path):
    def write(name, *lines):
        path = tmp_path / name
        encoded = (one if isinstance(one, str) else json.dumps(one) for one in lines)
        path.write_text("\n".join(encoded) + "\n", encoding="utf-8")
        return path

    return write


def load(path, **others):
    return load_questions(GoldenFiles(queries=path, **others))


def test_a_line_is_a_question_with_its_answer(write_lines):
    line = {
        "id": "a",
        "query": "q",
        "doc": "a.md",
        "line_start": 3,
        "line_end": 4,
        "answers": ["x"],
    }

    assert load(write_lines("q.jsonl", line)) == [
        Question(id="a", text="q", doc="a.md", lines=(3, 4))
    ]


def test_unknown_fields_are_ignored_and_the_line_number_is_the_default_id(write_lines):
    path = write_lines("q.jsonl", "", {"query": "q", "doc": "a.md", "near": {"x": 1}})

    assert [one.id for one in load(path)] == ["2"]


def test_one_line_is_a_range_of_its_own(write_lines):
    (question,) = load(write_lines("q.jsonl", {"query": "q", "doc": "a.md", "line_start": 7}))

    assert question.lines == (7, 7)


def test_a_byte_order_mark_is_no_part_of_the_first_question(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"query": "q", "doc": "a.md"}\r\n')

    assert len(load(path)) == 1


def test_unanswerable_questions_need_no_document(write_lines):
    path = write_lines("q.jsonl", {"id": "1", "query": "q", "answerable": False})
    more = write_lines("n.jsonl", {"id": "1", "query": "r"}, {"query": "s", "answerable": True})

    found = load(path, unanswerable=more)
    assert [(one.id, one.answerable) for one in found] == [
        ("1", False),
        ("unanswerable 1", False),
        ("unanswerable 2", False),
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ["query-id\tcorpus-id\tscore", "1\ta.md\t2", "1\tb.md\t0"],
        ["1\ta.md\t2", "1\tb.md\t0"],
        ["1 0 a.md 2", "1 0 b.md 0"],
    ],
)
def test_judgements_are_read_in_beir_or_trec_format(write_lines, lines):
    path = write_lines("q.jsonl", {"id": 1, "query": "q"})

    (question,) = load(path, qrels=write_lines("qrels.tsv", *lines))
    assert question.relevant == {"a.md": 2, "b.md": 0}


@pytest.mark.parametrize("line", ["1\ta.md\tgood", "1\ta.md", "1\tx\ta.md\t2\t9", "nonsense"])
def test_an_invalid_judgement_is_reported_with_file_and_line(write_lines, line):
    with pytest.raises(InvalidInput) as caught:
        read_qrels(write_lines("qrels.tsv", "1\tb.md\t1", line))

    assert caught.value.field.endswith("qrels.tsv:2")


def test_judgements_of_other_questions_are_refused(write_lines):
    path = write_lines("q.jsonl", {"id": "1", "query": "q", "doc": "a.md"})
    qrels = write_lines("qrels.tsv", "9\ta.md\t1")

    with pytest.raises(InvalidInput, match="judges none of the questions"):
        load(path, qrels=qrels)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "malformed"),
        ('"bread"', "object"),
        ({"doc": "a.md"}, "query"),
        ({"query": "", "doc": "a.md"}, "query"),
        ({"query": "  ", "doc": "a.md"}, "blank"),
        ({"query": "q"}, "neither `doc` nor a grade"),
        ({"query": "q", "relevant": {"a.md": 0}}, "neither `doc` nor a grade"),
        ({"query": "q", "doc": "a.md", "line_start": "3"}, "line_start"),
        ({"query": "q", "doc": "a.md", "line_start": 0}, "line_start"),
        ({"query": "q", "doc": "a.md", "line_end": 3}, "lines without `line_start`"),
        ({"query": "q", "relevant": {"a.md": 1}, "line_start": 3}, "lines without `doc`"),
        ({"query": "q", "doc": "a.md", "line_start": 3, "line_end": 2}, "before"),
        ({"id": "a", "query": "again", "doc": "a.md"}, "the id of line 1, too: a"),
    ],
)
def test_an_invalid_line_is_reported_with_file_and_line(write_lines, line, words):
    path = write_lines("q.jsonl", {"id": "a", "query": "q", "doc": "a.md"}, "", line)

    with pytest.raises(InvalidInput) as caught:
        load(path)

    assert caught.value.field == f"{path}:3"
    assert words in caught.value.cause


def test_a_file_without_questions_is_refused(write_lines):
    with pytest.raises(InvalidInput, match="it holds no question"):
        load(write_lines("q.jsonl"))


def test_a_missing_file_cannot_be_read(tmp_path):
    with pytest.raises(IoError):
        load(tmp_path / "none.jsonl")


def test_the_digest_depends_on_questions_and_answers_but_not_on_the_file(write_lines):
    line = {"id": "1", "query": "q", "doc": "a.md"}
    one, same = (
        load(write_lines("a.jsonl", line)),
        load(write_lines("b.jsonl", {**line, "near": 1})),
    )
    other = load(write_lines("c.jsonl", {**line, "line_start": 1}))

    assert compute_digest(one) == compute_digest(same)
    assert compute_digest(one) != compute_digest(other)
