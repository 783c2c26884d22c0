import pytest

from kebab.core.answers import Refusal
from kebab.rag.engine import REFUSAL_SENTENCES, get_refusal_sentence
from kebab.text.language import detect_question_language


@pytest.mark.parametrize("code", REFUSAL_SENTENCES)
def test_every_language_has_one_sentence_for_every_refusal(code):
    said = [get_refusal_sentence(reason, code) for reason in Refusal]

    assert len(set(said)) == len(Refusal)
    assert all(one.endswith((".", "。")) and "\n" not in one for one in said)


@pytest.mark.parametrize("code", ["ko", "ja", "zh", "ru", "uk", "ar", "de", "fr", "es", "nl"])
def test_a_refusal_is_in_the_requested_language(code):
    assert detect_question_language(" ".join(REFUSAL_SENTENCES[code].values())).code == code


def test_an_unknown_language_falls_back_to_english():
    reason = Refusal.LLM_SELF_JUDGE

    assert get_refusal_sentence(reason, "ko") == "노트에는 이 질문에 대한 답이 없습니다."
    assert get_refusal_sentence(reason, "sw") == get_refusal_sentence(reason, None)
    assert get_refusal_sentence(reason, None) == "The notes do not answer this question."
