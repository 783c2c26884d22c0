import pytest

from kebab.core.queries import Filters
from kebab.search.query_parser import classify_intent, parse_query


def _classify(text):
    return classify_intent(parse_query(text, Filters()))


@pytest.mark.parametrize("text", ["oil embargo", "API 개요", "Kubelet", "bread recipe rye"])
def test_a_few_words_name_a_topic(text):
    found = _classify(text)

    assert not found.asks
    assert found.topic > 0.9
    assert found.question < 0.1


@pytest.mark.parametrize(
    "text",
    [
        "who proclaimed the oil embargo",
        "Rye bread: how long does it rest?",
        "Wie lange ruht der Teig",
        "\u00bfCu\u00e1ndo empieza la reuni\u00f3n?",
        "Когда начинается встреча",
        "盧舎那仏像は誰の発願で造立されたの",
        "반죽은 얼마나 쉬나요",
        "面团要醒多少时间",
        "متى يبدأ الاجتماع؟",
    ],
)
def test_a_question_is_known_by_its_words_or_its_mark(text):
    found = _classify(text)

    assert found.asks
    assert found.topic == 0


def test_a_question_word_late_in_a_query_does_not_ask():
    assert not _classify("settings dialog that shows where").asks


def test_many_words_describe_a_need():
    need = _classify("heat transfer hypersonic boundary layer blunt bodies dissociated gas flow")

    assert need.need == 1
    assert need.question == 0


def test_a_question_becomes_a_need_at_more_words_than_a_statement():
    words = "heat transfer hypersonic boundary layer blunt bodies"

    assert _classify(f"{words}?").need < _classify(words).need


def test_words_that_say_little_weaken_a_need_and_a_question_but_no_topic():
    question = _classify("who changes the pump seal")
    need = _classify("pump seal rubber leaks pressure shaft housing bearing grease")

    assert question.weaken(0.5).question == pytest.approx(question.question / 2)
    assert need.weaken(0.5).need == pytest.approx(need.need / 2)
    assert _classify("oil embargo").weaken(0.5).topic == _classify("oil embargo").topic
