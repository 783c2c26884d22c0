"""`tests/ports/test_embedders.py` has what all embedders do, `tests/e2e` what a person sees."""

import pytest

from kebab.embed.server_embedder import ServerEmbedder
from kebab.errors.catalog import (
    ContextOverflow,
    EmbeddingUnavailable,
    ModelNotPulled,
    ModelUnreachable,
    TimedOut,
)

URL = "http://127.0.0.1:1"
LATE = TimedOut(operation="x", elapsed_ms=2, deadline_ms=1)


def build(ask, name="nomic-embed-text", **options):
    settings = {"provider": "ollama", "name": name, "url": URL, "limit_s": 60.0, **options}
    return ServerEmbedder(ask, **settings)


class Server:
    def __init__(self, dimension=8, longest=10_000):
        self.texts: list[str] = []
        self.limits: list[float] = []
        self.dimension = dimension
        self.longest = longest

    def __call__(self, texts, limit_s):
        if max(map(len, texts)) > self.longest:
            raise ContextOverflow(prompt_tokens=9, context_tokens=8)
        self.texts += texts
        self.limits.append(limit_s)
        return [[float(len(text)), *[1.0] * (self.dimension - 1)] for text in texts]


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("nomic-embed-text:v1.5", "search_query: bread", "search_document: bread"),
        ("mxbai-embed-large", "Represent this sentence for searching", "bread"),
        ("bge-m3", "bread", "bread"),
        ("bge-large", "Represent this sentence for searching", "bread"),
        ("snowflake-arctic-embed2", "query: bread", "bread"),
        ("hf.co/me/multilingual-e5-large", "query: bread", "passage: bread"),
        ("qwen3-embedding:0.6b", "Instruct: ", "bread"),
        ("embeddinggemma", "task: search result | query: ", "title: none | text: bread"),
        ("text-embedding-3-small", "bread", "bread"),
    ],
)
def test_a_text_is_sent_with_the_prefix_of_its_model(name, query, passage):
    server = Server()
    embedder = build(server, name)
    embedder.use_version(embedder.profile.version)
    server.texts.clear()
    embedder.embed_query("bread")
    list(embedder.embed_passages(["bread"]))

    assert server.texts[0].startswith(query)
    assert server.texts[1] == passage


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("nomic-embed-text:latest", "ollama-nomic-embed-text-8-v1"),
        ("hf.co/Me/Model:Q4", "ollama-hf.co-me-model-q4-8-v1"),
    ],
)
def test_the_version_names_provider_model_and_dimension(name, version):
    assert build(Server(), name).profile.version == version


def test_the_stored_version_tells_the_dimension_without_the_server():
    server = Server()
    embedder = build(server)

    assert embedder.use_version("ollama-nomic-embed-text-768-v1")
    assert (embedder.profile.dimension, server.texts) == (768, [])
    assert not embedder.use_version("ollama-other-768-v1")
    assert not embedder.use_version("fastembed-minilml6-384-v1")


def test_of_a_text_that_is_too_long_the_start_is_sent():
    server = Server(longest=200)
    vectors = [matrix for _, matrix in build(server).embed_passages(["a", "b" * 500])]

    assert [len(one) for one in vectors] == [2]
    assert "b" * 100 in server.texts[-1]


def test_a_question_waits_for_ten_seconds_and_a_batch_as_long_as_the_settings_say():
    server = Server()
    embedder = build(server, limit_s=0)
    embedder.use_version("ollama-nomic-embed-text-8-v1")
    embedder.embed_query("a")
    list(embedder.embed_passages(["a"]))

    assert server.limits == [10.0, 0]


def test_what_the_server_must_not_have_is_removed():
    server = Server()
    embedder = build(server, mask=lambda text: text.replace("sk-1", "[key]"))
    list(embedder.embed_passages(["my sk-1"]))

    assert server.texts[-1] == "search_document: my [key]"


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (ModelUnreachable(endpoint=URL, operation="x", cause="refused"), "refused"),
        (ModelNotPulled(model="m", endpoint=URL, operation="x"), "Ollama model not pulled: m"),
    ],
)
def test_without_its_server_a_model_is_unavailable(fault, cause):
    def ask(texts, limit_s):
        raise fault

    with pytest.raises(EmbeddingUnavailable) as caught:
        build(ask).embed_query("bread")

    assert caught.value.details() == {
        "model": "nomic-embed-text",
        "tried": [URL],
        "cause": cause,
        "endpoint": URL,
    }


def test_a_late_batch_is_late():
    def ask(texts, limit_s):
        raise LATE

    with pytest.raises(TimedOut) as caught:
        list(build(ask).embed_passages(["bread"]))

    assert caught.value.setting == "models.embedding.deadline_s"


def test_vectors_of_another_length_than_those_of_the_index_are_refused():
    embedder = build(Server(dimension=8))
    embedder.use_version("ollama-nomic-embed-text-768-v1")

    with pytest.raises(EmbeddingUnavailable, match="its vectors have 8 numbers, not the 768"):
        embedder.embed_query("bread")


def test_every_text_has_an_estimate_of_its_tokens():
    assert [bool(one) for one in build(Server()).count_tokens(["one two", "a"])] == [True, True]
