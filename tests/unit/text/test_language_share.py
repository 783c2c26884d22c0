from kebab.text.language import measure_languages

ENGLISH = "The garden behind the house is small, but it is enough for the two of us. " * 20
KOREAN = "오늘은 비가 와서 정원에 나가지 못했고 집에서 책을 읽었습니다. " * 20


def test_words_of_an_unknown_language_count_as_unknown():
    assert measure_languages("Saunan jälkeen menimme järvelle uimaan.").keys() == {""}


def test_a_text_without_letters_counts_for_nothing():
    assert measure_languages("12:30 -- 14:00\n\n") == {}
