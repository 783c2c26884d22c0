import pytest

from kebab.core.ids import Key
from kebab.core.queries import Confidence, Filters, Mode, Query
from kebab.errors.catalog import InvalidInput
from kebab.search import lexical, retrieval
from kebab.search.explain import (
    BrokenCondition,
    Explainer,
    describe_terms,
    find_broken_conditions,
    find_held_terms,
    find_lexical_standings,
    find_standings,
    find_vector_standings,
    remove_conditions,
)
from kebab.search.query_parser import list_active_filters, parse_query
from kebab.search.retrieval import Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever
from kebab.wire.related import HeldTerms, Standing


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


@pytest.fixture
def note(base):
    base.add("a.md", "the oil embargo of nixon", "gas and coal", tags=["ops"], lang="en")
    base.add("b.md", "oil")
    return base


def _found(base, text, **filters):
    reader = base.reader()
    passages = [one for one in reader.load_chunks([1, 2]) if one.path == "a.md"]
    return find_broken_conditions(reader, parse_query(text, Filters(**filters)), passages)


def _names(broken):
    return {key: [one.filter or one.phrase.text for one in all_] for key, all_ in broken.items()}


def test_every_passage_breaks_a_filter_of_its_document(note):
    assert _names(_found(note, "oil", tag=("x",), lang=("en",))) == {1: ["tag"], 2: ["tag"]}


@pytest.mark.parametrize("text", ["oil tag:x", "oil path:b.md", "oil source:elsewhere"])
def test_a_filter_in_the_text_is_one_too(note, text):
    assert all(len(broken) == 1 for broken in _found(note, text).values())


def test_a_document_filter_is_broken_by_other_documents(note):
    assert _names(_found(note, "oil", doc_id="0" * 32)) == {1: ["doc_id"], 2: ["doc_id"]}


def test_a_required_phrase_is_broken_by_passages_without_it(note):
    assert _names(_found(note, '"oil embargo"')) == {1: [], 2: ["oil embargo"]}


def test_a_phrase_of_a_column_is_looked_for_there(note):
    assert _names(_found(note, "title:oil")) == {1: ["oil"], 2: ["oil"]}


def test_an_exclusion_is_broken_by_passages_with_the_word(note):
    assert _names(_found(note, "oil -nixon")) == {1: ["nixon"], 2: []}


def test_a_document_without_passages_breaks_nothing(note):
    assert find_broken_conditions(note.reader(), parse_query("oil tag:x", Filters()), []) == {}


def test_removed_conditions_are_gone_and_the_others_stay():
    question = parse_query('"oil embargo" "red sea" -gas tag:x lang:en', Filters())
    embargo, sea = question.required
    (gas,) = question.excluded

    left = remove_conditions(
        question,
        [BrokenCondition("filter", filter="tag"), BrokenCondition("phrase", phrase=embargo)],
    )

    assert list_active_filters(left.filters) == {"lang": ("en",)}
    assert (left.required, left.excluded) == ((sea,), (gas,))
    assert remove_conditions(question, [BrokenCondition("exclusion", phrase=gas)]).excluded == ()


@pytest.fixture
def small(monkeypatch):
    """Lists of two candidates."""
    monkeypatch.setattr(retrieval, "CANDIDATE_LIMIT", 2)


def _standings(base, text, keys, mode=Mode.HYBRID):
    reader = base.reader()
    retriever = VectorRetriever(
        library=reader,
        vectors=lambda: base.vectors,
        embedder=lambda: base.embedder,
    )
    query = Query(text=text, mode=mode)
    ranker, timer = Ranker(reader, retriever), StageTimer(lambda: 0.0)
    candidates = ranker.rank(query, timer, PassageCache(reader))
    lexical = find_lexical_standings(reader, candidates, keys)
    return lexical, find_vector_standings(retriever, candidates, keys, mode)


def _fill(base):
    base.add("a.md", "oil " * 4, "oil oil oil sky", "oil oil sky blue", "oil sky blue and red")
    base.add("b.md", *["grass and trees"] * 9)


def test_a_candidate_has_its_rank_in_each_channel(base):
    _fill(base)

    lexical, semantic = _standings(base, "oil", [1, 2])

    assert [(one.rank, one.candidate) for one in lexical.values()] == [(1, True), (2, True)]
    assert (semantic[1].rank, semantic[1].candidate) == (1, True)
    assert semantic[1].score > semantic[2].score


@pytest.mark.usefixtures("small")
def test_a_passage_beyond_the_candidates_has_a_rank_too(base):
    _fill(base)

    lexical, semantic = _standings(base, "oil", [1, 4])

    assert (lexical[1].rank, lexical[1].candidate) == (1, True)
    assert (lexical[4].rank, lexical[4].candidate) == (4, False)
    assert (semantic[4].rank, semantic[4].candidate) == (4, False)


@pytest.mark.usefixtures("small")
def test_a_passage_that_a_channel_does_not_find_has_no_rank(base):
    _fill(base)
    base.add("c.md", "no vector and no word of it", embed=False)

    lexical, semantic = _standings(base, "oil", [14])

    assert (lexical, semantic) == ({}, {})


def test_a_channel_that_was_not_searched_gives_no_ranks(base):
    _fill(base)

    assert _standings(base, "oil", [1], Mode.LEXICAL)[1] == {}
    assert _standings(base, "oil", [1], Mode.VECTOR)[0] == {}


def test_ranks_count_from_one():
    assert find_standings([(Key(7), 0.5), (Key(3), 0.25)], [Key(3)]) == {
        Key(3): Standing(rank=2, score=0.25, candidate=True)
    }


SKY = "the sky"


def _describe(base, text):
    reader = base.reader()
    question = parse_query(text, Filters())
    return describe_terms(reader, question, lexical.weigh_terms(reader, question))


def test_each_term_has_its_use_and_how_many_passages_hold_it(base):
    base.add("a.md", "oil embargo", "the oil", "oil and gas")
    base.add("b.md", SKY)

    found = {one.text: one for one in _describe(base, "what is the oil embargo zebra")}

    assert {text: one.use for text, one in found.items()} == {
        "embargo": "asked",
        "oil": "common",
        "zebra": "absent",
        "what": "filler",
        "is": "filler",
        "the": "filler",
    }
    assert (found["oil"].passages, found["embargo"].passages) == (3, 1)
    assert found["embargo"].weight > 0
    assert found["oil"].weight is None


def test_terms_beyond_the_limit_are_surplus(base):
    words = [f"w{'abcdefghij'[index // 10]}{'abcdefghij'[index % 10]}x" for index in range(70)]
    base.add("a.md", " ".join(words), *[SKY] * 4)

    kinds = [one.use for one in _describe(base, " ".join(words))]

    assert (kinds.count("asked"), kinds.count("surplus")) == (64, 6)


def test_stop_words_are_searched_for_when_there_is_nothing_else(base):
    base.add("a.md", "what is this", *[SKY] * 3)

    assert {one.use for one in _describe(base, "what")} == {"asked"}


def test_held_terms_are_listed_by_column(base):
    base.add("a.md", "the embargo began", title="Oil", heading=("Crisis",))
    base.add("b.md", SKY)
    base.add("c.md", SKY)
    reader = base.reader()
    words = lexical.weigh_terms(reader, parse_query("crisis oil embargos", Filters()))

    found = find_held_terms(words, reader.load_chunks([1])[0])

    assert found == HeldTerms(title=["oil"], headings=["crisi"], body=["embargo"])


def test_a_single_sign_of_a_script_without_blanks_is_found_by_its_beginning(base):
    base.add("a.md", "東京都")
    base.add("b.md", SKY)
    base.add("c.md", SKY)
    reader = base.reader()
    words = lexical.weigh_terms(reader, parse_query("京", Filters()))

    assert find_held_terms(words, reader.load_chunks([1])[0]).body == ["京"]
