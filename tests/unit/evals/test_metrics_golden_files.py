import pytest

from kebab.errors.catalog import InvalidInput, IoError
from kebab.evals.metrics import (
    GoldenFiles,
    check_output_path,
    encode_queries,
    load_questions,
    read_report,
    write_file,
)
from kebab.wire.evals import GoldenQuery
from kebab.wire.record import encode_json
from tests.fakes.outcomes import mode, outcome, report


def test_a_report_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "a.json"
    result = report(mode(outcome()))
    write_file(path, encode_json(result))

    read = read_report(path)

    assert (read.golden, read.modes[0].outcomes) == (result.golden, result.modes[0].outcomes)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", "{}", '{"schema_version": "eval_report.v2"}']
)
def test_a_file_that_is_no_report_is_named(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)

    with pytest.raises(InvalidInput, match="not an `eval_report") as caught:
        read_report(path)

    assert caught.value.field == str(path)


def test_a_missing_file_or_a_folder_cannot_be_read(tmp_path):
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(IoError):
            read_report(path)


def test_an_output_path_is_checked_before_the_run(tmp_path):
    check_output_path(tmp_path / "new.json")

    for path in (tmp_path, tmp_path / "none" / "new.json"):
        with pytest.raises(IoError) as caught:
            check_output_path(path)
        assert (caught.value.op, caught.value.path) == ("create", str(path))


def test_the_old_file_stays_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("before")

    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)

    with pytest.raises(IoError, match="No space left"):
        write_file(path, b"after")

    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_questions_are_written_one_per_line_without_empty_fields(tmp_path):
    path = tmp_path / "q.jsonl"
    query = GoldenQuery(query="각주", doc="a.md", line_start=2)
    path.write_bytes(encode_queries([query, GoldenQuery(query="x", answerable=False)]))

    assert path.read_text(encoding="utf-8").splitlines()[0] == (
        '{"schema_version":"golden_query.v1","query":"각주","doc":"a.md","line_start":2}'
    )
    assert [one.answerable for one in load_questions(GoldenFiles(queries=path))] == [True, False]
