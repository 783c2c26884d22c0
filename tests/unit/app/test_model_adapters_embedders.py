import shutil
import time
from threading import Thread

import numpy as np
import pytest

from kebab.app import model_adapters
from kebab.app.model_adapters import Embedders, build_language_model, check_server, resolve_endpoint
from kebab.config.load import load_settings
from kebab.core.answers import Message
from kebab.core.progress import Cancel, ignore_progress
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import E5_SMALL, MINILM, MODELS
from kebab.errors.catalog import (
    ConfigInvalid,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
)
from tests.fakes.dead_ends import greeting, refusing
from tests.fakes.ollama import Model, fake_ollama
from tests.fakes.ollama import Say as OllamaSays
from tests.fakes.openai import Say as OpenAiSays
from tests.fakes.openai import build_json_answer, fake_openai


@pytest.fixture
def made(tmp_path, tiny_models):
    """What makes the models of a knowledge base without a network."""

    def build(configured="auto", folder=tiny_models, **flags):
        flags = {"offline": True, "models.embedding.model": configured, **flags}
        return Embedders(load_settings(environ={}, flags=flags), folder)

    return build


def _obtained(embedders, stored=None):
    return embedders.obtain(stored, ignore_progress, Cancel())


def test_installed_weights_are_found(made, tiny_models, tmp_path):
    assert made().find_weights(MINILM) == tiny_models / MINILM.version
    assert made(folder=tmp_path).find_weights(MINILM) is None


def test_an_installed_model_is_loaded_once(made):
    embedders = made()
    first = embedders.load_installed(E5_SMALL.version)

    assert first is not None
    assert first.version == E5_SMALL.version
    assert first is embedders.load_installed(E5_SMALL.version)
    assert first is embedders.load_stored(E5_SMALL.version)
    assert first is _obtained(embedders)


def test_a_missing_model_is_none(made, tmp_path):
    assert made(folder=tmp_path).load_installed(E5_SMALL.version) is None


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


def test_settings_that_contradict_stored_vectors_are_a_mismatch(made):
    with pytest.raises(EmbeddingMismatch) as caught:
        made(MINILM.key).choose_model(E5_SMALL.version)

    assert (caught.value.expected, caught.value.found) == (MINILM.version, E5_SMALL.version)


def test_an_unknown_model_in_the_settings_is_refused(made):
    with pytest.raises(ConfigInvalid) as caught:
        made("word2vec")

    assert caught.value.path == "models.embedding.model"
    assert "word2vec" in caught.value.cause


def test_without_a_choice_the_best_installed_model_is_used(made, tmp_path, tiny_models):
    shutil.copytree(tiny_models / MINILM.version, tmp_path / MINILM.version)

    assert _obtained(made()).version == E5_SMALL.version
    assert _obtained(made(folder=tmp_path)).version == MINILM.version


def test_stored_vectors_and_settings_override_the_best_model(made):
    assert _obtained(made(), MINILM.version).version == MINILM.version
    assert _obtained(made(MINILM.key)).version == MINILM.version


def test_the_model_of_the_stored_vectors_is_not_replaced_by_another(made, tmp_path, tiny_models):
    shutil.copytree(tiny_models / MINILM.version, tmp_path / MINILM.version)

    with pytest.raises(EmbeddingUnavailable):
        _obtained(made(folder=tmp_path), E5_SMALL.version)


def test_offline_nothing_is_downloaded_or_created(made, tmp_path):
    for configured in ("auto", MINILM.key):
        with pytest.raises(EmbeddingUnavailable, match="offline"):
            _obtained(made(configured, tmp_path / "models"))
    assert not (tmp_path / "models").exists()


def test_a_download_returns_the_named_or_the_best_model(made):
    embedders = made(MINILM.key)

    assert embedders.download(MODELS, ignore_progress, Cancel()) is E5_SMALL
    assert embedders.download(MINILM, ignore_progress, Cancel()) is MINILM


def test_a_download_checks_every_byte(made, tmp_path, tiny_models):
    shutil.copytree(tiny_models, tmp_path / "models")
    file = tmp_path / "models" / MINILM.version / "tokenizer.json"
    file.write_text(file.read_text().swapcase())

    with pytest.raises(EmbeddingUnavailable):
        made(folder=tmp_path / "models").download(MINILM, ignore_progress, Cancel())


def test_threads_come_from_the_settings(made):
    one, many = (
        _obtained(made(**{"models.embedding.threads": threads})).embed_query("the cat")
        for threads in (1, 3)
    )

    assert one @ many == pytest.approx(1.0, abs=1e-6)


def test_intact_weights_need_no_repair(made):
    embedders = made()

    assert embedders.is_intact(MINILM.version)
    assert embedders.repair(MINILM.version, ignore_progress, Cancel()) is None


def test_damaged_weights_cannot_be_repaired_offline(made, tiny_models, tmp_path):
    folder = tmp_path / "models"
    shutil.copytree(tiny_models, folder)
    path = folder / MINILM.version / "tokenizer.json"
    path.write_bytes(b"x" * path.stat().st_size)
    embedders = made(folder=folder)

    assert not embedders.is_intact(MINILM.version)
    with pytest.raises(EmbeddingUnavailable):
        embedders.repair(MINILM.version, ignore_progress, Cancel())


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


def test_threads_that_share_a_model_get_the_vectors_that_one_gets(made):
    embedder = made(**{"models.embedding.threads": 2}).load_installed(E5_SMALL.version)
    texts = [f"note {number} about sourdough and 검색" for number in range(40)]
    alone = [embedder.embed_query(text).tobytes() for text in texts]
    passages = np.concatenate([rows for _, rows in embedder.embed_passages(texts)]).tobytes()
    shared = made(**{"models.embedding.threads": 2}).load_installed(E5_SMALL.version)
    found: list[bool] = []

    def work():
        found.append([shared.embed_query(text).tobytes() for text in texts] == alone)
        rows = np.concatenate([rows for _, rows in shared.embed_passages(texts)])
        found.append(rows.tobytes() == passages)

    threads = [Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [True] * 12


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

        completion = say(build_language_model(said, environ={}))

        (asked,) = [one for one in server.asked if one.path == "/api/chat"]
    assert completion.text == "Now."
    assert asked.body["model"] == "tiny"
    assert asked.body["keep_alive"] == "9m"
    assert (asked.body["think"], asked.body["options"]["num_ctx"]) == (False, 2048)


def test_a_requested_model_overrides_the_settings():
    assert build_language_model(settings(model="tiny"), "other", environ={}).name == "other"
    assert build_language_model(settings(model="tiny"), environ={}).name == "tiny"


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_failure_names_the_operation(provider):
    with refusing() as url:
        model = build_language_model(
            settings(provider=provider, endpoint=url), environ={}, operation="review"
        )

        with pytest.raises(ModelUnreachable) as raised:
            say(model)

    assert raised.value.operation == "review"


def test_an_openai_compatible_server_gets_the_key_of_the_named_variable():
    with fake_openai("tiny", key="sk-secret") as server:
        server.enqueue(OpenAiSays("Now."))
        said = settings(provider="openai", endpoint=server.url, model="tiny", key_variable="MY_KEY")

        completion = say(build_language_model(said, environ={"MY_KEY": "sk-secret"}))

    assert completion.text == "Now."


def test_an_invalid_key_is_refused_with_the_name_of_its_variable():
    said = settings(provider="openai", key_variable="MY_KEY")

    with pytest.raises(ConfigInvalid, match="MY_KEY"):
        build_language_model(said, environ={"MY_KEY": "two\nlines"})


@pytest.mark.parametrize(
    ("llm", "environ", "shown"),
    [
        ({}, {}, "http://127.0.0.1:11434"),
        ({}, {"OLLAMA_HOST": "127.0.0.1:7"}, "http://127.0.0.1:7"),
        ({"endpoint": "localhost:8"}, {"OLLAMA_HOST": "127.0.0.1:7"}, "http://localhost:8"),
        ({"provider": "openai"}, {"OLLAMA_HOST": "127.0.0.1:7"}, "http://127.0.0.1:8080/v1"),
        (
            {"provider": "openai", "endpoint": "http://localhost:1234"},
            {},
            "http://localhost:1234/v1",
        ),
    ],
)
def test_each_provider_has_its_endpoint(llm, environ, shown):
    assert resolve_endpoint(settings(**llm).models.llm, environ).display_url == shown


@pytest.mark.parametrize(
    ("llm", "origin"),
    [
        ({}, "$OLLAMA_HOST"),
        ({"endpoint": "localhost:many"}, "models.llm.endpoint"),
        ({"provider": "openai", "endpoint": "localhost:many"}, "models.llm.endpoint"),
    ],
)
@pytest.mark.parametrize("asked", [build_language_model, check_server])
def test_an_invalid_port_is_refused_by_every_user(asked, llm, origin):
    with pytest.raises(ConfigInvalid, match="port not understood: many") as refused:
        asked(settings(**llm), environ={"OLLAMA_HOST": "127.0.0.1:many"})

    assert refused.value.path == origin


def test_the_server_is_described_in_a_sentence():
    with fake_ollama("tiny:latest", version="0.32.15") as server:
        said = check_server(settings(endpoint=server.url, model="tiny"), environ={})
    assert said == f"Ollama 0.32.15 at {server.url} has tiny"


def test_an_openai_compatible_server_answers_a_test_question():
    with fake_openai("tiny") as server:
        server.enqueue(OpenAiSays("H"))
        said = check_server(settings(provider="openai", endpoint=server.url, model="tiny"), {})

        [body] = server.bodies
    assert said == f"the server at {server.url} lists tiny"
    assert (body["max_tokens"], body["messages"]) == (1, [{"role": "user", "content": "Hi"}])


def test_a_slow_answer_to_a_test_question_is_no_fault(monkeypatch):
    monkeypatch.setattr(model_adapters, "_TEST_S", 0.2)
    with fake_openai("tiny") as server:
        server.enqueue(OpenAiSays("H", held_s=60))

        assert check_server(settings(provider="openai", endpoint=server.url, model="tiny"), {})


def test_a_model_that_a_server_does_not_list_is_refused_with_near_names():
    with fake_openai("other", "team/gemma3-4b") as server:
        said = settings(provider="openai", endpoint=server.url, model="gemma3:4b")
        with pytest.raises(ModelRejected) as refused:
            check_server(said, {})

    assert refused.value.models == ["team/gemma3-4b", "other"]
    assert refused.value.cause == "it lists team/gemma3-4b, other"


def test_a_model_of_an_openai_compatible_server_that_can_only_embed_is_refused():
    logits = {"error": {"code": 500, "message": "the current context does not logits computation"}}
    with fake_openai("tiny") as server:
        server.answers["/chat/completions"] = build_json_answer(logits, status=500)
        with pytest.raises(ModelRejected) as refused:
            check_server(settings(provider="openai", endpoint=server.url, model="tiny"), {})

    assert refused.value.reason == "task"


def test_a_model_of_ollama_that_can_only_embed_is_refused():
    model = Model(name="tiny:latest", capabilities=("embedding",))
    with fake_ollama(model) as server, pytest.raises(ModelRejected, match="embedding") as refused:
        check_server(settings(endpoint=server.url, model="tiny"), {})

    assert refused.value.reason == "task"


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_the_server_is_checked_before_a_prompt_is_sent(provider):
    with greeting(b"SSH-2.0-x\r\n") as url:
        said = settings(provider=provider, endpoint=url, connect_s=1.0)
        with pytest.raises(ModelProtocol, match=r"SSH-2\.0-x"):
            say(build_language_model(said, environ={}))


def test_the_variable_with_the_address_of_ollama_is_named():
    llm = settings().models.llm

    assert resolve_endpoint(llm, {"OLLAMA_HOST": "gpu"}).setting == "OLLAMA_HOST"
    assert resolve_endpoint(llm, {}).setting == "models.llm.endpoint"


def test_extractive_answers_need_no_server():
    assert check_server(settings(provider="extractive"), environ={}) is None


def test_an_unusable_server_is_reported_with_its_cause():
    nobody = "http://127.0.0.1:9"
    with pytest.raises(ModelUnreachable):
        check_server(settings(endpoint=nobody), environ={})
    with pytest.raises(ModelUnreachable):
        check_server(settings(provider="openai", endpoint=nobody), environ={})
    with fake_ollama("tiny:latest") as server, pytest.raises(ModelNotPulled):
        check_server(settings(endpoint=server.url, model="other"), environ={})
    with fake_openai("tiny", key="sk-secret") as other, pytest.raises(ModelRejected):
        check_server(settings(provider="openai", endpoint=other.url, model="tiny"), environ={})
