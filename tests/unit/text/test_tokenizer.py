import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.text.tokenizer import (
    Term,
    build_phrase_terms,
    build_query_terms,
    stem_word,
    tokenize,
)


def _words(text):
    return [term.text for term in build_query_terms(text)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Running dogs ran", ["run", "dog", "ran"]),
        ("Москвы городов", ["москв", "город"]),
        ("snake_case", ["snake", "case", "snakecas"]),
        ("getHTTPResponse", ["get", "http", "respons", "gethttprespons"]),
        ("os.path", ["os", "path", "ospath"]),
        ("well-known", ["well", "known", "wellknown"]),
        ("v1.2.3", ["1", "2", "3", "1.2", "1.2.3"]),
        ("3.14", ["3", "14", "3.14"]),
        ("10⁵ 10⁻⁶ 10^5", ["10", "5", "10", "6", "10", "5"]),
        ("m² Ca²⁺ Na⁺ CO₂ ²", ["m", "2", "m2", "ca", "2", "ca2", "na", "co", "2", "co2", "2"]),
        ("1,234 people", ["1234", "peopl"]),
        ("c++ C#", ["c", "c++", "c", "c#"]),
        (".gitignore", ["gitignor", ".gitignore"]),
        ("don't O'Brien's l'état", ["don't", "o", "brien", "obrien", "l", "etat", "état"]),
        ("café", ["cafe", "café"]),
        ("ＡＢＣ \ufb01le", ["abc", "file"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("서울에서", ["서울", "울에", "에서", "서"]),
        ("API를", ["api", "를"]),
        ("東京 都", ["東京", "京", "都"]),
        ("ﾃﾞｰﾀ", ["デー", "ータ", "タ"]),
        ("हिन्दी में", ["हिंद", "में"]),
        ("पत्ते पत्तों", ["पत्त", "पत्त"]),
        ("гальмівні гальмівних", ["гальмивн", "гальмивн"]),
        ("vient-elle a-t-on Jong-il", ["vient", "a", "jong", "il", "jongil"]),
        ("ไทยที่", ["ไท", "ทย", "ยที่", "ที่"]),
        ("👍🏽 → done", ["👍", "→", "done"]),
        ("TypeError: 'NoneType'", ["type", "error", "typeerror", "none", "type", "nonetyp"]),
        ("* ( ) \x00 --", []),
    ],
)
def test_text_is_cut_into_tokens(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("email", "send an e-mail"),
        ("snakeCase", "a snake_case name"),
        ("utf8", "UTF-8"),
        ("wi-fi", "no WiFi here"),
        ("file system", "file-systems"),
        ("cafe", "un café"),
        ("strasse", "Hauptstraße Straße"),
        ("Beyonce", "Beyoncé"),
        ("데이터", "벡터데이터베이스를"),
        ("서울", "서울에서"),
        ("データ", "ﾃﾞｰﾀ"),
        ("1.2", "version 1.2.7"),
        ("3.11.4", "v3.11.4-rc1 and 3.11.4"),
        ("company", "the company’s goal"),
        ("9F86D081", "9f86d081"),
        ("2x4", "2×4"),
        ("کتاب", "کتاب‌ها"),
        ("חשבון", "חשבונ"),
    ],
)
def test_a_query_matches_other_forms_of_its_words(query, text):
    assert set(_words(query)) & set(tokenize(text))


@given(st.text())
def test_the_terms_of_a_text_match_its_index_tokens(text):
    held = tokenize(text)

    assert all(
        any(token.startswith(term.text) for token in held) if term.prefix else term.text in held
        for term in build_query_terms(text)
    )


@given(st.text())
def test_tokens_hold_no_white_space_and_no_case(text):
    for token in tokenize(text):
        assert token
        assert not any(sign.isspace() for sign in token)
        assert not any("A" <= sign <= "Z" for sign in token)


def test_a_single_character_is_found_anywhere_in_a_run():
    [term] = build_query_terms("역?")

    assert term == Term("역", prefix=True)
    for text in ("역사", "서울역", "서울역에서", "역"):
        assert any(token.startswith("역") for token in tokenize(text))


def test_a_particle_behind_a_word_is_not_a_prefix():
    assert build_query_terms("API를") == [Term("api"), Term("를")]
    assert build_query_terms("가x") == [Term("가"), Term("x")]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("서울 역", "북서울 역사관"),
        ("서울역", "서울역에서"),
        ("oil embargo", "the Oil Embargo of"),
        ("snake_case name", "a snake_case name"),
        ("API 서버", "API 서버는"),
    ],
)
def test_the_tokens_of_a_phrase_are_adjacent_in_the_index(phrase, text):
    terms, held = build_phrase_terms(phrase), tokenize(text)
    wanted = [term.text for term in terms]
    windows = [held[start : start + len(wanted)] for start in range(len(held))]

    def fits(window):
        last = window[-1].startswith(wanted[-1]) if terms[-1].prefix else window[-1] == wanted[-1]
        return window[:-1] == wanted[:-1] and last

    assert any(len(window) == len(wanted) and fits(window) for window in windows)


def test_very_long_words_are_cut_the_same_way_on_both_sides():
    word = "a" * 5000

    assert tokenize(word) == _words(word)
    assert len(tokenize(word)[0]) < 200


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("connections", "connect"),
        ("go", "go"),
        ("mp3s", "mp3s"),
        ("работает", "работа"),
        ("서울", "서울"),
        ("x" * 60, "x" * 60),
    ],
)
def test_the_script_of_a_word_chooses_its_rules(word, expected):
    assert stem_word(word) == expected
