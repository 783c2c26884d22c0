import pytest

from tools.trial.agents import Attempt, Question
from tools.trial.run import load_questions, summarise

ONE = Question(text="Who?", queries=["who"], rewordings=[], patterns=[], needs=["cat"])
TWO = Question(
    text="Who, where?", queries=["who", "where"], rewordings=[], patterns=[], needs=["cat"]
)
ABSENT = Question(text="When?", queries=["when"], rewordings=[], patterns=[])


def test_shares_are_counted_by_kind_of_question():
    attempts = [
        Attempt(calls=2, bytes=10, answered=True),
        Attempt(calls=1, bytes=20, answered=True, first_reply=True),
        Attempt(calls=1, bytes=0, judged_absent=True),
    ]

    found = summarise([ONE, TWO, ABSENT], attempts)

    assert (found["two_part_first_reply"], found["one_part_first_reply"]) == (1, 0)
    assert found["calls"] == pytest.approx(4 / 3)
    assert found["bytes"] == 10
    assert (found["absent_calls"], found["answered"]) == (1, 1)


def test_questions_are_of_three_kinds():
    questions = load_questions()
    kinds = {(bool(question.needs), len(question.queries)) for question in questions}

    assert kinds == {(True, 1), (True, 2), (False, 1)}
    assert all(question.patterns and question.rewordings for question in questions)
