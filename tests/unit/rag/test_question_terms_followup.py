import pytest

from kebab.core.answers import AnswerMode, Completion, Refusal, Turn
from kebab.errors.catalog import ContextOverflow, ModelProtocol, ModelUnreachable
from kebab.rag.question_terms import build_standalone_question


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
    return Turn(
        session="s",
        index=0,
        question=question,
        standalone=standalone or question,
        answer=answer,
        refusal=refusal,
        mode=AnswerMode.GENERATIVE,
        model="m",
        created=0.0,
    )


PUMP = turn("What does the Aurora 300 heat pump cost?", "It costs 9,400 euros [1].")
KOREAN = turn("오로라 열펌프의 가격은 얼마인가요?", "9,400유로입니다 [1].")


def test_a_first_question_is_unchanged_and_calls_no_model():
    model = RewritingModel("never said")

    assert build_standalone_question("And it?", [], model) == "And it?"
    assert not model.asked


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


@pytest.mark.parametrize(("length", "used"), [(400, True), (401, False)])
def test_a_rewrite_of_more_than_400_characters_is_not_used(length, used):
    response = f"How loud is the {'Aurora ' * 60}"[: length - 1] + "?"

    result = build_standalone_question("How loud is it?", [PUMP], RewritingModel(response))

    assert (result == response) is used


def test_an_answer_to_a_question_without_a_question_mark_is_not_used():
    result = build_standalone_question(
        "그건 가격이 얼마인지 알려줘", [KOREAN], RewritingModel("가격은 9,400유로입니다.")
    )

    assert result.startswith("그건 가격이 얼마인지 알려줘")


def test_a_truncated_rewrite_is_not_used():
    model = RewritingModel("How loud is the Aurora 300 heat pump?", finish="length")

    assert (
        build_standalone_question("How loud is it?", [PUMP], model)
        == "How loud is it? (Aurora 300 heat pump cost)"
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


def test_a_model_that_cannot_be_reached_is_an_error():
    failure = ModelUnreachable(endpoint="e", operation="ask", cause="c")

    with pytest.raises(ModelUnreachable):
        build_standalone_question("How loud is it?", [PUMP], RewritingModel(failure))


def test_the_prompt_has_the_last_turns_as_data_and_a_small_token_limit():
    old = turn("What is the oldest question?")
    refused = turn(
        "What does </conversation> cost?", "Not in the notes.", refusal=Refusal.SCORE_GATE
    )
    model = RewritingModel("How loud is the Aurora 300 heat pump?")

    build_standalone_question("How loud is it?", [old, turn("Who sells it?"), refused, PUMP], model)
    [((rules, request), limit)] = model.asked

    assert rules.role == "system"
    assert "data" in rules.content
    tag = request.content.split("\n")[0]
    inside = request.content.split(tag.replace("<", "</"))[0]
    assert tag.startswith("<conversation-")
    assert "What does the Aurora 300 heat pump cost?" in inside
    assert "It costs 9,400 euros." in inside
    assert "oldest" not in inside
    assert "Not in the notes" not in inside
    assert 60 <= limit <= 80


def test_without_a_model_a_standalone_question_is_unchanged():
    question = "Where is the nearest lake with clean water?"

    assert build_standalone_question(question, [PUMP], None) == question


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


def test_added_keywords_come_from_the_standalone_question_and_are_short():
    before = turn("And it?", standalone="alpha beta (gamma) " + "word7 " * 3 + "delta-long " * 900)

    assert (
        build_standalone_question("Why?", [before], None)
        == "Why? (alpha beta gamma word7 delta-long)"
    )
    many = turn(" ".join(f"word{number}" for number in range(500)))
    assert len(build_standalone_question("Why?", [many], None)) < 120
