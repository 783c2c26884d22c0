import pytest

from kebab.core.queries import Confidence, Filters, Mode, Query
from kebab.errors.catalog import InvalidInput
from kebab.search.explain import Explainer
from kebab.search.vector import VectorRetriever


def _explained(base, text, path, **given):
    reader = base.reader()
    retriever = VectorRetriever(
        library=reader,
        vectors=lambda: base.vectors,
        embedder=lambda: base.embedder,
    )
    keys = reader.list_allowed_keys(Filters(path_glob=path)) or []
    return Explainer(reader, retriever).explain(Query(text=text, **given), reader.load_chunks(keys))


@pytest.fixture
def notes(base):
    base.add("a.md", "the oil embargo began", "gas and coal", tags=["ops"])
    base.add("b.md", "oil is dear", "oil is cheap")
    base.add("c.md", "the sky is blue")
    return base


def test_an_explanation_agrees_with_the_search(notes):
    page = notes.engine().search(Query(text="oil embargo", trace=True))
    ranks = {hit.chunk.key: hit for hit in page.hits}

    for path in ("a.md", "b.md", "c.md"):
        for one in _explained(notes, "oil embargo", path).passages:
            hit = ranks[one.chunk.key]
            assert (one.hit_rank, one.final.score) == (hit.rank, hit.retrieval.fusion_score)
            assert one.score == pytest.approx(hit.score)
            assert one.lexical.rank == hit.retrieval.lexical_rank
            assert one.semantic.rank == hit.retrieval.vector_rank
            assert one.final.score == pytest.approx(
                one.fused.score + sum(boost.value for boost in one.boosts)
            )


def test_the_best_passage_comes_first_and_three_are_enough(base):
    base.add("a.md", "grass", "oil embargo", "trees", "leaves")

    found = _explained(base, "oil embargo", "a.md")

    assert found.best.chunk.text == "oil embargo"
    assert len(found.passages) == 3


def test_conditions_that_exclude_a_document_are_removed_and_the_rest_explained(notes):
    found = _explained(notes, "oil", "b.md", filters=Filters(tag=("ops",)))

    assert [one.filter for one in found.removed] == ["tag"]
    assert found.parsed.filters.tag == ("ops",)
    assert found.best.hit_rank == 1


def test_one_passage_that_breaks_nothing_is_enough(notes):
    found = _explained(notes, "oil gas -embargo", "a.md")

    assert found.removed == ()
    assert found.best.chunk.text == "gas and coal"
    assert [len(one.broken) for one in found.passages] == [0, 1]


def test_a_phrase_that_occurs_nowhere_is_a_condition_like_any_other(notes):
    found = _explained(notes, '"embargo oil"', "a.md")

    assert not found.relaxed
    assert [one.phrase.text for one in found.removed] == ["embargo oil"]
    assert found.best.hit_rank == 1


@pytest.mark.parametrize(("per_doc", "withheld"), [(1, "per_doc"), (None, None)])
def test_a_passage_beyond_the_limit_per_document_is_withheld(notes, per_doc, withheld):
    found = _explained(notes, "oil dear", "b.md", per_doc=per_doc)

    assert [one.withheld for one in found.passages] == [None, withheld]


def test_a_copy_beyond_the_third_is_withheld(base):
    for name in "abcd":
        base.add(f"{name}.md", "the oil embargo", title="Oil")

    assert _explained(base, "embargo", "d.md").best.withheld == "copies"
    assert _explained(base, "embargo", "c.md").best.withheld is None


def test_without_vectors_a_passage_that_lacks_every_term_is_lost(notes):
    found = _explained(notes, "oil", "c.md", mode=Mode.LEXICAL)

    assert found.best.final.rank is None
    assert found.best.score is None


def test_a_document_without_text_has_no_explanation(notes):
    assert _explained(notes, "oil", "nowhere.md").best is None


def test_filters_alone_list_what_passes(notes):
    assert _explained(notes, "tag:ops", "a.md").best.hit_rank == 1


def test_an_empty_query_is_refused(notes):
    with pytest.raises(InvalidInput):
        _explained(notes, "  ", "a.md")


def test_a_passage_below_the_least_confidence_is_withheld(notes):
    found = _explained(notes, "oil dear sanctions", "b.md", min_confidence=Confidence.STRONG)

    assert {one.withheld for one in found.passages} == {"confidence"}
    assert found.best.hit_rank is None
