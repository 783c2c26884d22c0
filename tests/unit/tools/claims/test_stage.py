import httpx
import pytest

from tools.claims.stage import Reply, Statement, run_broken_server


@pytest.mark.parametrize(
    ("made", "true", "verdict"),
    [
        pytest.param(True, False, "false", id="false"),
        pytest.param(False, True, "withheld", id="withheld"),
        pytest.param(True, True, "right", id="made"),
        pytest.param(False, False, "right", id="silent"),
    ],
)
def test_a_statement_is_judged_by_the_truth(made, true, verdict):
    one = Statement("here", "absent: word", made, true)

    assert one.is_false is (verdict == "false")
    assert one.is_withheld is (verdict == "withheld")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("note: not in your notes: Rixdra, other\n", id="words"),
        pytest.param("no results for: rixdra\n", id="results"),
        pytest.param("note: no line matches in 7 files: rixdra\n", id="lines"),
        pytest.param("note: nothing convincing for: rixdra\n", id="convincing"),
    ],
)
def test_an_absence_without_a_limit_is_recognised(text):
    assert Reply(1, text, {}).states_absence("rixdra")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("note: not in the files that are read: rixdra (1 file)\n", id="words"),
        pytest.param("no results so far for: rixdra\n", id="results"),
        pytest.param("note: no line matches in 7 files: rixdra (1 file)\n", id="lines"),
    ],
)
def test_an_absence_with_a_limit_is_none(text):
    assert not Reply(1, text, {}).states_absence("rixdra")


def test_the_absence_of_another_word_is_not_taken_for_it():
    assert not Reply(1, "not in your notes: other\n", {}).states_absence("rixdra")


def test_a_broken_server_gives_one_answer_to_every_request():
    with run_broken_server(500, b"oops") as address:
        answers = [httpx.get(f"{address}/any"), httpx.post(f"{address}/other", content=b"{}")]

    assert [(one.status_code, one.content) for one in answers] == [(500, b"oops")] * 2
