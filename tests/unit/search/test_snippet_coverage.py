import pytest

from kebab.core.queries import Mode, Query
from kebab.search.answerability import FAIR
from kebab.search.snippet import compute_coverage, weigh_keywords


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"oil": 2.0}, {"oil": 2.0}),
        ({"배추": 2.0, "얼마": 2.0, "나요": 2.0}, {"배추": 2.0}),
        ({"大仏": 2.0, "です": 2.0, "たち": 2.0}, {"大仏": 2.0, "たち": 0.6}),
        ({"什么": 2.0}, {"什么": 2.0}),
        ({}, {}),
    ],
)
def test_question_words_have_no_weight_beside_others(asked, expected):
    assert weigh_keywords(asked) == pytest.approx(expected)


def test_coverage_counts_words_that_occur_nowhere():
    assert compute_coverage({"oil": 3.0, "embargo": 1.0}, {"oil"}) == pytest.approx(0.75)


def test_coverage_does_not_require_all_bigrams():
    weights = {"배추": 1.0, "추는": 1.0, "오래": 1.0}
    assert compute_coverage(weights, {"배추"}) == pytest.approx(1 / 2.1)
    assert compute_coverage(weights, {"배추", "추는", "오래"}) == 1.0


def test_without_keywords_the_coverage_is_0():
    assert compute_coverage({}, {"oil"}) == 0.0


@pytest.fixture
def reference(base):
    base.add(
        "macros.md",
        "## Requirements\n\n**Header:** atldef.h",
        title="Exception handling macros",
        heading=("Exception handling macros", "Requirements"),
    )
    base.add(
        "errors.md",
        "Exception handling separates the code that detects errors from that which copes.",
        title="Errors",
    )
    for number in range(6):
        base.add(
            f"other{number}.md", f"A string of {number} characters is copied.", title="Strings"
        )
    return base


@pytest.mark.parametrize("mode", [Mode.LEXICAL, Mode.HYBRID])
def test_a_short_passage_with_the_words_in_headings_above_it_is_not_first(reference, mode):
    page = reference.engine().search(Query(text="exception handling", mode=mode))

    scores = {hit.chunk.path: hit.score for hit in page.hits}
    assert page.hits[0].chunk.path == "errors.md"
    assert scores["macros.md"] < scores["errors.md"] >= FAIR


@pytest.mark.parametrize("mode", [Mode.LEXICAL, Mode.HYBRID])
def test_alone_it_does_not_answer(base, mode):
    base.add(
        "macros.md",
        "## Requirements\n\n**Header:** atldef.h",
        title="Exception handling macros",
        heading=("Exception handling macros", "Requirements"),
    )
    for number in range(6):
        base.add(
            f"other{number}.md", f"A string of {number} characters is copied.", title="Strings"
        )

    page = base.engine().search(Query(text="exception handling", mode=mode))

    assert (page.hits[0].chunk.path, page.convincing) == ("macros.md", False)
