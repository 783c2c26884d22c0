import pytest

from kebab.rag.question_terms import is_followup


@pytest.mark.parametrize(
    "question",
    [
        "Why?",
        "In winter?",
        "And what does the pump cost in total?",
        "What about the second model of the series?",
        "How much does it cost?",
        "When was that decided?",
        "Und wie laut ist die Pumpe?",
        "Wie lange dauert dies?",
        "Et quelle est la puissance de la pompe ?",
        "\u00bfY cu\u00e1nto cuesta la bomba?",
        "\u0410 сколько стоит насос?",
        "그럼 비용은 얼마나 드나요?",
        "그건 언제 만들어졌어?",
        "거기까지 얼마나 걸려요?",
        "비용은?",
        "それはいつですか",
        "じゃあ冬の間の費用はいくらになりますか",
        "那价格是多少",
        "它是什么时候建成的",
    ],
)
def test_follow_up_questions_are_recognised(question):
    assert is_followup(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the boiling point of water?",
        "Who wrote Hamlet?",
        "Are there any storks in Bavaria?",
        "How do I restart the pump after a power cut when its display stays dark for a minute?",
        "Wie hoch ist die Vorlauftemperatur der Heizung?",
        "Quelle est la capitale de la France ?",
        "열펌프의 성능계수는 얼마인가요?",
        "그림을 그리는 방법을 알려 주세요",
        "琵琶湖の面積はどのくらいですか",
        "那覇市の人口は何人ですか",
        "北京的人口是多少",
        "其他国家的首都有哪些",
    ],
)
def test_standalone_questions_are_recognised(question):
    assert not is_followup(question)
