import pytest

from kebab.core.documents import Block, BlockKind
from kebab.text.language import (
    Language,
    detect_document_language,
    detect_language,
    detect_question_language,
    detect_written_form,
    is_written_in,
    may_share_words,
    measure_languages,
    snap_to_grapheme,
)


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("쿠버네티스 API 서버는 kube-apiserver 컴포넌트가 제공한다.", "ko"),
        ("この文書は API の使い方を説明する。", "ja"),
        ("这份文件用于说明 API 的用法。", "zh"),
        ("Это обычный русский текст.", "ru"),
        ("Це звичайний український текст.", "uk"),
        ("هذا نص عربي عادي", "ar"),
        ("این یک متن فارسی است که چیزی می‌گوید", "fa"),
        ("นี่คือข้อความภาษาไทย", "th"),
        ("यह एक हिंदी वाक्य है", "hi"),
        ("Αυτό είναι ένα κείμενο", "el"),
        ("זה טקסט בעברית", "he"),
        ("The cache is emptied when the revision of the index changes, and not before.", "en"),
        ("Der Speicher wird geleert, wenn sich die Fassung des Verzeichnisses ändert.", "de"),
        ("Le cache est vidé quand la révision de l'index change, et pas avant.", "fr"),
        (
            "La memoria se vacía cuando cambia la revisión del índice, y no antes, por la noche.",
            "es",
        ),
        ("kubectl get pods nginx redis postgres", None),
        ("1234 5678", None),
        ("", None),
    ],
)
def test_languages_are_detected_by_script_and_stop_words(text, lang):
    assert detect_language(text) == lang


def test_only_prose_counts():
    text = "설명이다.\n\n" + "int the_of and_to;\n" * 40
    blocks = [Block(BlockKind.PARAGRAPH, 0, 5), Block(BlockKind.CODE, 7, len(text))]
    assert detect_document_language(text, blocks) == "ko"


def test_addresses_and_markup_are_no_evidence():
    text = "짧은 글 <https://example.invalid/the/of/and/to/in> `the of and to in is`"
    assert detect_document_language(text, [Block(BlockKind.PARAGRAPH, 0, len(text))]) == "ko"


ENGLISH = "The pump is in the cellar and it was built by the owner of the house."
GERMAN = "Die Pumpe steht im Keller und sie ist von dem Besitzer des Hauses gebaut."
KOREAN = "펌프는 Berlin의 지하실에 있다."
JAPANESE = "ポンプは地下にある。"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (ENGLISH, "latin"),
        (KOREAN, "hangul"),
        (JAPANESE, "han"),
        ("\u043d\u0430\u0441\u043e\u0441 \u0441\u0442\u043e\u0438\u0442", "cyrillic"),
        ("12 + 7", None),
    ],
)
def test_the_script_of_most_letters_counts(text, name):
    assert detect_written_form(text).script == name


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (ENGLISH, ENGLISH, True),
        (ENGLISH, "Pump, 12 V", True),
        (ENGLISH, "12", True),
        (ENGLISH, KOREAN, False),
        (KOREAN, JAPANESE, False),
        (ENGLISH, GERMAN, False),
    ],
)
def test_words_are_compared_within_a_script_and_a_language(one, other, expected):
    assert may_share_words(detect_written_form(one), detect_written_form(other)) is expected


@pytest.mark.parametrize(
    ("question", "code", "name"),
    [
        ("What is the boiling point of water?", "en", "English"),
        ("Who wrote Hamlet?", "en", "English"),
        ("열펌프의 성능계수는 얼마인가요?", "ko", "Korean"),
        ("琵琶湖の面積はどのくらいですか", "ja", "Japanese"),
        ("北京的人口是多少", "zh", "Chinese"),
        ("Wie hoch darf der Druck sein?", "de", "German"),
        ("Warum rauscht Wasser?", "de", "German"),
        ("Quelle est la capitale de la France ?", "fr", "French"),
        ("\u00bfCu\u00e1ndo naci\u00f3 Cervantes?", "es", "Spanish"),
        ("Hoeveel kost brood?", "nl", "Dutch"),
        ("Какая глубина озера Байкал?", "ru", "Russian"),
    ],
)
def test_the_language_of_a_question_has_its_name(question, code, name):
    assert detect_question_language(question) == Language(code, name)


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("What is 김치찌개?", "en"),
        ("What does 人工智能 mean?", "en"),
        ("What is love 가사는 누가 썼어?", "ko"),
        ('"What is love"の作詞者は誰ですか', "ja"),
        ("Kubernetes에서 Pod란 무엇인가?", "ko"),
    ],
)
def test_a_name_in_another_script_does_not_change_the_language(question, code):
    assert detect_question_language(question).code == code


@pytest.mark.parametrize("question", ["", "Kubernetes pods", "42?", "pump pressure"])
def test_an_unclear_language_is_unknown(question):
    assert detect_question_language(question) == Language(None, None)


@pytest.mark.parametrize(
    "sign",
    [
        "e\u0301",
        "\U0001f44d\U0001f3fd",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f1f0\U0001f1f7",
        "\u1112\u1161\u11ab",
        "\u0915\u094d\u0937\u093f",
        "\u2764\ufe0f",
        "\r\n",
    ],
)
def test_a_grapheme_is_not_split(sign):
    text = f"a{sign}b"

    for place in range(1, len(sign) + 1):
        assert snap_to_grapheme(text, place) == 1
    assert snap_to_grapheme(text, len(sign) + 1) == len(sign) + 1


LATIN = frozenset({"latin"})


@pytest.mark.parametrize(
    "text",
    [
        "plain English",
        "naïve Übergröße, Tiếng Việt, ŁÓDŹ",
        "",
        "12:30 — 42 %, 3.14 €",
        "kubectl로 배포한다: kubectl apply",
        "ｆｕｌｌ ｗｉｄｔｈ",
    ],
)
def test_latin_text_and_text_without_letters_is_known(text):
    assert is_written_in(text, LATIN)


def test_words_of_an_unknown_language_count_as_unknown():
    assert measure_languages("Saunan jälkeen menimme järvelle uimaan.").keys() == {""}


def test_a_text_without_letters_counts_for_nothing():
    assert measure_languages("12:30 -- 14:00\n\n") == {}
