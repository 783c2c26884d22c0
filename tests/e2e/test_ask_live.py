"""Answers of a real process by a real model, whose wording nobody can foresee."""

import re

import pytest

from tests.live.llama_server import ALIAS

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("llama")]

RESTORE = "What is checked first when a restore fails?"
REASONS = {None, "llm_self_judge", "unsupported_claims", "empty_answer"}
FRAME = re.compile(r"</?(?:evidence|passage)\b|From: .*lines? \d")


@pytest.fixture
def asked(library, llama):
    """The library, whose answers the real model writes."""
    library.environment |= {
        "KEBAB_MODELS_LLM_PROVIDER": "openai",
        "KEBAB_MODELS_LLM_ENDPOINT": llama.url,
        "KEBAB_MODELS_LLM_MODEL": ALIAS,
        "KEBAB_MODELS_LLM_CONTEXT_TOKENS": str(llama.window),
        "KEBAB_MODELS_LLM_ANSWER_TOKENS": "60",
    }
    return library


@pytest.fixture
def ask(asked, read_lines):
    """Ask with flags; return the objects on stdout and on stderr."""

    def run(*flags, limit):
        process = asked.start("ask", RESTORE, "--limit", limit, *flags)
        out, err = process.communicate(timeout=200)
        found = read_lines(out)
        assert process.returncode == found[-1]["exit_code"]
        assert process.returncode in (0, 1)
        return found, err

    return run


def assert_honest(answer):
    """Assert that an answer is what its own fields say it is."""
    assert answer["refusal_reason"] in REASONS
    assert answer["grounded"] == bool(answer["citations"])
    assert (answer["mode"], answer["model"]) == ("generative", ALIAS)
    assert not FRAME.search(answer["answer"])
    usage = answer["usage"]
    assert usage["prompt_tokens"] > 100
    assert usage["truncated"] == (usage["finish_reason"] == "length")
    assert usage["first_token_ms"] > 0
    assert usage["completion_tokens"] <= 60


def test_a_stream_shows_the_answer_as_it_is_written(ask):
    lines, err = ask("--stream", limit="1")
    found, *events, last = [line for line in lines if line["type"] != "heartbeat"]

    assert_honest(last["answer"])
    assert (found["type"], last["type"], err) == ("retrieval_done", "final", b"")
    assert {event["type"] for event in events} <= {"token"}
    shown = "".join(event.get("delta", "") for event in events)
    assert not FRAME.search(shown)


def test_an_overflow_is_asked_again_with_what_fits_the_window(ask, asked, start_llama):
    asked.environment["KEBAB_MODELS_LLM_CONTEXT_TOKENS"] = "8192"

    with start_llama(window=768) as server:
        server.wait_until_ready()
        asked.environment["KEBAB_MODELS_LLM_ENDPOINT"] = server.url
        (answer,), _ = ask("--json", limit="20")

    assert_honest(answer)
    usage = answer["usage"]
    assert usage["downshifts"] == 1
    assert usage["prompt_tokens"] <= server.window - 60
    (warning,) = [one for one in answer["warnings"] if one["code"] == "downshifted"]
    assert warning["message"].endswith(f"`models.llm.context_tokens`: {server.window}")
