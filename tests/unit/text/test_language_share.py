from kebab.text.language import measure_languages

ENGLISH = "The garden behind the house is small, but it is enough for the two of us. " * 20
KOREAN = "오늘은 비가 와서 정원에 나가지 못했고 집에서 책을 읽었습니다. " * 20


def test_a_text_of_one_language_counts_for_it():
    assert measure_languages(ENGLISH).keys() == {"en"}
    assert measure_languages(KOREAN).keys() == {"ko"}


def test_a_text_of_two_languages_counts_for_both():
    found = measure_languages(ENGLISH + KOREAN)

    assert found["en"] > 1000
    assert found["ko"] > 1000


def test_code_addresses_and_markup_do_not_count():
    code = "```python\n" + "the_of_and = to_in(is_that)\n" * 100 + "```\n"

    assert measure_languages(code) == {}
    assert measure_languages("https://example.org/the/and/of `the of and` <b>") == {}
    assert measure_languages(code + KOREAN).keys() == {"ko"}


def test_words_of_an_unknown_language_count_as_unknown():
    assert measure_languages("Saunan jälkeen menimme järvelle uimaan.").keys() == {""}


def test_a_text_without_letters_counts_for_nothing():
    assert measure_languages("12:30 -- 14:00\n\n") == {}
