import numpy as np
import pytest

from kebab.core.chunks import TokenVectors
from kebab.core.ids import Key
from kebab.search.rerank import find_word_starts, measure_token_match

ONE, TWO = Key(1), Key(2)
RIGHT, UP, LEFT = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]


def tokens(*rows, spans=None):
    found = np.array(rows, np.float32).reshape(len(rows), 2)
    return TokenVectors(found, spans or [(2 * at, 2 * at + 1) for at in range(len(rows))])


NOTHING_IN_COMMON = np.zeros(2, np.float32)


def test_the_best_passage_counts():
    found = measure_token_match(
        "a b", tokens(RIGHT, UP), {ONE: tokens(RIGHT, UP), TWO: tokens(RIGHT)}, NOTHING_IN_COMMON
    )

    assert found == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "spans", "starts"),
    [
        ("parkta oynad\u0131", [(0, 4), (4, 6), (7, 10), (10, 13)], [0, 2]),
        ("a b", [(0, 1), (1, 3)], [0, 1]),
        ("山川は", [(0, 1), (1, 2), (2, 3)], [0, 1, 2]),
    ],
)
def test_tokens_that_touch_are_a_word_unless_the_script_has_no_spaces(text, spans, starts):
    assert find_word_starts(text, spans) == starts
