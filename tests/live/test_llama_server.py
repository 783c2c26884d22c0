"""The adapter for OpenAI-compatible servers against llama.cpp's server with a small real model."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import Message
from kebab.errors.catalog import (
    ContextOverflow,
    ModelBusy,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)
from kebab.llm.chat import OpenAiChat, embed_texts
from kebab.llm.endpoint import ApiKey, parse_base_url
from tests.live.llama_server import ALIAS, UnavailableError, run_server
from tests.live.tiny_gguf import write_embedding_model
from tests.ports.language_models import stop_after

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("llama")]

DEADLINES = Llm(connect_s=5.0, first_token_s=60.0, total_s=120.0)
SOON_S = 30.0
"""The longest time after which a server notices that nobody listens."""

KEY = "sk-7Hq2-nobody-may-see-this"
STORY = "Tell a long story about a lake, a valve and many ducks."


class EnoughError(Exception):
    """What a listener raises when it has heard enough."""


def build_model(server, deadlines=DEADLINES, *, name=ALIAS, key=None):
    options = replace(deadlines, context_tokens=2048)
    endpoint = replace(parse_base_url(server.url), key=ApiKey(key or "", "OPENAI_API_KEY"))
    return OpenAiChat(endpoint, name, options)


def ask(model, text, on_text=lambda piece: None, max_tokens=24):
    return model.chat([Message("user", text)], max_tokens=max_tokens, on_text=on_text)


def test_a_server_that_a_signal_ends_is_unavailable(tmp_path):
    (tmp_path / "llama-server").write_text("#!/bin/sh\nkill -ILL $$\n")
    (tmp_path / "llama-server").chmod(0o755)

    with (
        run_server(tmp_path, tmp_path / "log") as server,
        pytest.raises(UnavailableError, match=r"signal 4 \(Illegal instruction\)"),
    ):
        server.wait_until_ready()


def test_pieces_come_in_order_and_make_the_text(llama):
    heard: list[str] = []

    completion = ask(build_model(llama), "Count from one to ten.", heard.append)

    assert len(heard) > 1
    assert all(heard)
    assert "".join(heard) == completion.text
    assert completion.prompt_tokens > 0
    assert 0 < completion.completion_tokens <= 24
    assert completion.first_token_ms > 0


def test_text_of_every_script_reaches_the_server_and_returns_whole(llama):
    completion = ask(build_model(llama), "Repeat after me: 빵 パン 面包 🍞 é", max_tokens=20)

    assert completion.text.encode()
    assert "\ufffd" not in completion.text


def test_an_answer_that_is_cut_off_says_so(llama):
    completion = ask(build_model(llama), STORY, max_tokens=5)

    assert completion.finish == "length"
    assert completion.completion_tokens == 5


def test_an_answer_that_ends_by_itself_says_so(llama):
    completion = ask(build_model(llama), "What is 2+2?", max_tokens=200)

    assert completion.finish == "stop"
    assert 0 < completion.completion_tokens < 200


def test_an_overflow_tells_the_tokens_and_the_window(llama):
    heard: list[str] = []

    with pytest.raises(ContextOverflow) as raised:
        ask(build_model(llama), "bread and butter " * 1000, heard.append)

    assert heard == []
    assert raised.value.context_tokens == llama.window
    assert 3000 < raised.value.prompt_tokens < 3200


def test_an_answer_that_fills_the_window_is_cut_off(start_llama):
    with start_llama(window=256) as server:
        server.wait_until_ready()
        completion = ask(build_model(server), STORY + " bread and butter" * 60, max_tokens=200)

    assert completion.finish == "length"
    assert 0 < completion.completion_tokens < 200
    assert completion.prompt_tokens + completion.completion_tokens == server.window


@pytest.mark.parametrize("reason", [EnoughError(), KeyboardInterrupt()], ids=["left", "interrupt"])
def test_a_listener_that_raises_ends_the_servers_work(llama, reason):
    with pytest.raises(type(reason)) as raised:
        ask(build_model(llama), STORY, stop_after(2, reason), max_tokens=800)

    assert raised.value is reason
    assert llama.wait_until_idle(SOON_S)


def test_the_deadline_for_the_first_token_ends_the_servers_work(llama):
    hasty = build_model(llama, replace(DEADLINES, first_token_s=0.05))

    with pytest.raises(TimedOut) as raised:
        ask(hasty, "bread and butter " * 40)

    assert raised.value.operation == "first_token"
    assert llama.wait_until_idle(SOON_S)


def test_the_deadline_for_a_whole_answer_ends_the_servers_work(llama):
    quick = build_model(llama, replace(DEADLINES, total_s=1.0))

    with pytest.raises(TimedOut) as raised:
        ask(quick, STORY, max_tokens=800)

    assert raised.value.operation == "answer"
    assert llama.wait_until_idle(SOON_S)


def test_more_questions_at_once_than_the_server_has_slots_are_all_answered(llama):
    with ThreadPoolExecutor(3) as pool:
        questions = [f"Name {number} birds." for number in range(2, 5)]
        answers = list(pool.map(lambda one: ask(build_model(llama), one), questions))

    assert all(answer.text for answer in answers)


def test_a_server_with_one_model_answers_to_any_name(llama):
    assert ask(build_model(llama, name="another"), "Say yes.").text


def test_a_server_that_embeds_gives_vectors_of_any_text_and_refuses_what_is_too_long(start_llama):
    with start_llama(embeds=True) as server:
        server.wait_until_ready()
        where = parse_base_url(server.url), ALIAS, 5.0
        vectors = embed_texts(*where, ["a pump", "the valve", "."], 60.0)
        with pytest.raises(ContextOverflow):
            embed_texts(*where, ["pump " * 2000], 60.0)

    assert {len(vector) for vector in vectors} == {576}


def test_a_server_killed_amid_an_answer_is_unreachable(start_llama):
    heard: list[str] = []

    def on_text(piece):
        heard.append(piece)
        if len(heard) == 2:
            server.kill()

    with start_llama() as server:
        server.wait_until_ready()
        with pytest.raises(ModelUnreachable):
            ask(build_model(server), STORY, on_text, max_tokens=800)
        with pytest.raises(ModelUnreachable):
            ask(build_model(server), STORY)

    assert len(heard) >= 2


def test_a_loading_server_is_busy_and_a_key_is_demanded(start_llama):
    with start_llama(key=KEY) as server:
        assert isinstance(_wait_for_answer(server), ModelBusy)
        server.wait_until_ready()
        for wrong in (None, "sk-wrong"):
            with pytest.raises(ModelRejected) as raised:
                ask(build_model(server, key=wrong), "Say yes.")
            assert "key" in raised.value.cause
        assert ask(build_model(server, key=KEY), "Say yes.").text


def _wait_for_answer(server):
    """Return the first error of a server that was just started other than a refused connection."""
    while True:
        try:
            ask(build_model(server, key=KEY), "Say yes.")
        except ModelUnreachable:
            assert server.process.poll() is None
            threading.Event().wait(0.01)
        except ModelBusy as busy:
            return busy


def test_a_model_that_only_embeds_is_rejected(start_llama, tmp_path):
    path = write_embedding_model(tmp_path / "embed.gguf")

    with start_llama(window=128, model=str(path)) as server:
        server.wait_until_ready()
        with pytest.raises(ModelRejected):
            ask(build_model(server), "a b c")
