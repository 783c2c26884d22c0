import pytest

from kebab.core.ids import DocNumber, Key
from kebab.search.ranking import compute_diversity_penalty


def test_the_penalty_grows_with_every_better_passage_of_a_document():
    ranked = [Key(1), Key(2), Key(3), Key(4)]
    owners = {
        Key(1): DocNumber(1),
        Key(2): DocNumber(1),
        Key(3): DocNumber(2),
        Key(4): DocNumber(1),
    }

    found = compute_diversity_penalty(ranked, owners, 0.1)

    assert found == pytest.approx({Key(1): 0.0, Key(2): -0.1, Key(3): 0.0, Key(4): -0.2})


def test_a_passage_without_a_document_has_no_penalty():
    assert compute_diversity_penalty([Key(1)], {}, 0.1) == {}
