import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.review.model_worker import MOST_CHARS, find_quotation

TEXT = "He said “teh  cat’s\nbed” is – This. Teh cat. 사과를 먹었다. Cafe\u0301 **bold** word"


def find(quotation, text=TEXT):
    return [text[start:end] for start, end in find_quotation(text, quotation)]


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        ("teh", ["teh"]),
        ("TEH", ["teh", "Teh"]),
        ("teh cat's bed", ["teh  cat’s\nbed"]),
        ('"teh cat\'s bed"', ["“teh  cat’s\nbed”"]),
        ("is - this", ["is – This"]),
        ("caf\u00e9", ["Cafe\u0301"]),
        (unicodedata.normalize("NFD", "먹었다"), ["먹었다"]),
        ("bold word", ["bold** word"]),
        ("'Teh cat.'", ["Teh cat."]),
        ("사과", ["사과"]),
        ("nowhere", []),
        ("", []),
        ("...", []),
        ("teh" * MOST_CHARS, []),
    ],
)
def test_a_quotation_is_found_also_when_it_is_not_exact(quotation, found):
    assert find(quotation) == found


def test_whole_words_come_before_parts_of_words():
    assert find("is", "This is") == ["is"]
    assert find_quotation("This is", "is") == [(5, 7)]
    assert find("Is", "This is") == ["is"]
    assert find("hi", "This is") == ["hi"]


@given(st.text(min_size=1), st.data())
def test_every_part_of_a_text_with_a_word_is_found_where_it_is(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(len(text), start + MOST_CHARS)))
    quotation = text[start:end].strip()
    places = find_quotation(text, text[start:end])

    assert bool(places) == any(map(str.isalnum, quotation))
    assert all(0 <= first < last <= len(text) for first, last in places)
    assert not places or quotation in {text[first:last] for first, last in places}
