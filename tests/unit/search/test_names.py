import pytest

from kebab.core.queries import Filters, Mode, Query


@pytest.fixture
def vault(base):
    base.add("Cards view.md", "Settings of the layout.", "Sort by property.", title="Cards view")
    base.add("plans/README.md", "A list of boats.", title="Overview")
    base.add("quarterly-budget.md", "Numbers for the boats.", title="Q3")
    base.add("회의록 정리.md", "배를 고친다.", title="회의록 정리")
    for number in range(5):
        base.add(
            f"other{number}.md", f"The cards view and its cards view {number}.", title="Notes on it"
        )
    return base


@pytest.mark.parametrize("mode", [Mode.LEXICAL, Mode.HYBRID])
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("cards view", "Cards view.md"),
        ("what is the CardsView?", "Cards view.md"),
        ("card views", "Cards view.md"),
        ("Cards view.md", "Cards view.md"),
        ("plans", "plans/README.md"),
        ("quarterly budget", "quarterly-budget.md"),
        ("quartrely budget", "quarterly-budget.md"),
        ("회의록 정리", "회의록 정리.md"),
        ("회의록을 정리", "회의록 정리.md"),
    ],
)
def test_the_document_that_a_query_names_is_first(vault, text, path, mode):
    page = vault.engine().search(Query(text=text, mode=mode))

    assert page.hits[0].chunk.path == path
    assert page.convincing or text == "회의록을 정리"


@pytest.mark.parametrize("text", ["Brightwater", "北海道"])
def test_a_document_is_found_by_its_folder(vault, text):
    vault.add(f"{text}/2023/minutes.md", "We agreed on the fee. 鉄道で行く道", title="Minutes")
    page = vault.engine().search(Query(text=text, mode=Mode.LEXICAL))

    assert [hit.chunk.path for hit in page.hits] == [f"{text}/2023/minutes.md"]
    assert page.convincing


def test_a_document_is_found_by_words_that_only_its_name_holds(vault):
    page = vault.engine().search(Query(text="quarterly money", mode=Mode.LEXICAL))

    assert page.hits[0].chunk.path == "quarterly-budget.md"
    assert page.absent_terms == ("money",)


@pytest.mark.parametrize(
    "query",
    [
        Query(text='quarterly budget "other words"'),
        Query(text="quarterly budget -numbers"),
        Query(text="quarterly budget", filters=Filters(path_glob="other*")),
    ],
)
def test_operators_and_filters_hold_for_names(vault, query):
    page = vault.engine().search(query)

    assert "quarterly-budget.md" not in {hit.chunk.path for hit in page.hits}


def test_other_hits_keep_their_scores_beside_a_named_document(vault):
    named = vault.engine().search(Query(text="cards view", mode=Mode.LEXICAL))
    scores = {hit.chunk.path: hit.score for hit in named.hits}

    assert scores["other1.md"] > scores["Cards view.md"] / 10
