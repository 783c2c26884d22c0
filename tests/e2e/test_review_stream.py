"""Streams of reviews by real processes, with a model server that does not finish its response."""

import signal

import pytest

from tests.fakes.ollama import Say, fake_ollama
from tests.fakes.waiting import PATIENCE_S, read_until, wait_for_request

TEXT = "# Doors\n\nOpen [the door](gone.md). Teh valve is closd.\n"


@pytest.fixture
def server(library):
    with fake_ollama("gemma3:4b") as made:
        library.environment["OLLAMA_HOST"] = made.url
        made.enqueue(Say("late", held_s=120))
        yield made


@pytest.fixture
def process(library, server):
    """A stream whose first page is read; the model has been asked."""
    (library.folder / "a.md").write_text(TEXT, encoding="utf-8")
    with library.start("review", "a.md", "--stream") as started:
        try:
            yield started
        finally:
            started.kill()


def test_a_reader_that_is_gone_ends_the_request_to_the_model(process, server):
    read_until(process.stdout, b'"items"')
    request = wait_for_request(server)
    process.stdout.close()
    process.stdout = None

    _, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (141, b"")
    assert request.hung_up.wait(PATIENCE_S)


def test_an_interruption_ends_the_stream_and_the_run_goes_on_later(
    process, server, read_lines, library
):
    seen = read_until(process.stdout, b'"items"')
    request = wait_for_request(server)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)

    lines = read_lines(seen + out)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert request.hung_up.wait(PATIENCE_S)
    assert [line["type"] for line in lines].count("end") == 1
    assert (lines[-1]["exit_code"], lines[-1]["data"]["reason"]) == (130, "cancelled")
    assert not lines[-1]["data"]["completed"]

    run = lines[-1]["data"]["run_id"]
    again = library("review", "--run-id", run, "--no-llm", "--stream", status=1)
    pages = [line["data"] for line in read_lines(again.out) if line["type"] == "items"]
    (first,) = [line["data"] for line in lines if line["type"] == "items"]
    assert pages[0]["items"] == first["items"]


@pytest.mark.parametrize(
    ("number", "arguments"),
    [
        (signal.SIGINT, ("review", "a.md")),
        (signal.SIGTERM, ("review", "a.md", "--json")),
        (signal.SIGINT, ("translate", "a.md", "--to", "ko")),
    ],
)
def test_an_interruption_ends_the_request_to_the_model(number, arguments, server, library):
    (library.folder / "a.md").write_text(TEXT, encoding="utf-8")
    with library.start(*arguments) as process:
        request = wait_for_request(server)
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130
    assert b"Traceback" not in err
    assert request.hung_up.wait(PATIENCE_S)
