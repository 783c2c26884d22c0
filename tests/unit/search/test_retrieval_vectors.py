from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from kebab.core.chunks import Key, LanguageTrust
from kebab.core.queries import Filters, Mode, Query
from kebab.errors.catalog import EmbeddingUnavailable, IoError, StoreCorrupt
from kebab.search.query_parser import parse_query
from kebab.search.ranking import VectorMatches
from kebab.search.retrieval import Ranker, StageTimer, VectorRetriever, embed_query, find_nearest
from kebab.search.snippet import PassageCache
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


class _Retriever(VectorRetriever, frozen=True, kw_only=True):
    """A vector channel that finds given cosines."""

    cosines: dict[Key, float]

    def prepare(self, parsed):
        """Prepare nothing."""

    def retrieve(self, parsed, candidates, limit, mode):
        return VectorMatches(
            nearest=sorted(self.cosines.items(), key=lambda one: -one[1]),
            cosines=self.cosines,
            model=self.embedder().profile,
            from_cache=False,
        )


def _rank(base, text, cosines=None):
    reader = base.reader()
    query = Query(text=text, mode=Mode.LEXICAL if cosines is None else Mode.HYBRID)
    retriever = _Retriever(
        library=reader,
        vectors=lambda: base.vectors,
        embedder=lambda: base.embedder,
        cosines=cosines or {},
    )
    ranker = Ranker(retriever)
    return ranker.rank(query, StageTimer(lambda: 0.0), PassageCache(reader))


def _keys(found):
    return [key for key, _ in found.ranked]


def _fill(base):
    for number in range(8):
        base.add(f"other{number}.md", f"nothing of interest {number}")


def test_the_context_of_a_topic_counts_the_vectors_of_other_passages(base):
    _fill(base)
    base.add("near.md", "gaskets here", "rubber rings")
    base.add("far.md", "gaskets here", "bread and butter")

    found = _rank(base, "gaskets", {9: 0.5, 10: 0.5, 11: 0.5, 12: 0.0})

    assert found.boosts["context"][9] > found.boosts["context"][11]


def test_without_lexical_candidates_the_vectors_decide(base):
    _fill(base)

    found = _rank(base, "gaskets", {1: 0.2, 2: 0.6})

    assert found.method is Mode.VECTOR
    assert _keys(found) == [2, 1]


def test_vectors_decide_where_a_passage_holds_little_of_the_question(base):
    _fill(base)
    base.add("name.md", "Marta Pumpe keeps bees, hens and two goats on the hill behind the mill")
    base.add("right.md", "the seal of the pump is changed by the plumber when it gets stiff")
    question = "wann tauscht Marta Pumpe in der Werkstatt denn die alte Dichtung der Pumpe"

    found = _rank(base, question, {9: 0.1, 10: 0.22})

    assert found.lexical.ranked[0][0] == 9
    assert _keys(found)[0] == 10
    assert "closeness" not in found.boosts or max(found.boosts["closeness"].values()) < 0.05


def test_a_near_passage_does_not_pass_one_without_a_vector_that_has_more_of_the_words(base):
    _fill(base)
    base.add("gold.md", "the seal of the pump leaks when the gasket is worn")
    base.add("near.md", "the pump and much else that takes room in a passage of a note")
    gold, near = Key(9), Key(10)
    text = "why does the seal of the pump leak with a worn gasket"

    found = _rank(base, text, {near: 0.95})
    complete = _rank(base, text, {near: 0.95, gold: 0.9})

    assert _keys(_rank(base, text))[:2] == [gold, near]
    assert _keys(found)[:2] == [gold, near]
    assert _keys(complete)[:2] == [gold, near]
