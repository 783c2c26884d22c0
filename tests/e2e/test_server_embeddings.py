"""Vectors of a model server, as a person sees them."""

import pytest

from tests.fakes.embedding_server import FakeEmbeddingServer, serve_embeddings


@pytest.mark.parametrize(("provider", "path"), [("ollama", ""), ("openai", "/v1")])
def test_notes_are_found_by_the_vectors_of_a_server_and_by_words_without_it(
    library, provider, path
):
    library.own_process = False  # to save time
    with serve_embeddings(FakeEmbeddingServer(dimension=96)) as server:
        library.environment |= {
            "KEBAB_MODELS_EMBEDDING_PROVIDER": provider,
            "KEBAB_MODELS_EMBEDDING_MODEL": "nomic-embed-text",
            "KEBAB_MODELS_EMBEDDING_ENDPOINT": server.url + path,
        }
        version = f"{provider}-nomic-embed-text-96-v1"
        library("model", "use", "auto", "--json")
        embedding = library.json("ingest")["embedding"]
        assert (embedding["version"], embedding["pending"]) == (version, 0)
        assert all(body["model"] == "nomic-embed-text" for body in server.asked)
        found = library.json("search", "restore")
        assert found["embedding_versions"] == [version]
        assert found["hits"][0]["retrieval"]["vector_rank"] is not None
        assert library.json("schema")["models"]["embedding_version"] == version
        (row,) = [one for one in library.json("model", "list")["models"] if one["active"]]
        assert (row["confidence"], row["dimension"]) == ("uncalibrated", 96)

    gone = library.json("search", "what is checked")
    assert gone["hits"][0]["retrieval"]["vector_rank"] is None
    (note,) = gone["degraded"]
    assert (note["channel"], server.url in note["reason"]) == ("vector", True)
    demanded = library("search", "a lost key", "--mode", "vector", "--json", status=2)
    assert demanded.error["code"] == "embedding_unavailable"
    library.environment["KEBAB_MODELS_EMBEDDING_MODEL"] = "bge-m3"
    other = library("search", "a lost key", "--mode", "vector", "--json", status=2)
    assert other.error["code"] == "embedding_mismatch"
