import pytest

from kebab.rag.question_terms import EvidenceWords, extract_question_terms

TEXT = (
    "The Hartmanis paper of 1965 was read in Nepal by the European Space Agency on the third day."
    " It uses MPEG-2 and v1.2.3, in the 1970s, by Ada. 12,000 copies; Łódź and Céloron."
)


def contains(asked, text=TEXT):
    """Return whether the last key term of a question is in a text."""
    return EvidenceWords([text, "A title"]).contains(extract_question_terms(f"about {asked}")[-1])


@pytest.mark.parametrize(
    "term",
    [
        "Hartmanis", "Hatmanis", "Nepalese", "ESA", "1965", "3rd", "3", "1970", "12000", "12,000",
        "MPEG-2", "v1.2.3", "Ada", "Celeron", "Title", "papers",
    ],
)  # fmt: skip
def test_a_term_may_be_misspelt_inflected_or_abbreviated(term):
    assert contains(term)


@pytest.mark.parametrize(
    "term",
    [
        "Knuth",
        "1966",
        "4th",
        "197",
        "MPEG-3",
        "v1.2.4",
        "MPEG",
        "NASA",
        "Bob",
        "Hartmann Nepal",
        "13,000",
    ],
)
def test_other_names_numbers_and_versions_are_missing(term):
    assert contains(term) is (term == "MPEG")


def test_every_word_of_a_name_has_to_occur():
    assert contains("Ada Nepal")
    assert not contains("Ada Tibet")


def test_a_text_without_words_contains_nothing():
    assert not contains("Ada", "")


def test_an_endless_word_is_not_compared_letter_by_letter():
    assert not contains("Q" + "a" * 100_000)
