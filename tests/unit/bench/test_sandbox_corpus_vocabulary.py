from collections import Counter

from kebab.bench.sandbox import TextGenerator, build_vocabulary


def test_the_vocabulary_has_no_duplicates():
    words, weights = build_vocabulary()

    assert len(set(words)) == len(words) == len(weights)
    assert list(weights) == sorted(weights)


def test_the_same_seed_gives_the_same_text_and_another_seed_another():
    assert TextGenerator("a").generate_paragraph(100) == TextGenerator("a").generate_paragraph(100)
    assert TextGenerator("a").generate_paragraph(100) != TextGenerator("b").generate_paragraph(100)


def test_frequent_words_are_much_more_frequent_than_rare_ones():
    counts = Counter(TextGenerator("a").generate_words(20_000))
    ranked = build_vocabulary()[0]

    assert counts[ranked[0]] > 5 * counts[ranked[50]] > 0
    assert len(counts) > 2_000


def test_a_paragraph_has_at_least_the_requested_words():
    assert 50 <= len(TextGenerator("a").generate_paragraph(50).split()) < 70


def test_korean_is_hangul():
    assert all(
        "가" <= letter <= "힣" or letter in " ."
        for letter in TextGenerator("a").generate_korean_sentence()
    )
