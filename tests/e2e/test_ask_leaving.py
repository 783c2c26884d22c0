"""Answers that are left early, by whoever asks or whoever answers, and work side by side."""

import signal
from contextlib import ExitStack

import pytest

from tests.fakes.ollama import Pause, Say, fake_ollama
from tests.fakes.waiting import PATIENCE_S, read_until, wait_for_request

QUESTION = "What is checked first when a restore fails?"
ENDLESS = ("Check the repository first", Pause(120), " [1].")


@pytest.fixture
def server(library):
    with fake_ollama("gemma3:4b") as made:
        library.environment["OLLAMA_HOST"] = made.url
        yield made


@pytest.fixture
def asking(library, server):
    """Start a question; what still runs afterwards is ended."""
    with ExitStack() as stack:

        def start(*flags, step=None, **options):
            server.enqueue(Say(*ENDLESS) if step is None else step)
            process = library.start("ask", QUESTION, "--limit", "1", *flags, **options)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start


def has_ended(process):
    out, err = process.communicate(timeout=PATIENCE_S)
    assert b"Traceback" not in err
    return process.returncode, out, err


def test_interrupted_amid_an_answer_what_came_is_told_and_the_server_stops(
    asking, server, read_lines, library
):
    process = asking("--stream", "--session", "kept")
    read_until(process.stdout, b'"type":"token"')
    process.send_signal(signal.SIGTERM)
    status, out, err = has_ended(process)

    (final,) = read_lines(out)
    assert (status, err) == (130, b"")
    assert (final["type"], final["exit_code"]) == ("final", 130)
    answer = final["answer"]
    assert (answer["answer"], answer["refusal_reason"]) == (ENDLESS[0], "llm_stream_aborted")
    assert (answer["grounded"], answer["citations"], answer["turn_index"]) == (False, [], 0)
    assert server.asked[-1].hung_up.wait(PATIENCE_S)
    (turn,) = library.json("session", "show", "kept")["turns"]
    assert turn["refusal_reason"] == "llm_stream_aborted"


@pytest.mark.parametrize("flag", ["--stream", "--output-format=text"])
def test_interrupted_before_the_first_token_it_is_cancelled(flag, asking, server, read_lines):
    process = asking(flag, step=Say("late", held_s=120))
    request = wait_for_request(server)
    process.send_signal(signal.SIGINT)
    status, out, err = has_ended(process)

    assert status == 130
    assert request.hung_up.wait(PATIENCE_S)
    if flag == "--output-format=text":
        assert (out, b"cancelled" in err) == (b"", True)
        return
    (error,) = [one for one in read_lines(err) if one["schema_version"] == "error.v1"]
    assert error["code"] == "cancelled"
    ends = [one for one in read_lines(out) if one["type"] in ("final", "error")]
    assert [one["error"]["code"] for one in ends] == ["cancelled"] * (flag == "--stream")


@pytest.mark.parametrize("flag", ["--json", "--stream", "--output-format=text"])
def test_a_reader_that_is_gone_ends_the_generation(flag, asking, server):
    process = asking(flag)
    wait_for_request(server)
    if flag == "--stream":
        process.stdout.read(1)
    process.stdout.close()
    process.stdout = None
    status, _, err = has_ended(process)

    assert (status, b"error" in err) == (141, False)
    assert server.asked[-1].hung_up.wait(PATIENCE_S)


def test_two_questions_at_once_are_two_turns_of_a_session(asking, library, server):
    text = "Check the repository first [1]."
    processes = [asking("--session", "both", "--json", step=Say(text, held_s=0.3)) for _ in "ab"]

    assert [has_ended(process)[0] for process in processes] == [0, 0]
    turns = library.json("session", "show", "both")["turns"]
    assert [one["turn_index"] for one in turns] == [0, 1]
