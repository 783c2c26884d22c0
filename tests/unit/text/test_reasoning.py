"""What a model thinks, calls or ends its turn with is removed from its text."""

import pytest

from kebab.text.reasoning import ReasoningFilter, remove_reasoning

ANSWER = "The starter is fed daily [1]."
WRITTEN = [
    f"<think>The user asks.</think>\n\n{ANSWER}",
    f"<THINKING>\nHm.\n</THINKING>{ANSWER}",
    f"<reasoning>Hm</reasoning> {ANSWER}",
    f"[THINK]Hm[/THINK]{ANSWER}",
    f"◁think▷Hm◁/think▷{ANSWER}",
    f"<seed:think>Hm</seed:think>{ANSWER}",
    f"<|START_THINKING|>Hm<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
    f"<|begin_of_thought|>Hm<|end_of_thought|>{ANSWER}",
    f"<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
    f"<|channel|>final <|constrain|>json<|message|>{ANSWER}<|return|>",
    f"<|channel>thought\nHm\n<channel|>{ANSWER}",
    f"analysisWe need to answer.assistantfinal{ANSWER}",
    f"Hm, the notes say daily.\n</think>\n\n{ANSWER}",
    f"One. </think> two </think>{ANSWER}",
    f"<think>The tag `</think>` is near.</think>{ANSWER}",
    f"<tool_call>{{}}</tool_call>{ANSWER}",
    f"{ANSWER} <function=find>{{}}</function>",
    f"My thoughts.\n[BEGIN FINAL RESPONSE]\n{ANSWER}\n[END FINAL RESPONSE]",
    f"<|im_start|>assistant\n{ANSWER}<|im_end|>\n<|im_start|>user\nAnd weekly?<|im_end|>",
    f"{ANSWER}<|eot_id|>",
    f"{ANSWER}</s>",
    f"{ANSWER}<｜end▁of▁sentence｜>",
    f"<think>a</think><answer>{ANSWER}</answer>",
    f"<|begin_of_box|>{ANSWER}<|end_of_box|>",
]
WITHOUT_AN_ANSWER = [
    "<think>The user asks about starters.",
    "<think>Hm</think>",
    "<|channel|>analysis<|message|>We need",
    "analysisWe need to answer.",
    '<tool_call>{"name": "search"}</tool_call>',
    '[TOOL_CALLS][{"name": "search"}]',
    "",
]
TEXTS = [
    "The template shows `<think>` and `</think>` [1].",
    "Write this:\n```\n<think>\nHm\n</think>\n```\nand it ends [1].",
    "The tag <think> opens a block, and </think> closes it [1].",
    'The end is "</think>" [1].',
    "A < b, a <b>word</b>, <s>old</s> text, [a link](b.md) and [1].",
    '{"items": [{"words": "ends with </think> here", "fix": "<|im_end|>"}]}',
    "| tag | use |\n|---|---|\n| <think> | begins [1] |\n| </think> | ends [1] |",
    "It is a List<Function>, and `x` a Map<Analysis> [1].",
    "- <function> is called [1]\n- </analysis> ends it [1]",
    "<output> is the name of the file [1].",
    "Run it with <analysis file> and <think time> [1].",
    "analysis of the starter: it is fed daily [1].",
    "analysis는 매일 합니다 [1].",
    "analysis",
    "[think]: https://a.b/think\n[think] is a link.",
    " Leading blanks stay.",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_only_the_answer_remains(text: str) -> None:
    assert remove_reasoning(text).strip() == ANSWER


@pytest.mark.parametrize("text", TEXTS)
def test_a_tag_that_the_answer_shows_is_text(text: str) -> None:
    assert remove_reasoning(text) == text


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_the_pieces_of_a_stream_give_the_same_text(size: int) -> None:
    shown = list[str]()

    def show(piece: str | None) -> None:
        shown.append(piece) if piece is not None else shown.clear()

    for text in (*WRITTEN, *WITHOUT_AN_ANSWER, *TEXTS):
        shown.clear()
        stream = ReasoningFilter(show)
        for start in range(0, len(text), size):
            stream.add(text[start : start + size])
        stream.finish()
        assert "".join(shown) == stream.text == remove_reasoning(text)


def test_a_review_reads_the_object_behind_the_block() -> None:
    found = '{"items":[{"words":"recieve"}]}'
    assert remove_reasoning(f'<think>{{"items":[]}}</think>{found}') == found
    assert remove_reasoning(f'{{"items":[]}}</think>{found}') == found
