import pytest

from kebab.core.queries import Detail, Query

TEXT = "The oil embargo of {} was long. " + "More is said about the matter of oil here. " * 20


@pytest.fixture
def engine(base):
    for number in range(12):
        base.add(f"{number}.md", TEXT.format(number))
    return base.engine()


def test_pages_agree_and_end(engine):
    whole = engine.search(Query(text="oil embargo", limit=12))
    first = engine.search(Query(text="oil embargo", limit=5))
    last = engine.search(Query(text="oil embargo", limit=7, offset=5))

    assert [hit.rank for hit in whole.hits] == list(range(1, 13))
    assert [*first.hits, *last.hits] == list(whole.hits)
    assert (first.has_more, first.next_offset) == (True, 5)
    assert (last.has_more, last.next_offset) == (False, None)


def test_scores_fall(engine):
    scores = [hit.score for hit in engine.search(Query(text="oil embargo", limit=12)).hits]

    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_a_document_has_at_most_its_number_of_hits(base):
    base.add("a.md", "oil one", "oil two", "oil three")
    base.add("b.md", "oil four")

    page = base.engine().search(Query(text="oil", per_doc=1))

    assert sorted(hit.chunk.path for hit in page.hits) == ["a.md", "b.md"]


def test_frequent_words_are_not_highlighted_beside_rare_ones(base):
    for number in range(40):
        base.add(f"{number}.md", "the oil" if number % 3 == 0 else "water")
    base.add("x.md", "the oil embargo")

    hit = base.engine().search(Query(text="oil embargo")).hits[0]

    assert [hit.snippet.text[start:end] for start, end in hit.snippet.highlights] == ["embargo"]


def test_passages_are_whole_with_all_their_matches(base):
    text = "# Oil\n\n" + "Nothing is said here. " * 40 + "\n\n    the oil embargo\n"
    base.add("a.md", text)

    [hit] = base.engine().search(Query(text="oil embargo", detail=Detail.PASSAGES)).hits

    assert hit.snippet.text == text
    found = [text[start:end] for start, end in hit.snippet.highlights]
    assert found == ["Oil", "oil", "embargo"]


def test_ids_have_no_text(engine):
    page = engine.search(Query(text="oil embargo", detail=Detail.IDS))

    assert [hit.snippet for hit in page.hits] == [("", ())] * 10
