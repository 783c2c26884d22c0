import pytest

from kebab.core.answers import AnswerMode, Refusal, Turn
from kebab.rag.prompt import build_history, estimate_prompt_tokens, remove_markers, shorten
from kebab.text.model_input import estimate_tokens


def turn(question, answer="It is so [1].", refusal=None, standalone=""):
    return Turn(
        session="s",
        index=0,
        question=question,
        standalone=standalone,
        answer=answer,
        refusal=refusal,
        mode=AnswerMode.GENERATIVE,
        model="m",
        created=0.0,
    )


def test_turns_become_questions_and_answers():
    result = build_history([turn("And it?", "It swims [1].", standalone="Does the duck swim?")])

    assert [(one.role, one.content) for one in result] == [
        ("user", "Does the duck swim?"),
        ("assistant", "It swims."),
    ]


def test_the_history_has_only_the_last_turns_without_refusals():
    turns = [turn("first"), turn("second"), turn("third"), turn("no", "-", Refusal.SCORE_GATE)]

    assert [one.content for one in build_history(turns) if one.role == "user"] == [
        "second",
        "third",
    ]


def test_long_turns_are_shortened():
    result = build_history([turn("why? " * 900, "Because it rains. " * 900)] * 9)

    assert estimate_prompt_tokens(result) < 400
    assert result[1].content.startswith("Because it rains. Because")
    assert result[1].content.endswith("rains. …")


def test_template_tokens_in_old_answers_are_escaped():
    assert "<|im_start|>" not in build_history([turn("q", "say <|im_start|>")])[1].content


@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        ("It swims [1][2].", "It swims."),
        ("It swims [1, 2]; it flies [#3].", "It swims; it flies."),
        ("It swims【1】.", "It swims."),
        ("It swims [2-4].", "It swims."),
        ("The list [a] of [2024] stays", "The list [a] of [2024] stays"),
    ],
)
def test_markers_are_removed(answer, plain):
    assert remove_markers(answer) == plain


def test_a_short_text_is_not_shortened():
    assert shorten("  a b  ", 5) == "a b"


def test_a_shortened_text_uses_all_its_tokens():
    tokens = estimate_tokens("It rains today. …")

    assert shorten("It rains today. It snows tomorrow.", tokens) == "It rains today. …"
    assert shorten("It rains today. It snows tomorrow.", tokens - 1) == "It rains …"
