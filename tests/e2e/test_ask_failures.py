"""Servers that fail an answer, each in its own way: the right code, in time, and never silence."""

from time import monotonic

import pytest

from tests.fakes.dead_ends import never_accepting, refusing
from tests.fakes.ollama import Answer, Fail, Pause, Raw, Say, fake_ollama
from tests.fakes.ollama_failures import FAILURES, OVERFLOWS, STRANGE

QUESTION = "What is checked first when a restore fails?"
CODES = {
    **dict.fromkeys(FAILURES, "model_rejected"),
    **dict.fromkeys(OVERFLOWS, "context_overflow"),
    **dict.fromkeys(STRANGE, "model_protocol"),
    "missing": "model_not_pulled",
    "crashed": "model_protocol",
    "unscripted": "model_protocol",
    "cloud_unreachable": "model_unreachable",
    "busy": "model_busy",
    "rate_limited": "model_busy",
    "load_stalled": "timeout",
}
"""What every failure that is known of Ollama is called; what it refuses is the rule."""
HASTY = {"KEBAB_MODELS_LLM_CONNECT_S": "0.4"}
IMPATIENT = {"KEBAB_MODELS_LLM_FIRST_TOKEN_S": "0.4"}
LESS_IMPATIENT = {"KEBAB_MODELS_LLM_FIRST_TOKEN_S": "2"}  # the first token comes in time
IMPATIENT_IN_ALL = {"KEBAB_MODELS_LLM_TOTAL_S": "0.4"}
SLACK_S = 40
"""What a busy machine may add to a limit; what hangs takes longer."""

pytestmark = pytest.mark.usefixtures("in_process")


def read_only_error(ran):
    """Return the only error of a run under `--json`, whose stdout is empty."""
    assert (ran.status, ran.out) == (2, ""), ran
    return ran.fault


def get_times(code):
    """Return how often a server fails: after an overflow it may be asked twice more."""
    return 3 if code == "context_overflow" else 1


def assert_played(server, code):
    """Assert that the server was asked; two overflows may show that nothing smaller is left."""
    assert server.unplayed <= (code == "context_overflow")


def test_every_known_failure_of_ollama_has_its_code(inside):
    for name, code in CODES.items():
        with fake_ollama("gemma3:4b", generation="new") as server:
            server.enqueue(*[Fail(name)] * get_times(code))
            error = read_only_error(inside("ask", QUESTION, "--json", OLLAMA_HOST=server.url))
            assert (error["code"], error["exit_code"]) == (code, 2), name
            assert_played(server, code)
            assert "\n" not in error["message"], name


BROKEN = [
    ({"end": "silent"}, "model_protocol"),
    ({"end": "error"}, "model_protocol"),
    ({"end": "cut"}, "model_unreachable"),
    ({"end": "reset"}, "model_unreachable"),
    ({"error": "some new trouble"}, "model_protocol"),
]


@pytest.mark.parametrize(("how", "code"), BROKEN)
def test_an_answer_that_breaks_off_is_no_answer(how, code, server, inside):
    server.enqueue(*[Say("Check ", "the repository first [1].", **how)] * 2)
    error = read_only_error(inside("ask", QUESTION, "--json", "--session", "kept"))
    streamed = inside("ask", QUESTION, "--stream")

    assert error["code"] == code
    assert [one["type"] for one in streamed.events][-1] == "error"
    assert [one["type"] for one in streamed.events].count("error") == 1
    assert streamed.events[-1]["error"]["code"] == streamed.fault["code"] == code
    assert inside("session", "list", "--json").reply["sessions"] == []


@pytest.mark.parametrize("place", [refusing, never_accepting])
def test_where_no_server_answers_it_says_so_in_time_and_does_not_change_the_mode(place, library):
    with place() as url:
        library.environment |= {"OLLAMA_HOST": url, **HASTY}
        began = monotonic()
        error = library.fails("model_unreachable", "ask", QUESTION)
        took = monotonic() - began
        text = library("ask", QUESTION, status=2)

    assert error["details"]["endpoint"] == url
    assert "--extractive" in error["hint"]
    assert took < SLACK_S
    assert (text.out, b"--extractive" in text.err) == (b"", True)


SILENT = [
    (Say("late", held_s=60), IMPATIENT, "first_token"),
    (Say("Check ", Pause(60), "it"), LESS_IMPATIENT, "next_token"),
    (Say("x", thinking=["hm "] * 9_000, drip=1, drip_s=0.02), IMPATIENT_IN_ALL, "answer"),
    (Answer(body=b'{"mess' * 9_000, pieces_s=0.05), IMPATIENT, "first_token"),
    (Answer(body=b"x" * 9_000, status=500, pieces_s=0.05), IMPATIENT, "first_token"),
    (
        Say(*(one for _ in range(900) for one in (Raw(b"\n"), Pause(0.05)))),
        IMPATIENT,
        "first_token",
    ),
]


@pytest.mark.parametrize(("step", "limit", "operation"), SILENT)
def test_a_server_that_is_silent_or_slow_is_left_in_time(step, limit, operation, server, inside):
    server.enqueue(step)
    began = monotonic()
    error = read_only_error(inside("ask", QUESTION, "--json", **limit))

    assert (error["code"], error["details"]["operation"]) == ("timeout", operation)
    assert monotonic() - began < SLACK_S
    assert server.asked[-1].hung_up.wait(SLACK_S)
