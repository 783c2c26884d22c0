import numpy as np
import pytest

from kebab.core.documents import VectorRow
from kebab.core.ids import ChunkId, DocId, Key
from kebab.search.ranking import apply_relevance_feedback
from tests.fakes.vectors import MemoryVectors

_FIRST, _ALIKE, _OTHER = Key(1), Key(2), Key(3)


def _unit(*values):
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


@pytest.fixture
def vectors():
    vectors = MemoryVectors()
    rows = {_FIRST: _unit(1, 1, 0), _ALIKE: _unit(0, 1, 0), _OTHER: _unit(0, 0, 1)}
    vectors.append(
        [VectorRow(key, ChunkId(f"c{key}"), DocId("d"), row) for key, row in rows.items()]
    )
    return vectors


@pytest.fixture
def cosines(vectors):
    return vectors.compute_cosines(_unit(1, 0, 0.2), [_FIRST, _ALIKE, _OTHER])


def test_feedback_gives_the_cosines_of_query_and_passage_together(vectors, cosines):
    together = _unit(*(_unit(1, 0, 0.2) + 0.5 * _unit(1, 1, 0)))

    found = apply_relevance_feedback(cosines, _FIRST, 0.5, vectors)

    expected = vectors.compute_cosines(together, [_FIRST, _ALIKE, _OTHER])
    assert found == pytest.approx(expected, abs=1e-5)


def test_feedback_raises_passages_similar_to_the_best_one(vectors, cosines):
    assert cosines[_ALIKE] < cosines[_OTHER]

    found = apply_relevance_feedback(cosines, _FIRST, 1.0, vectors)

    assert found[_FIRST] > found[_ALIKE] > found[_OTHER]


@pytest.mark.parametrize(("first", "weight"), [(Key(9), 1.0), (_FIRST, 0.0)])
def test_without_a_passage_or_a_weight_nothing_changes(vectors, cosines, first, weight):
    assert apply_relevance_feedback(cosines, first, weight, vectors) == cosines
