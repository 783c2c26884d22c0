import json

import pytest
from msgspec.structs import replace

from kebab.errors.catalog import (
    ContextOverflow,
    ModelBusy,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)
from kebab.errors.signal import Signal
from kebab.llm.endpoint import parse_endpoint
from kebab.llm.http_stream import ResponseHead
from kebab.llm.server_errors import ModelRequest, build_refusal, classify_error, parse_server_error
from tests.fakes.ollama_failures import CRASHED, FAILURES, OVERFLOWS, build_failure
from tests.fakes.ollama_wire import CHAT, SHOW

REQUEST = ModelRequest(
    endpoint=parse_endpoint("http://me:secret@host:1"),
    operation="ask",
    model="tiny",
    path=CHAT,
    prompt_tokens=900,
    context_tokens=64,
)
MEANINGS: dict[str, type[Signal]] = {
    **dict.fromkeys(FAILURES, ModelRejected),
    **dict.fromkeys(OVERFLOWS, ContextOverflow),
    "missing": ModelNotPulled,
    "load_stalled": TimedOut,
    "crashed": ModelProtocol,
    "cloud_unreachable": ModelUnreachable,
    "unscripted": ModelProtocol,
    "busy": ModelBusy,
    "rate_limited": ModelBusy,
}
CASES = [
    (name, path, generation)
    for name in FAILURES
    for path in (CHAT, SHOW)
    for generation in ("old", "new")
    if path == CHAT or name in ("missing", "cloud_disabled")  # others have one text for all calls
]


def answered(name, path=CHAT, generation="new", **given) -> Signal:
    status, kind, body = build_failure(name, path, generation, given)
    return build_refusal(REQUEST, ResponseHead(status, kind), body)


def failed(request, error) -> Signal:
    """Return the signal for an error line of a stream."""
    parsed = parse_server_error({"error": error})
    assert parsed is not None
    return classify_error(request, parsed)


@pytest.mark.parametrize(("name", "path", "generation"), CASES)
def test_every_failure_of_both_generations_has_its_signal(name, path, generation):
    signal = answered(name, path, generation)

    assert type(signal) is MEANINGS[name]
    assert "secret" not in str(signal.details())


@pytest.mark.parametrize(("estimate", "prompt_tokens"), [(900, 900), (3, 65)])
def test_an_overflow_without_counts_is_estimated_as_longer_than_the_window(estimate, prompt_tokens):
    request = replace(REQUEST, prompt_tokens=estimate)

    signal = failed(request, "the input length exceeds the context length")

    assert signal.details() == {
        "prompt_tokens": prompt_tokens,
        "context_tokens": 64,
        "operation": "ask",
    }


@pytest.mark.parametrize("counts", [{}, {"n_prompt_tokens": "9", "n_ctx": -4}, {"n_ctx": True}])
def test_the_type_of_a_relayed_error_is_enough(counts):
    error = {"message": "trop long", "type": "exceed_context_size_error", **counts}

    signal = failed(REQUEST, json.dumps({"error": error}))

    assert signal.details() == {"prompt_tokens": 900, "context_tokens": 64, "operation": "ask"}


def test_the_text_of_a_relayed_error_is_unwrapped():
    signal = answered("no_images")

    assert signal.details() == {
        "model": "tiny",
        "endpoint": "http://host:1",
        "operation": "ask",
        "cause": "Multimodal data provided, but model does not support multimodal requests.",
        "reason": "task",
        "setting": None,
    }


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (CRASHED, ModelProtocol),
        ('POST predict: Post "http://127.0.0.1:40335/completion": EOF', ModelProtocol),
        ("model 'tiny' not found", ModelNotPulled),
        ("something new", ModelProtocol),
        ('{"error": 5}', ModelProtocol),
        ('{"error":' * 50_000, ModelProtocol),
        ("exceed " * 100_000, ModelProtocol),
    ],
    ids=range(7),
)
def test_an_error_in_a_stream_has_its_signal(text, meaning):
    assert type(failed(REQUEST, text)) is meaning


def test_a_stalled_load_reports_the_elapsed_time():
    signal = answered("load_stalled").details()

    assert signal["operation"] == "load"
    assert signal["elapsed_ms"] >= signal["deadline_ms"] >= 0


def test_causes_are_one_short_line():
    text = "llama runner process has terminated: \x1b[31m\npanic:\r\n" + "goroutine " * 1000

    cause = failed(REQUEST, text).details()["cause"]

    assert cause.isprintable()
    assert cause.startswith("llama runner process has terminated: [31m panic: goroutine")
    assert len(cause) <= 300
