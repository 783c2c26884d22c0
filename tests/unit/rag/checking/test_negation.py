import pytest

from kebab.rag.checking.negation import (
    compute_polarity,
    find_contradiction,
    find_denied_words,
    find_reversal,
)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("It was not painted.", ["painted"]),
        ("It didn't run.", ["run"]),
        ("No nation attacked.", ["nation"]),
        ("It is not only blue.", []),
        ("Yes or no, it runs.", []),
        ("It runs.", []),
        ("Das Haus ist nicht blau.", ["blau"]),
        ("It was not very much more painted.", ["painted"]),
        ("It was not very much more such painted.", []),
    ],
)
def test_the_word_after_a_negation_is_denied(sentence, words):
    assert list(find_denied_words(sentence).values()) == words


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("It was painted.", ["It was never painted."], "painted"),
        ("It was not painted.", ["It was painted."], "painted"),
        ("It was not painted.", ["It was never painted."], None),
        ("It was painted.", ["It was not painted.", "Later it was painted."], None),
        ("It was blue.", ["It was not painted."], None),
    ],
)
def test_a_word_that_one_side_denies_and_the_other_affirms_is_a_contradiction(
    claim, passage, expected
):
    assert find_contradiction(compute_polarity([claim]), compute_polarity(passage)) == expected


@pytest.mark.parametrize(
    ("claim", "sentence", "odd"),
    [
        (
            "새로운 히트펌프는 지하실에 설치되지 않았다",
            "새로운 히트펌프는 지하실에 설치되었다",
            True,
        ),
        ("펌프는 설치되지 않았다", "펌프는 설치되지 않았다", False),
        ("東京駅は大正時代の大きい建物ではない。", "東京駅は大正時代の大きい建物である。", True),
        ("東京駅は大きい建物です。", "東京駅は大きい建物である。", False),
        ("猫ではない。", "東京駅は大きい建物である。", False),
        ("It is not so.", "It is so.", False),
    ],
)
def test_similar_chinese_japanese_and_korean_sentences_are_compared_as_a_whole(
    claim, sentence, odd
):
    assert (find_reversal(claim, sentence) is not None) is odd
