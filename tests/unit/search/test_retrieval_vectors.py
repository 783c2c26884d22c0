from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from kebab.core.chunks import LanguageTrust
from kebab.core.queries import Filters, Mode, Query
from kebab.errors.catalog import EmbeddingUnavailable, IoError, StoreCorrupt
from kebab.search.query_parser import parse_query
from kebab.search.ranking import VectorMatches
from kebab.search.retrieval import VectorRetriever, embed_query, find_nearest
from kebab.store.sqlite.reader import QueryCache
from kebab.wire.search import DegradedChannel
from tests.fakes.embedder import PROFILE, HashingEmbedder, no_model


def _retriever(base, **parts):
    given = {"vectors": lambda: base.vectors, "embedder": lambda: base.embedder, **parts}
    return VectorRetriever(library=base.reader(), **given)


def _retrieve(retriever, text="oil", mode=Mode.HYBRID, candidates=(), limit=10):
    return retriever.retrieve(parse_query(text, Filters()), candidates, limit, mode)


def test_the_nearest_come_with_the_cosines_of_all_candidates(base):
    base.add("a.md", "oil embargo")
    base.add("b.md", "sky blue")

    found = _retrieve(_retriever(base), candidates=[1, 2], limit=1)

    assert isinstance(found, VectorMatches)
    assert [key for key, _ in found.nearest] == [1]
    assert set(found.cosines) == {1, 2}


def test_rows_outside_the_snapshot_do_not_count(base):
    for number in range(100):
        base.add(f"{number}.md", f"oil {number}")
    reader = base.reader()
    query = base.embedder.embed_query("oil")
    gone = {key for key, _ in base.vectors.find_nearest(query, 60)}

    class Later:
        def find_committed_keys(self, keys):
            return reader.find_committed_keys(keys) - gone

    stale: Any = Later()

    found = find_nearest(stale, base.vectors, query, 20)

    assert len(found) == 20
    assert not gone & {key for key, _ in found}


def test_without_a_model_the_channel_is_degraded_or_refused(base):
    retriever = _retriever(base, embedder=no_model)

    found = _retrieve(retriever)

    assert isinstance(found, DegradedChannel)
    assert (found.channel, found.hint) == ("vector", "kebab model pull auto")
    with pytest.raises(EmbeddingUnavailable):
        _retrieve(retriever, mode=Mode.VECTOR)


@pytest.mark.parametrize(
    "fault",
    [
        StoreCorrupt(path="/kb/lance", cause="bad page"),
        IoError(path="/kb/lance", op="read", cause="Permission denied"),
    ],
    ids=["damaged", "out of reach"],
)
def test_an_index_that_cannot_be_read_degrades_a_hybrid_search_only(base, fault):
    def damaged():
        raise fault

    found = _retrieve(_retriever(base, vectors=damaged))

    assert isinstance(found, DegradedChannel)
    assert found.hint == fault.format_hint()
    with pytest.raises(type(fault)):
        _retrieve(_retriever(base, vectors=damaged), mode=Mode.VECTOR)


def test_a_script_that_the_model_does_not_know_is_not_searched(base):
    base.add("a.md", "oil")
    profile = replace(base.embedder.profile, alternative="multilingual-e5-small")
    base.embedder = type(base.embedder)(supports=str.isascii, profile=profile)

    found = _retrieve(_retriever(base), "석유", mode=Mode.VECTOR)

    assert isinstance(found, DegradedChannel)
    assert "script" in found.reason
    assert found.hint == "kebab model use multilingual-e5-small"


@pytest.mark.parametrize("missing", [True, False])
def test_without_vectors_the_channel_suggests_an_ingest(base, missing):
    retriever = _retriever(base, vectors=lambda: None if missing else base.vectors)

    found = _retrieve(retriever)

    assert isinstance(found, DegradedChannel)
    assert found.hint == "kebab ingest"


class _Memory(QueryCache):
    def __init__(self):
        super().__init__(Path())
        self.answers = {}

    def get(self, namespace, question):
        return self.answers.get((namespace, question))

    def put(self, namespace, question, answer):
        self.answers[namespace, question] = answer


def test_a_query_is_embedded_once():
    embedder, memory = HashingEmbedder(), _Memory()

    first, cached = embed_query(memory, embedder, "oil")
    again, cached_again = embed_query(memory, embedder, "oil")

    assert (cached, cached_again) == (False, True)
    assert embedder.embedded == ["oil"]
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(
    ("question", "noted"),
    [
        ("Warum ist das Protokoll nicht auf dem Server?", True),
        ("Why is the record not on the server?", False),
        ("oil", False),
    ],
)
def test_a_language_that_the_model_does_not_know_is_noted(base, question, noted):
    trust = LanguageTrust(english=1.0, other=0.0)
    base.embedder = HashingEmbedder(
        profile=replace(PROFILE, languages="English", language_trust=trust, alternative="other")
    )
    base.add("a.md", "oil embargo")

    found = base.engine().search(Query(text=question)).degraded

    hint, reason = "kebab model use other", "the embedding model knows English, and this query is"
    expected = [("vector", f"{reason} German", hint, True)] if noted else []
    assert [(one.channel, one.reason, one.hint, one.partial) for one in found] == expected
