import pytest

from kebab.core.ids import DocNumber, Key
from kebab.search.ranking import compute_document_context


def test_the_context_is_the_mean_of_the_best_three_passages_of_a_document():
    words = {Key(1): 0.9, Key(2): 0.6, Key(3): 0.3, Key(4): 0.1}
    owners = {Key(key): DocNumber(1) for key in (1, 2, 3, 4)}

    assert compute_document_context(words, owners) == pytest.approx(dict.fromkeys(owners, 0.6))


def test_one_good_passage_gives_a_third_of_its_evidence_as_context():
    owners = {Key(1): DocNumber(1), Key(2): DocNumber(2), Key(3): DocNumber(2)}

    found = compute_document_context({Key(1): 0.9, Key(2): 0.6, Key(3): 0.6}, owners)

    assert found == pytest.approx({Key(1): 0.3, Key(2): 0.4, Key(3): 0.4})


def test_a_passage_found_by_its_vector_alone_has_a_context_too():
    owners = {Key(1): DocNumber(1), Key(2): DocNumber(1)}

    assert compute_document_context({Key(1): 0.9}, owners)[Key(2)] == pytest.approx(0.3)
