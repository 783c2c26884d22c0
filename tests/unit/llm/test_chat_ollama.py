import json

import pytest
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import Message
from kebab.errors.catalog import ContextOverflow, ModelProtocol, ModelRejected
from kebab.llm.chat import OllamaChat
from kebab.llm.endpoint import parse_endpoint
from tests.fakes.ollama import Fail, Raw, Say, fake_ollama

LIMITS = Llm(connect_s=5, first_token_s=20, total_s=40)
QUESTION = [Message("system", "Be brief."), Message("user", "안녕? \ud800")]


@pytest.fixture(params=["old", "new"])
def ollama(request):
    with fake_ollama("tiny:latest", generation=request.param) as server:
        yield server


@pytest.fixture
def newer():
    with fake_ollama("tiny:latest") as server:
        yield server


def ask(url, *, limits=LIMITS, on_text=lambda _text: None, model="tiny", **options):
    chosen = replace(limits, context_tokens=options.pop("window", 1000), **options)
    chat = OllamaChat(parse_endpoint(url), model, chosen)
    return chat.chat(QUESTION, max_tokens=50, on_text=on_text)


def refusal(server, *steps, **how):
    server.enqueue(*steps)
    with pytest.raises(Exception) as raised:  # noqa: PT011 - the caller looks at its class
        ask(server.url, **how)
    return raised.value


def line(**fields):
    return Raw(json.dumps(fields).encode() + b"\n")


def test_the_request_forbids_truncation_and_keeps_its_options(ollama):
    ollama.enqueue(Say("a"), Say("b"))

    ask(ollama.url)
    ask(ollama.url, think=False, keep_alive="1h")

    first, second = ollama.bodies()
    assert first == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "안녕? \ud800"},
        ],
        "stream": True,
        "think": False,
        "truncate": False,
        "keep_alive": "5m",
        "options": {"num_ctx": 1000, "num_predict": 50, "temperature": 0},
    }
    assert second == {**first, "keep_alive": "1h"}
    assert ollama.ignored() == []


@pytest.mark.parametrize(
    ("value", "sent"),
    [("-1", -1), ("300", 300), ("-1m", "-1m")],
)
def test_seconds_are_sent_as_a_number(newer, value, sent):
    newer.enqueue(Say("a"))

    ask(newer.url, keep_alive=value)

    assert newer.bodies()[0]["keep_alive"] == sent


@pytest.mark.parametrize(
    ("error", "setting"),
    [
        ("no_thinking", "models.llm.think"),
        ("bad_think", "models.llm.think"),
        ("bad_duration", "models.llm.keep_alive"),
        ("no_unit", "models.llm.keep_alive"),
    ],
)
def test_a_refused_option_names_its_setting(ollama, error, setting):
    signal = refusal(ollama, Fail(error))

    assert isinstance(signal, ModelRejected)
    assert (signal.reason, signal.setting) == ("option", setting)
    assert setting in str(signal)


@pytest.mark.parametrize(("tokens", "is_cut"), [(24, False), (25, True), (600, True)])
def test_an_answer_beyond_the_window_is_cut_off(newer, tokens, is_cut):
    newer.enqueue(Say("a", prompt_tokens=1000, completion_tokens=tokens))

    assert ask(newer.url, window=1024).is_cut is is_cut


@pytest.mark.parametrize("reason", ["load", "unload"])
def test_a_model_that_was_only_loaded_is_a_protocol_error(ollama, reason):
    assert isinstance(refusal(ollama, Say(done_reason=reason)), ModelProtocol)


@pytest.mark.parametrize(
    "strange",
    [
        Raw(b"garbage\n"),
        Raw(b"\xff\xfe\n"),
        Raw(b"[1]\n"),
        Raw(b'{"a":' * 50_000 + b"\n"),
        line(message=5),
        line(message={"content": 5}),
        line(error=5),
        line(error=[]),
    ],
    ids=range(8),
)
def test_an_invalid_line_is_a_protocol_error(newer, strange):
    assert isinstance(refusal(newer, Say("a", strange, "b")), ModelProtocol)


@pytest.mark.parametrize(
    ("window", "prompt_tokens", "cut"),
    [
        (1000, 999, False),
        (1000, 1000, True),
        (1000, 1010, False),  # newer servers round the window up to 1024
        (1000, 1024, True),
        (1024, 1023, False),
        (1024, 1024, True),
    ],
)
def test_a_truncated_prompt_is_an_overflow(newer, window, prompt_tokens, cut):
    newer.enqueue(Say("a", prompt_tokens=prompt_tokens))

    if cut:
        with pytest.raises(ContextOverflow) as raised:
            ask(newer.url, window=window)
        assert raised.value.details() == {
            "prompt_tokens": prompt_tokens,
            "context_tokens": window,
            "operation": "ask",
        }
    else:
        assert ask(newer.url, window=window).prompt_tokens == prompt_tokens
