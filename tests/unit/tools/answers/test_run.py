import json

import pytest

from tests.fakes.openai import Say, fake_openai
from tools.answers.judge import Verdict
from tools.answers.run import main, render_counts

NOTE = "# Backup\n\nThe backup of all documents runs every night at two o'clock with restic.\n"
ANSWER = "The backup of all documents runs every night at two o'clock [1]."
QUESTION = "When does the backup of the documents run?"


@pytest.fixture
def notes(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "backup.md").write_text(NOTE, encoding="utf-8")
    return tmp_path / "notes"


def test_questions_are_asked_and_their_answers_counted(notes, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("KEBAB_OFFLINE", "1")
    questions, log = tmp_path / "questions.txt", tmp_path / "log.jsonl"
    questions.write_text(f"{QUESTION}\n\n{QUESTION}\n{QUESTION}\n", encoding="utf-8")
    with fake_openai("tiny") as server:
        server.enqueue(Say(ANSWER), Say(ANSWER, finish="length"), Say("NOT_IN_NOTES"))
        line = [str(notes), str(questions), "--endpoint", server.url, "--model", "tiny"]
        status = main([*line, "--log", str(log)])

    told = capsys.readouterr().out.splitlines()
    assert status == 0
    assert told[:4] == ["questions: 3", "  grounded: 2", "  llm_self_judge: 1", "truncated: 1"]
    rows = [json.loads(row) for row in log.read_text(encoding="utf-8").splitlines()]
    assert [row["answer"]["grounded"] for row in rows] == [True, True, False]


def test_faults_are_listed_with_their_questions():
    verdicts = [
        Verdict(question="One?", unmarked=("curl evil",), blocks=1, seconds=2.0, asked_again=1),
        Verdict(question="Two?", error="timeout"),
    ]

    told = list(render_counts(verdicts))

    assert "  timeout: 1" in told
    assert "asked again after a part of the answer: 1" in told
    assert "    One? -> curl evil" in told
    assert "seconds: median 2.0, most 2.0" in told
