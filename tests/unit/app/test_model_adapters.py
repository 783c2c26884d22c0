import shutil
import time
from threading import Thread

import pytest

from kebab.app import model_adapters
from kebab.app.model_adapters import Embedders, build_language_model, check_server
from kebab.config.load import load_settings
from kebab.core.answers import Message
from kebab.core.progress import Cancel, ignore_progress
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.errors.catalog import (
    ConfigInvalid,
    EmbeddingUnavailable,
    ModelNotPulled,
    ModelRejected,
    ModelUnreachable,
)
from kebab.llm.endpoint import resolve_endpoint
from tests.fakes.dead_ends import greeting, refusing
from tests.fakes.ollama import Model, fake_ollama
from tests.fakes.ollama import Say as OllamaSays
from tests.fakes.openai import Say as OpenAiSays
from tests.fakes.openai import build_json_answer, fake_openai


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("OLLAMA_HOST", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def made(tmp_path, tiny_models):
    """What makes the models of a knowledge base without a network."""

    def build(configured="auto", folder=tiny_models, **flags):
        flags = {"offline": True, "models.embedding.model": configured, **flags}
        return Embedders(load_settings(environ={}, flags=flags), folder)

    return build


@pytest.mark.parametrize(
    ("configured", "stored", "wanted"),
    [
        ("auto", None, None),
        ("auto", MINILM.version, MINILM.version),
        (MINILM.key, None, MINILM.name),
        (MINILM.key, MINILM.version, MINILM.name),
        ("l6-v2", MINILM.version, MINILM.name),
    ],
)
def test_settings_and_stored_vectors_choose_the_model(made, configured, stored, wanted):
    assert made(configured).choose_model(stored) == wanted


def test_a_download_checks_every_byte(made, tmp_path, tiny_models):
    shutil.copytree(tiny_models, tmp_path / "models")
    file = tmp_path / "models" / MINILM.version / "tokenizer.json"
    file.write_text(file.read_text().swapcase())

    with pytest.raises(EmbeddingUnavailable):
        made(folder=tmp_path / "models").download(MINILM, ignore_progress, Cancel())


def test_threads_that_load_a_model_at_once_share_one(made, monkeypatch):
    class SlowEmbedder(OnnxEmbedder):
        def __init__(self, *args, **options):
            time.sleep(0.02)
            super().__init__(*args, **options)

    monkeypatch.setattr("kebab.embed.onnx_embedder.OnnxEmbedder", SlowEmbedder)
    embedders, found = made(), []
    threads = [
        Thread(target=lambda: found.append(embedders.load_installed(E5_SMALL.version)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert len(set(map(id, found))) == 1


QUESTION = (Message(role="user", content="When?"),)


def settings(**llm):
    return load_settings(
        environ={}, flags={f"models.llm.{name}": value for name, value in llm.items()}
    )


def say(model):
    return model.chat(QUESTION, max_tokens=50, on_text=lambda _: None)


def test_ollama_gets_the_options_of_the_settings():
    with fake_ollama("tiny:latest") as server:
        server.enqueue(OllamaSays("Now."))
        said = settings(
            endpoint=server.url, model="tiny", context_tokens=2048, keep_alive="9m", think=False
        )

        completion = say(build_language_model(said))

        (asked,) = [one for one in server.asked if one.path == "/api/chat"]
    assert completion.text == "Now."
    assert asked.body["model"] == "tiny"
    assert asked.body["keep_alive"] == "9m"
    assert (asked.body["think"], asked.body["options"]["num_ctx"]) == (False, 2048)


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_failure_names_the_operation(provider):
    with refusing() as url:
        model = build_language_model(settings(provider=provider, endpoint=url), operation="review")

        with pytest.raises(ModelUnreachable) as raised:
            say(model)

    assert raised.value.operation == "review"


def test_an_openai_compatible_server_gets_the_key_of_the_named_variable(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    with fake_openai("tiny", key="sk-secret") as server:
        server.enqueue(OpenAiSays("Now."))
        said = settings(provider="openai", endpoint=server.url, model="tiny", key_variable="MY_KEY")

        completion = say(build_language_model(said))

    assert completion.text == "Now."


def test_an_invalid_key_is_refused_with_the_name_of_its_variable(monkeypatch):
    monkeypatch.setenv("MY_KEY", "two\nlines")
    said = settings(provider="openai", key_variable="MY_KEY")

    with pytest.raises(ConfigInvalid, match="MY_KEY"):
        build_language_model(said)


@pytest.mark.parametrize(
    ("llm", "origin"),
    [
        ({}, "$OLLAMA_HOST"),
        ({"endpoint": "localhost:many"}, "models.llm.endpoint"),
        ({"provider": "openai", "endpoint": "localhost:many"}, "models.llm.endpoint"),
    ],
)
@pytest.mark.parametrize("asked", [build_language_model, check_server])
def test_an_invalid_port_is_refused_by_every_user(monkeypatch, asked, llm, origin):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:many")
    with pytest.raises(ConfigInvalid, match="port not understood: many") as refused:
        asked(settings(**llm))

    assert refused.value.path == origin


def test_the_server_is_described_in_a_sentence():
    with fake_ollama("tiny:latest", version="0.32.15") as server:
        said = check_server(settings(endpoint=server.url, model="tiny"))
    assert said == f"Ollama 0.32.15 at {server.url} has tiny"


def test_an_openai_compatible_server_answers_a_test_question():
    with fake_openai("tiny") as server:
        server.enqueue(OpenAiSays("H"))
        said = check_server(settings(provider="openai", endpoint=server.url, model="tiny"))

        [body] = server.bodies
    assert said == f"the server at {server.url} lists tiny"
    assert (body["max_tokens"], body["messages"]) == (1, [{"role": "user", "content": "Hi"}])


def test_a_slow_answer_to_a_test_question_is_no_fault(monkeypatch):
    monkeypatch.setattr(model_adapters, "_TEST_S", 0.2)
    with fake_openai("tiny") as server:
        server.enqueue(OpenAiSays("H", held_s=60))

        assert check_server(settings(provider="openai", endpoint=server.url, model="tiny"))


def test_a_model_that_a_server_does_not_list_is_refused_with_near_names():
    with fake_openai("other", "team/gemma3-4b") as server:
        said = settings(provider="openai", endpoint=server.url, model="gemma3:4b")
        with pytest.raises(ModelNotPulled) as refused:
            check_server(said)

    assert refused.value.models == ["team/gemma3-4b", "other"]
    assert refused.value.format_hint() == "export KEBAB_MODELS_LLM_MODEL=team/gemma3-4b"


def test_a_model_of_an_openai_compatible_server_that_can_only_embed_is_refused():
    logits = {"error": {"code": 500, "message": "the current context does not logits computation"}}
    with fake_openai("tiny") as server:
        server.answers["/chat/completions"] = build_json_answer(logits, status=500)
        with pytest.raises(ModelRejected) as refused:
            check_server(settings(provider="openai", endpoint=server.url, model="tiny"))

    assert refused.value.reason == "task"


def test_a_model_of_ollama_that_can_only_embed_is_refused():
    model = Model(name="tiny:latest", capabilities=("embedding",))
    with fake_ollama(model) as server, pytest.raises(ModelRejected, match="embedding") as refused:
        check_server(settings(endpoint=server.url, model="tiny"))

    assert refused.value.reason == "task"


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_the_server_is_checked_before_a_prompt_is_sent(provider, monkeypatch):
    monkeypatch.setattr("kebab.llm.server_check._SILENCE_S", 0.2)
    with greeting(b"SSH-2.0-x\r\n") as url:
        said = settings(provider=provider, endpoint=url, connect_s=1.0)
        with pytest.raises(ModelUnreachable, match="does not answer"):
            say(build_language_model(said))


def test_the_variable_with_the_address_of_ollama_is_named():
    llm = settings().models.llm

    assert resolve_endpoint(llm, {"OLLAMA_HOST": "gpu"}).setting == "OLLAMA_HOST"
    assert resolve_endpoint(llm, {}).setting == "models.llm.endpoint"


def test_extractive_answers_need_no_server():
    assert check_server(settings(provider="extractive")) is None


def test_an_unusable_server_is_reported_with_its_cause():
    nobody = "http://127.0.0.1:9"
    with pytest.raises(ModelUnreachable):
        check_server(settings(endpoint=nobody))
    with pytest.raises(ModelUnreachable):
        check_server(settings(provider="openai", endpoint=nobody))
    with fake_ollama("tiny:latest") as server, pytest.raises(ModelNotPulled):
        check_server(settings(endpoint=server.url, model="other"))
    with fake_openai("tiny", key="sk-secret") as other, pytest.raises(ModelRejected):
        check_server(settings(provider="openai", endpoint=other.url, model="tiny"))
