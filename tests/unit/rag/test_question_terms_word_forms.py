import pytest

from kebab.rag.question_terms import has_same_root, list_near_spellings


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("nepal", "nepalese", True),
        ("italy", "italian", True),
        ("germany", "german", True),
        ("saturn", "saturday", False),
        ("mars", "march", False),
        ("iran", "iraq", False),
    ],
)
def test_only_usual_endings_make_two_forms_of_a_name(one, other, same):
    assert has_same_root(one, other) is has_same_root(other, one) is same


@pytest.mark.parametrize(
    ("written", "meant", "near"),
    [
        ("hatmanis", "hartmanis", True),
        ("krugmen", "krugman", True),
        ("counicl", "council", True),
        ("saturn", "pastern", False),
        ("paris", "berlin", False),
    ],
)
def test_one_wrong_letter_makes_a_near_spelling(written, meant, near):
    shared = list_near_spellings(written) & list_near_spellings(meant)

    assert bool(shared) is near
