import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.facts import FactIndex, extract_facts
from kebab.text.tokenizer import tokenize

PASSAGE = (
    'The pump "Nordwind" was installed on 12 March 2024 in Berlin. It cost $3 million. '
    "Tests ran from 6 to 25 October, in 2023. Run `restic check` after it."
)


def find_missing(claim, passage=PASSAGE):
    return list(FactIndex(passage, frozenset(tokenize(passage))).find_missing(extract_facts(claim)))


@pytest.mark.parametrize(
    "claim",
    [
        "It was installed on 2024-03-12.",
        "It was installed in March 2024.",
        "It was installed in 2024.",
        "Tests began on 6 October 2023.",
        "It cost 3,000,000 dollars.",
        'The pump is called "nordwind".',
        "Use `restic check`.",
        "It is a pump.",
    ],
)
def test_facts_of_the_passage_are_not_missing(claim):
    assert find_missing(claim) == []


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("It was installed on 13 March 2024 there.", ["13 March 2024"]),
        ("Tests began on 7 October 2023.", ["7 October 2023"]),
        ("Tests ended on 25 October 2022.", ["25 October 2022"]),
        ("It was installed in May 2024.", ["May 2024"]),
        ("It took 45 minutes and 7 people.", ["45 minutes", "7 people"]),
        ("It stands in Munich.", ["Munich"]),
        ('It is called "Südwind".', ['"Südwind"']),
        ("Use `restic prune`.", ["prune"]),
        ("See log-2025-03-12.md.", ["2025-03-12", "log-2025-03-12.md"]),
    ],
)
def test_missing_facts_are_worded_as_in_the_claim(claim, expected):
    assert find_missing(claim) == expected


def test_facts_are_counted_and_removed_from_the_words():
    found = extract_facts("The pump cost 30 euros on 12 March 2024 in Berlin.")

    assert found.count == 3
    assert found.words.split() == ["The", "pump", "cost", "on", "in", "Berlin."]


@given(st.text(max_size=80))
def test_a_text_contains_its_own_facts(text):
    index = FactIndex(text, frozenset(tokenize(text)))

    assert all(
        one.startswith('"') or one not in text for one in index.find_missing(extract_facts(text))
    )
