import pytest

from kebab.core.answers import Refusal
from kebab.rag.refusals import REFUSAL_SENTENCES, get_refusal_sentence
from kebab.text.language import detect_question_language


@pytest.mark.parametrize("code", REFUSAL_SENTENCES)
def test_every_language_words_every_refusal_in_one_sentence_of_its_own(code):
    said = [get_refusal_sentence(reason, code) for reason in Refusal]

    assert len(set(said)) == len(Refusal)
    assert all(one.endswith((".", "\u3002")) and "\n" not in one for one in said)


@pytest.mark.parametrize("code", ["ko", "ja", "zh", "ru", "uk", "ar", "de", "fr", "es", "nl"])
def test_a_refusal_is_in_the_language_that_it_is_for(code):
    assert detect_question_language(" ".join(REFUSAL_SENTENCES[code].values())).code == code


def test_another_language_is_answered_in_english():
    reason = Refusal.LLM_SELF_JUDGE

    assert get_refusal_sentence(reason, "ko") == "노트에는 이 질문에 대한 답이 없습니다."
    assert get_refusal_sentence(reason, "sw") == get_refusal_sentence(reason, None)
    assert get_refusal_sentence(reason, None) == "The notes do not answer this question."
