import pytest

from kebab.core.answer import Refusal
from kebab.rag.refusals import SENTENCES
from kebab.rag.tongue import Tongue, refusal_sentence, tongue


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
def test_the_language_of_a_question_is_told_with_its_name(question, code, name):
    assert tongue(question) == Tongue(code, name)


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
    assert tongue(question).code == code


@pytest.mark.parametrize("question", ["", "Kubernetes pods", "42?", "pump pressure"])
def test_what_cannot_be_told_is_unknown(question):
    assert tongue(question) == Tongue(None, None)


@pytest.mark.parametrize("code", SENTENCES)
def test_every_language_words_every_refusal_in_one_sentence_of_its_own(code):
    said = [refusal_sentence(reason, code) for reason in Refusal]

    assert len(set(said)) == len(Refusal)
    assert all(one.endswith((".", "\u3002")) and "\n" not in one for one in said)


@pytest.mark.parametrize("code", ["ko", "ja", "zh", "ru", "uk", "ar", "de", "fr", "es", "nl"])
def test_a_refusal_is_in_the_language_that_it_is_for(code):
    assert tongue(" ".join(SENTENCES[code].values())).code == code


def test_another_language_is_answered_in_english():
    reason = Refusal.LLM_SELF_JUDGE

    assert refusal_sentence(reason, "ko") == "노트에는 이 질문에 대한 답이 없습니다."
    assert refusal_sentence(reason, "sw") == refusal_sentence(reason, None)
    assert refusal_sentence(reason, None) == "The notes do not answer this question."
