import pytest

from kebab.core.answers import Completion
from kebab.errors.catalog import ContextOverflow, ModelProtocol
from kebab.rag.sessions import build_standalone_question, is_followup
from tests.fakes.session_store import turn as make_turn


class RewritingModel:
    """A language model that says what it is told to, or fails so."""

    name = "scripted"
    context_tokens = 4096

    def __init__(self, response, finish="stop"):
        self.response = response
        self.finish = finish
        self.asked = []

    def chat(self, messages, *, max_tokens, on_text, schema=None):
        assert schema is None
        self.asked.append((messages, max_tokens))
        if isinstance(self.response, Exception):
            raise self.response
        on_text(self.response)
        return Completion(text=self.response, finish=self.finish)


def turn(question, answer="", standalone="", refusal=None):
    known = {"standalone": standalone or question, "answer": answer, "refusal": refusal}
    return make_turn(question=question, **known)


PUMP = turn("What does the Aurora 300 heat pump cost?", "It costs 9,400 euros [1].")
KOREAN = turn("오로라 열펌프의 가격은 얼마인가요?", "9,400유로입니다 [1].")


@pytest.mark.parametrize(
    ("question", "before", "response", "taken"),
    [
        ("How loud is it?", PUMP, "How loud is the Aurora 300 heat pump?", None),
        ("How loud is it?", PUMP, '"How loud is the Aurora 300 heat pump?"\n', None),
        ("How loud?", PUMP, "**Standalone question:** How loud is the Aurora 300 heat pump?", None),
        ("그건 얼마나 시끄러워?", KOREAN, "오로라 열펌프는 얼마나 시끄러워?", None),
        ("And the Borealis 7?", PUMP, "What does the Borealis 7 heat pump cost?", None),
    ],
)
def test_the_rewrite_of_the_model_is_used(question, before, response, taken):
    result = build_standalone_question(question, [before], RewritingModel(response))

    assert result == response.split(":")[-1].strip(' \n"*')


@pytest.mark.parametrize(
    "response",
    [
        "",
        "   \n",
        "It makes 38 dB.",
        "The Aurora 300 heat pump costs 9,400 euros.",
        "How loud is the Aurora?\nIt is quiet.",
        "How loud " + "is the Aurora 300 heat pump " * 20 + "?",
        "Wie laut ist die Aurora 300 und was kostet der Betrieb mit dem Speicher?",
        "Would you like a recipe for kebab with yoghurt and mint instead?",
        "What does the Aurora 300 heat pump cost?",
    ],
)
def test_a_response_that_is_no_rewrite_is_not_used(response):
    result = build_standalone_question(
        "How loud is it at 35 degrees?", [PUMP], RewritingModel(response)
    )

    assert result == "How loud is it at 35 degrees? (Aurora 300 heat pump cost)"


@pytest.mark.parametrize(
    ("question", "response"),
    [
        ("What does it cost with 12 kW?", "What does the Aurora 300 heat pump cost?"),
        ('Is it "silent"?', "Is the Aurora 300 heat pump silent?"),
    ],
)
def test_a_rewrite_must_keep_numbers_and_quoted_words(question, response):
    assert build_standalone_question(question, [PUMP], RewritingModel(response)).startswith(
        question
    )


@pytest.mark.parametrize(
    "failure",
    [
        ModelProtocol(endpoint="e", operation="ask", cause="c"),
        ContextOverflow(prompt_tokens=9, context_tokens=8),
    ],
)
def test_after_a_soft_failure_of_the_model_keywords_are_added(failure):
    result = build_standalone_question("How loud is it?", [PUMP], RewritingModel(failure))

    assert result == "How loud is it? (Aurora 300 heat pump cost)"


@pytest.mark.parametrize(
    ("question", "before", "result"),
    [
        ("And in winter?", PUMP, "And in winter? (Aurora 300 heat pump cost)"),
        ("And the heat pump?", PUMP, "And the heat pump? (Aurora 300 cost)"),
        ("그럼 소음은?", KOREAN, "그럼 소음은? (오로라 열펌프의 가격은 얼마인가요)"),
        ("And?", turn("And?"), "And?"),
    ],
)
def test_without_a_model_keywords_of_the_question_before_are_added(question, before, result):
    assert build_standalone_question(question, [before], None) == result


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
