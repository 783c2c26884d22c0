import re
import unicodedata

import pytest

from kebab.text import language


@pytest.mark.parametrize("sign", ["가", "ㄱ", "あ", "ア", "漢", "ก", "က", "ក", "ㄅ", "\U00020000"])
def test_scripts_without_blanks_are_dense(sign):
    assert language.is_dense(sign)


@pytest.mark.parametrize("sign", ["a", "я", "ω", "ع", "ה", "ह", "த", "1", "→", "🙂", "๑", "。"])
def test_other_scripts_are_not_dense(sign):
    assert not language.is_dense(sign)


def test_the_ranges_agree_with_the_class():
    dense = re.compile(f"[{language.DENSE}]")
    signs = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]

    assert [sign for sign in signs if bool(dense.match(sign)) != language.is_dense(sign)] == []


def test_every_mark_of_hindi_belongs_to_its_word():
    marks = [chr(code) for code in range(0x900, 0x980) if unicodedata.category(chr(code))[0] == "M"]

    assert all(language.split_units(f"क{mark}क") == [f"क{mark}क"] for mark in marks)


def test_the_spans_of_units_match_their_text():
    text = "a snake_case 서울에서 c++ → don't"

    spans = [found.span() for found in language.iter_unit_matches(text)]

    assert [text[start:end] for start, end in spans] == language.split_units(text)
    assert language.split_units(text) == ["a", "snake_case", "서울에서", "c++", "→", "don't"]


def test_ascii_text_is_split_like_other_text():
    plain = "x.y a-b don't 1,000 c++ C# .env foo(bar) https://a.b/c_d?e=f"

    assert [*language.split_units(plain), "é"] == language.split_units(plain + " é")


def test_marks_stay_with_their_letters():
    assert language.split_clusters("ที่นี่") == ["ที่", "นี่"]
    assert language.split_clusters("서울") == ["서", "울"]
