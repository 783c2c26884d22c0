"""The adapter against a real Ollama: `KEBAB_LIVE_OLLAMA` says where it listens.

`KEBAB_LIVE_MODEL` names the model to ask; without it, it is the first one that can chat.
"""

import httpx
import pytest
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import Message
from kebab.errors.catalog import ContextOverflow, ModelNotPulled, ModelRejected, TimedOut
from kebab.llm.endpoint import parse_endpoint
from kebab.llm.server_check import add_default_tag, probe_ollama
from tests.isolation import REAL
from tests.ports.language_models import ollama_model

ENDPOINT = REAL.get("KEBAB_LIVE_OLLAMA", "")
DEADLINES = Llm(connect_s=5.0, first_token_s=600.0, total_s=900.0)
WINDOW = 2048

pytestmark = [pytest.mark.live, pytest.mark.timeout(1200)]
if not ENDPOINT:
    pytest.skip("KEBAB_LIVE_OLLAMA names no server", allow_module_level=True)


class EnoughError(Exception):
    """What a listener raises when it has heard enough."""


@pytest.fixture(scope="module")
def installed():
    """What each model of the server can do, by its name."""
    endpoint = parse_endpoint(ENDPOINT)
    with httpx.Client(trust_env=not endpoint.is_loopback, timeout=30) as client:
        return {
            name: client.post(endpoint.build_url("/api/show"), json={"model": name}).json()
            for name in probe_ollama(endpoint, read_s=30.0)[1]
        }


@pytest.fixture(scope="module")
def name(installed):
    """The model to ask."""
    named = REAL.get("KEBAB_LIVE_MODEL")
    able = [one for one, shown in installed.items() if "completion" in shown["capabilities"]]
    if not named and not able:
        pytest.skip("no model there can chat")
    return named or able[0]


@pytest.fixture
def model(name):
    return ollama_model(ENDPOINT, DEADLINES, model=name, context_tokens=WINDOW)


@pytest.fixture
def heard():
    """What the listener heard, piece by piece."""
    return []


@pytest.fixture(autouse=True)
def nothing_is_printed(capfd):
    yield
    assert capfd.readouterr() == ("", "")


def ask(model, question, on_text=lambda piece: None, max_tokens=32):
    return model.chat([Message("user", question)], max_tokens=max_tokens, on_text=on_text)


def test_the_server_has_the_model(name):
    assert add_default_tag(name) in probe_ollama(parse_endpoint(ENDPOINT), name, read_s=30.0)[1]


def test_pieces_make_the_text_and_tokens_are_counted(model, heard):
    completion = ask(model, "Name three kinds of bread.", heard.append)

    assert "".join(heard) == completion.text
    assert len(heard) > 1
    assert completion.prompt_tokens > 0
    assert 0 < completion.completion_tokens <= 32
    assert completion.first_token_ms is not None
    assert completion.first_token_ms > 0


def test_an_answer_beyond_its_limit_is_cut_off(model):
    completion = ask(model, "Count from one to one hundred, in words.", max_tokens=5)

    assert (completion.finish, completion.completion_tokens) == ("length", 5)


def test_other_scripts_arrive_whole(model, heard):
    completion = ask(model, "다음 문장을 그대로 써라: 빵은 부푼다 🍞", heard.append)

    assert "".join(heard) == completion.text
    assert "\ufffd" not in completion.text


def test_one_answer_follows_the_other(model):
    assert all(ask(model, f"Say the number {number}.").text for number in range(3))


def test_a_model_that_is_not_there_is_missing(heard):
    model = ollama_model(ENDPOINT, DEADLINES, model="kebab-has-no-such-model:1b")

    with pytest.raises(ModelNotPulled):
        ask(model, "Who are you?", heard.append)

    assert heard == []


def test_a_model_that_only_embeds_is_rejected(installed):
    only = [one for one, shown in installed.items() if shown["capabilities"] == ["embedding"]]
    if not only:
        pytest.skip("no model there only embeds")

    with pytest.raises(ModelRejected):
        ask(ollama_model(ENDPOINT, DEADLINES, model=only[0]), "Who are you?")


def test_a_prompt_beyond_a_tiny_window_overflows_and_is_not_cut(name, heard):
    model = ollama_model(ENDPOINT, DEADLINES, model=name, context_tokens=256)

    with pytest.raises(ContextOverflow) as raised:
        ask(model, "bread and butter " * 1000, heard.append)

    assert heard == []
    assert raised.value.prompt_tokens > raised.value.context_tokens > 0


@pytest.mark.parametrize("reason", [EnoughError, KeyboardInterrupt])
def test_after_an_answer_was_broken_off_the_next_one_comes(model, reason):
    def on_text(piece):
        raise reason

    with pytest.raises(reason):
        ask(model, "Tell a very long story.", on_text, max_tokens=1500)

    assert ask(model, "Say yes.").text


def test_a_deadline_before_the_first_token_is_held_and_the_next_answer_comes(model, name):
    hasty = ollama_model(ENDPOINT, replace(DEADLINES, first_token_s=0.001), model=name)

    with pytest.raises(TimedOut) as raised:
        ask(hasty, "Tell a very long story.", max_tokens=1500)

    assert raised.value.operation == "first_token"
    assert ask(model, "Say yes.").text


def test_a_deadline_for_the_whole_answer_is_held(name, heard):
    quick = ollama_model(ENDPOINT, replace(DEADLINES, total_s=0.05), model=name)

    with pytest.raises(TimedOut) as raised:
        ask(quick, "Tell a very long story.", heard.append, max_tokens=1500)

    assert raised.value.operation == "answer"
