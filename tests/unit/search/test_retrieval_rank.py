from dataclasses import replace

import pytest

from kebab.core.media import MARKDOWN, SOURCE
from kebab.core.queries import Filters, Mode, Query
from kebab.search.answerability import should_rerank
from kebab.search.retrieval import Ranker, StageTimer, VectorRetriever
from kebab.search.snippet import PassageCache


def _rank(base, text, mode=Mode.HYBRID, **given):
    reader = base.reader()
    retriever = VectorRetriever(
        library=reader, vectors=lambda: base.vectors, embedder=lambda: base.embedder
    )
    return Ranker(retriever).rank(
        Query(text=text, mode=mode, **given), StageTimer(lambda: 0.0), PassageCache(reader)
    )


@pytest.mark.parametrize("is_code", [False, True])
def test_a_question_reranks_passages_unless_they_are_code(base, monkeypatch, is_code):
    base.add("a.md", "an oil embargo")
    monkeypatch.setattr("kebab.search.reordering.is_code", lambda media: is_code)
    ranking, passages = _rank(base, "oil embargo"), PassageCache(base.reader())

    question = Query(text="oil embargo", prose=True, rerank=True)

    assert should_rerank(question, ranking, passages) is not is_code
    plain = replace(question, prose=False)
    assert should_rerank(plain, ranking, passages) is not is_code
    assert not should_rerank(replace(question, rerank=False), ranking, passages)


@pytest.mark.parametrize(
    ("text", "mode", "reranked"),
    [
        ("where does the oil embargo end?", Mode.HYBRID, True),
        ("where does the oil embargo end?", Mode.LEXICAL, False),
        ("oil embargo", Mode.HYBRID, False),
    ],
)
def test_unless_told_otherwise_a_search_reranks_questions_with_vectors(base, text, mode, reranked):
    base.add("a.md", "the oil embargo does end in March")
    ranking = _rank(base, text, mode)

    assert should_rerank(Query(text=text), ranking, PassageCache(base.reader())) is reranked


def _keys(ranking):
    return [key for key, _ in ranking.ranked]


@pytest.mark.parametrize(("suffix", "media", "count"), [("c", SOURCE, 2), ("md", MARKDOWN, 1)])
def test_code_is_also_found_by_what_it_writes_for_a_word(base, suffix, media, count):
    base.add(f"a.{suffix}", "the lock is taken", media=media)
    base.add(f"b.{suffix}", "lease = 5", media=media)

    assert len(_rank(base, "how long is a lock held", Mode.LEXICAL).ranked) == count


def test_each_mode_searches_its_channels(base):
    base.add("a.md", "oil embargo")
    base.add("b.md", "the sky")

    assert _rank(base, "oil").method is Mode.HYBRID
    assert _rank(base, "oil", Mode.LEXICAL).method is Mode.LEXICAL
    assert _rank(base, "oil", Mode.VECTOR).method is Mode.VECTOR
    assert _keys(_rank(base, "oil", Mode.LEXICAL)) == [1]
    assert _keys(_rank(base, "oil", Mode.VECTOR)) == [1, 2]


@pytest.mark.parametrize(
    ("text", "prose"), [('what "oil embargo"', True), ('why did "oil embargo" end?', False)]
)
def test_the_words_of_a_question_are_searched_when_its_quotation_stands_nowhere(base, text, prose):
    base.add("a.md", "an embargo on oil")

    ranking = _rank(base, text, prose=prose)

    assert _keys(ranking) == [1]
    assert [one.text for one in ranking.dropped] == ["oil embargo"]
    assert [one.channel for one in ranking.degraded] == ["lexical"]


def test_a_phrase_restricts_both_channels(base):
    base.add("a.md", "an embargo on oil")
    base.add("b.md", "the oil embargo")

    assert _keys(_rank(base, '"oil embargo"')) == [2]


@pytest.mark.parametrize("text", ["oil -oil", "embargoes NOT embargo", "e-oil -e-oil"])
def test_a_query_that_excludes_all_of_its_words_finds_nothing(base, text):
    base.add("a.md", "an embargo on oil")

    ranking = _rank(base, text)

    assert _keys(ranking) == []
    assert [one.channel for one in ranking.degraded] == ["lexical"]


def test_filters_alone_list_the_first_passage_of_each_document_first(base):
    base.add("a.md", "one", "two", tags=["x"])
    base.add("b.md", "three", tags=["x"])

    assert _keys(_rank(base, "", filters=Filters(tag=("x",)))) == [1, 3, 2]


def test_a_hashtag_is_a_filter_and_alone_a_word_too(base):
    base.add("a.md", "other text", "tools: x", tags=["x/y"])
    base.add("b.md", "the word x and other text")

    assert _keys(_rank(base, "#x", Mode.LEXICAL)) == [2]
    assert _keys(_rank(base, "other #x", Mode.LEXICAL)) == [1]
    assert _keys(_rank(base, "other #x/y", Mode.LEXICAL)) == [1]


def test_a_hashtag_that_no_document_has_is_a_word(base):
    base.add("a.md", "include the header", tags=["x"])

    assert _keys(_rank(base, "#include #x", Mode.LEXICAL)) == [1]
    assert _rank(base, "#include", Mode.LEXICAL).parsed.filters == Filters()
