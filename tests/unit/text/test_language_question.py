import pytest

from kebab.text.language import Language, detect_question_language


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
