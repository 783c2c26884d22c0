import random

import pytest

from kebab.store.sqlite import fts
from kebab.store.sqlite.fts import TokenCache
from kebab.text.tokenizer import tokenize

SIGNS = [
    *"aB1_-.'+#@/,.",
    *" \n\t\xa0\u3000",
    *"’\u200b\u0301\x1c\x0b",
    *"한글中のーéßﬁ٠ا¨🎉\ud800",
]


@pytest.mark.parametrize("seed", range(5))
def test_a_text_has_the_tokens_that_the_tokenizer_gives_it(seed):
    dice = random.Random(seed)
    words = TokenCache(tokenize)
    for _ in range(400):
        text = "".join(dice.choices(SIGNS, k=dice.randint(0, 15)))
        assert " ".join(words.tokenize(text)) == " ".join(tokenize(text))


def test_a_word_is_tokenized_once():
    asked = []

    def tokens(text):
        asked.append(text)
        return text.split("-")

    words = TokenCache(tokens)

    assert words.tokenize("a-b c a-b") == ["a b", "c", "a b"]
    assert words.tokenize("c\nd") == ["c", "d"]
    assert asked == ["a-b", "c", "d"]


def test_the_cache_is_bounded_and_skips_long_words(monkeypatch):
    monkeypatch.setattr(fts, "_MAX_WORDS", 2)
    words = TokenCache(lambda text: [text])
    long = "x" * 100

    assert words.tokenize(f"a b c {long}") == ["a", "b", "c", long]
    assert len(words) <= 2
    assert long not in words
