from dataclasses import replace

import pytest

from kebab.core.queries import Query
from kebab.search.budget import estimate_hit_tokens, estimate_page_tokens
from kebab.text.model_input import estimate_tokens

SENTENCES = "More is said about the matter of {} here. " * 12
TEXT = "The oil embargo of {} was long. " + SENTENCES


@pytest.fixture
def engine(base):
    for number in range(12):
        base.add(f"{number}.md", TEXT.replace("{}", str(number)))
    return base.engine()


def search(engine, **fields):
    return engine.search(Query(text="oil embargo", **{"limit": 12, **fields}))


def count(page, query="oil embargo"):
    folder = page.hits[0].chunk.source
    return estimate_page_tokens(Query(text=query), folder) + sum(
        map(estimate_hit_tokens, page.hits)
    )


@pytest.mark.parametrize("detail", ["ids", "snippets", "passages"])
@pytest.mark.parametrize("budget", [150, 300, 500, 1200, 3000])
def test_a_page_holds_the_first_hits_that_fit_as_they_are(engine, budget, detail):
    free = search(engine, detail=detail)

    page = search(engine, detail=detail, max_tokens=budget)

    if count(free) <= budget:
        assert (page.hits, page.left_out) == (free.hits, None)
        return
    kept = len(page.hits)
    assert count(page) <= budget
    assert 1 <= kept < 12
    assert page.left_out.hits == 12 - kept
    if page.hits[0] == free.hits[0]:
        assert page.hits == free.hits[:kept]
        assert page.left_out.tokens == sum(map(estimate_hit_tokens, free.hits[kept:]))
        assert count(page) + estimate_hit_tokens(free.hits[kept]) > budget


def test_the_pages_of_a_budget_lose_no_hit(engine):
    free = search(engine, detail="passages")
    page = search(engine, detail="passages", limit=5, max_tokens=500)
    found = list(page.hits)
    while page.next_offset:
        following = {"offset": page.next_offset, "limit": 5, "max_tokens": 500}
        page = search(engine, detail="passages", **following)
        found += page.hits

    assert found == list(free.hits)


def test_a_first_hit_that_exceeds_the_budget_alone_is_cut_between_sentences(base):
    text = f"# Oil\n\n{SENTENCES}The embargo began in May. {SENTENCES}"
    base.add("a.md", text)

    page = search(base.engine(), detail="passages", max_tokens=120)

    [hit] = page.hits
    assert "The embargo began in May." in hit.snippet.text
    assert hit.snippet.text in text
    assert hit.snippet.text.endswith(".")
    assert hit.snippet.text.startswith(("More", "The"))
    assert count(page) <= 120
    lost = estimate_tokens(text) - estimate_tokens(hit.snippet.text)
    assert (page.left_out.hits, page.left_out.tokens) == (0, lost)
    assert (page.has_more, page.next_offset) == (False, None)


TOPICS = {
    "oil": "The oil embargo of {} was long. ",
    "garden": "The garden of house {} needs water in summer. ",
    "tax": "Income tax of the year {} is due in May. ",
}


@pytest.fixture
def topics(base):
    for name, sentence in TOPICS.items():
        for number in range(4):
            text = sentence.format(number) + SENTENCES.format(*[name] * 12)
            base.add(f"{name}{number}.md", text)
    return base.engine()


def test_every_query_keeps_a_hit_under_any_limit_and_budget(topics):
    queries = ("oil embargo", "water the garden", "income tax", "zeppelin tax")
    for limit in (1, 2, 5):
        request = Query(text=queries[0], more=queries[1:], detail="passages", limit=limit)
        free = topics.search(request)
        for budget in (1, 150, 300, 700, 1200, 5000):
            page = topics.search(replace(request, max_tokens=budget))
            found = [next(hit for hit in page.hits if index in hit.queries) for index in range(4)]

            assert [hit.chunk.path[:3] for hit in found] == ["oil", "gar", "tax", "tax"]
            assert all(hit.snippet.text for hit in found)
            assert page.convincing_queries == free.convincing_queries
            assert {0, 1, 2} <= {*page.convincing_queries}
