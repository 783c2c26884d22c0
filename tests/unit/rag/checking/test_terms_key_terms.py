import pytest

from kebab.rag.checking.terms import (
    compute_bigram_share,
    extract_key_terms,
    extract_key_words,
    is_content_word,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pump is in the cellar.", ("pump", "cellar")),
        ("According to the passage, it was painted.", ("paint",)),
        ("It is not so.", ()),
        ("12 pumps and twelve fans", ("pump", "fan")),
        ("", ()),
    ],
)
def test_key_terms_are_the_content_words(text, expected):
    assert extract_key_terms(text) == expected


def test_grammar_of_dense_scripts_is_no_term():
    assert extract_key_terms("ポンプは設置された。") == ("ポン", "ンプ", "設置")
    assert extract_key_terms("펌프는 설치되었습니다") == ("펌프", "설치")


def test_words_have_their_terms():
    assert extract_key_words("the **pump**, 펌프가") == {"pump": ("pump",), "펌프": ("펌프",)}


@pytest.mark.parametrize(("word", "expected"), [("the", False), ("Not,", False), ("pump", True)])
def test_stop_words_are_no_content_words(word, expected):
    assert is_content_word(word) is expected


def test_the_share_of_bigrams_is_computed():
    assert compute_bigram_share(("pump", "설치")) == 0.5
    assert compute_bigram_share(()) == 0.0
