import pytest

from kebab.core.chunks import NO_BACKGROUND
from kebab.core.queries import Confidence, Filters, Mode, Query
from kebab.errors.catalog import EmbeddingUnavailable, InvalidInput
from tests.fakes.embedder import no_model


def _paths(page):
    return [hit.chunk.path for hit in page.hits]


def _refuse():
    raise AssertionError("a lexical search needs no vectors and no model")


def test_a_lexical_search_touches_neither_vectors_nor_model(base):
    base.add("a.md", "oil embargo", embed=False)

    page = base.engine(vectors=_refuse, embedder=_refuse).search(
        Query(text="embargoes", mode=Mode.LEXICAL)
    )

    assert _paths(page) == ["a.md"]
    assert page.degraded == ()


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_an_empty_query_is_refused(base, text):
    with pytest.raises(InvalidInput):
        base.engine().search(Query(text=text))


def test_a_question_finds_its_passage_though_half_of_its_words_are_nowhere(base):
    base.add("a.md", "The embargo was proclaimed by OAPEC in 1973.")
    base.add("b.md", "The sky is blue.")

    page = base.engine().search(Query(text="Whoever on earth proclaimed that dreadful embargo?"))

    assert _paths(page)[0] == "a.md"


@pytest.mark.parametrize("query", ["서울", "역", "서울역", "에서", "데이터"])
def test_korean_is_found_inside_longer_words(base, query):
    base.add("a.md", "서울역에서 벡터데이터베이스를 보았다")

    assert _paths(base.engine().search(Query(text=query, mode=Mode.LEXICAL))) == ["a.md"]


def test_pending_chunks_and_a_missing_model_degrade_the_channel(base):
    base.add("a.md", "oil embargo", embed=False)

    waiting = base.engine(vectors=_Some).search(Query(text="oil"))
    missing = base.engine(embedder=no_model).search(Query(text="oil"))

    assert [one.hint for one in waiting.degraded] == ["kebab ingest"]
    assert "1" in waiting.degraded[0].reason
    assert [one.hint for one in missing.degraded] == ["kebab model pull auto"]
    assert _paths(missing) == ["a.md"]


def test_a_vector_search_without_a_model_is_an_error(base):
    base.add("a.md", "oil embargo")

    with pytest.raises(EmbeddingUnavailable):
        base.engine(embedder=no_model).search(Query(text="oil", mode=Mode.VECTOR))


def test_a_filtered_search_finds_what_an_exhaustive_scan_would(base):
    for number in range(60):
        base.add(f"{number}.md", f"oil {number}", tags=["odd"] if number % 2 else [])

    for mode in Mode:
        page = base.engine().search(
            Query(text="oil", mode=mode, limit=100, filters=Filters(tag=("odd",)))
        )
        assert len(page.hits) == 30
        assert all(hit.chunk.tags == ("odd",) for hit in page.hits)


def test_vectors_decide_between_passages_with_the_same_words(base):
    base.add("a.md", "oil prices")
    base.add("b.md", "oil prices")
    wanted = base.vectors.rows[1]
    base.vectors.rows[0] = type(wanted)(
        base.vectors.rows[0].key, wanted.chunk_id, wanted.doc_id, -wanted.vector
    )

    assert _paths(base.engine().search(Query(text="oil prices"))) == ["b.md", "a.md"]


def test_stages_are_traced_only_on_request(base):
    base.add("a.md", "oil")

    quiet = base.engine().search(Query(text="oil"))
    traced = base.engine().search(Query(text="oil", trace=True))

    assert quiet.stages == ()
    assert [one.stage for one in traced.stages] == ["parse", "lexical", "vector", "fuse", "page"]
    assert traced.revision == base.reader().get_revision()


class _Some:
    """A vector index of other chunks."""

    def find_nearest(self, query, limit, allowed=None):
        return []

    def compute_cosines(self, query, keys):
        return {}

    def measure_background(self, query):
        return NO_BACKGROUND

    def count(self):
        return 1


def test_a_page_has_the_rarity_of_every_term(base):
    base.add("a.md", "common word", "common place", "common sense")
    page = base.engine().search(Query(text="common place absent", mode=Mode.LEXICAL))
    rarities = page.term_rarities
    assert rarities.keys() == {"common", "place", "absent"}
    assert rarities["absent"] == rarities["place"] > rarities["common"] > 0


def test_the_query_is_reported_as_it_was_read(base):
    base.add("a.md", "the oil embargo of 1973", tags=["ops"])

    found = base.engine().search(
        Query(text='the Embargoes, "oil embargo" title:a -zebra tag:ops', mode=Mode.LEXICAL)
    )

    assert found.interpretation.terms == ("Embargoes",)
    assert found.interpretation.phrases == ("oil embargo", "title:a")
    assert found.interpretation.excluded == ("zebra",)
    assert found.interpretation.filters == Filters(tag=("ops",))


@pytest.mark.parametrize(
    ("text", "convincing"), [("oil embargo", True), ("zebra lions gnus oil", False), ("gnu", False)]
)
def test_a_search_is_convincing_when_its_best_hit_is_above_weak(base, text, convincing):
    base.add("a.md", "the oil embargo of 1973")

    page = base.engine().search(Query(text=text, mode=Mode.LEXICAL))

    assert page.convincing is convincing


def test_a_later_page_is_as_convincing_as_the_search(base):
    base.add("a.md", "oil embargo")
    base.add("b.md", "a very long text about many matters, where oil occurs once")
    for number in range(4):
        base.add(f"{number}.md", f"other matters {number}")

    page = base.engine().search(Query(text="oil embargo", mode=Mode.LEXICAL, offset=1))

    assert [hit.confidence.value for hit in page.hits] == ["weak"]
    assert page.convincing


@pytest.mark.parametrize(
    ("least", "paths"),
    [(Confidence.WEAK, ["a.md", "b.md"]), (Confidence.FAIR, ["a.md"]), (Confidence.STRONG, [])],
)
def test_hits_below_the_least_confidence_are_left_out(base, least, paths):
    base.add("a.md", "a text on the oil embargo and on other matters of trade in those years")
    base.add("b.md", "a very long text about many matters, where oil occurs once")
    for number in range(4):
        base.add(f"{number}.md", f"other matters {number}")
    query = Query(text="oil embargo sanctions", mode=Mode.LEXICAL, min_confidence=least, limit=5)

    page = base.engine().search(query)

    assert _paths(page) == paths
    assert page.convincing
    assert not page.has_more


def test_filters_alone_keep_their_exclusions(base):
    base.add("a.md", "oil embargo", tags=["ops"])
    base.add("b.md", "oil draft", tags=["ops"])

    assert _paths(base.engine().search(Query(text="tag:ops -draft"))) == ["a.md"]
