import numpy as np
import pytest

from kebab.search.signatures import compute_jaccard, shingle_texts
from kebab.text.tokenizer import tokenize


def similarity(left, right):
    left, right = (np.unique(shingle_texts([text])[0]) for text in (left, right))
    return compute_jaccard(left, right)


@pytest.mark.parametrize(
    "text",
    [
        "one two three four five",
        "쿠버네티스 클러스터를 설치한다",
        "日本語の文章を比べる",
        "x",
        "",
        "snake_case v1.2.3",
    ],
)
def test_a_text_equals_itself(text):
    assert similarity(text, text) == 1.0


def test_similarity_counts_shared_runs_of_three_tokens():
    assert similarity("alpha beta gamma delta", "alpha beta gamma omega") == pytest.approx(1 / 3)


def test_scripts_without_blanks_are_compared_inside_their_runs():
    same = similarity("저장소를 먼저 검사한 다음 복원한다", "저장소를 먼저 검사한 뒤에 복원한다")

    assert 0.3 < same < 1.0
    assert similarity("저장소를 먼저 검사한다", "날씨가 아주 좋은 날이다") == 0.0


def test_no_run_crosses_from_one_text_into_the_next():
    shingles, starts, counts = shingle_texts(["a1 b1 c1 d1", "e1", "f1 g1 h1"])

    assert (starts.tolist(), counts.tolist(), len(shingles)) == ([0, 2, 3], [4, 1, 3], 4)
    alone = [shingle_texts([text])[0].tolist() for text in ("a1 b1 c1 d1", "e1", "f1 g1 h1")]
    assert shingles.tolist() == [number for one in alone for number in one]


def test_tokens_are_those_of_the_index():
    text = "Don't e-mail snake_case v1.2.3 배추김치 日本 " + "가" * 40

    assert shingle_texts([text])[2].tolist() == [len(tokenize(text))]
