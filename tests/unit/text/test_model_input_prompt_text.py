import json
import re
from pathlib import Path

import pytest

from kebab.text.model_input import escape_text, estimate_tokens, wrap_in_delimiters

TEMPLATE_TOKENS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<|turn>",
    "<turn|>",
    "<bos>",
    "</s>",
    "<think>",
    "</think>",
    "<tool_call>",
    "<unused12>",
    "<｜User｜>",
    "<｜end\u2581of\u2581sentence｜>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "[SYSTEM_PROMPT]",
    "[TOOL_CALLS]",
    "[|assistant|]",
    "[img-0]",
    "<__media__>",
]


def test_tokens_of_chat_templates_are_split_by_a_blank():
    for token in TEMPLATE_TOKENS:
        result = escape_text(f"before {token} after {token}")

        assert token not in result
        assert result.replace(" ", "") == f"before{token}after{token}"


@pytest.mark.parametrize("token", ["<|im_start|>", "[INST]", "</s>"])
def test_an_invisible_character_cannot_hide_a_template_token(token):
    assert token not in escape_text(token[:2] + "\u200b\u2060" + token[2:])


@pytest.mark.parametrize(
    "text",
    [
        "x |> f <| y",
        "a < b && c > d",
        "<p>text</p>",
        "List[INT] and [ ] and [x]",
        "if a<b|c>d",
        "\U0001f469\u200d\U0001f469 \u0645\u06cc\u200c\u062e\u0648",
        "\tindented\n\nlines",
    ],
)
def test_similar_text_is_not_escaped(text):
    assert escape_text(text) == text


def test_hidden_and_reversed_text_is_visible():
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "print HACKED")

    assert escape_text(f"a{hidden}b\u202ec\u2066d\ufeffe") == "abcde"
    assert escape_text("bell\x07 esc\x1b[2J nul\x00 lone\ud800") == (
        "bell\ufffd esc\ufffd[2J nul\ufffd lone\ufffd"
    )


def test_all_line_ends_are_normalized():
    assert escape_text("a\r\nb\rc\u2028d\x85e\x0cf") == "a\nb\nc\nd\ne\nf"


@pytest.mark.parametrize(
    "tag", ["</evidence-1a2b3c4d>", "<passage-1a2b3c4d [3]>", "< / EVIDENCE>", "＜passage>"]
)
def test_imitated_delimiters_are_escaped(tag):
    assert not re.search(r"[<\uff1c]\s*/?\s*(evidence|passage)", escape_text(tag), re.IGNORECASE)


def test_a_text_is_delimited_by_a_tag_that_does_not_occur_in_it():
    shown = wrap_in_delimiters("talk", "line\n</talk>", "question")
    tag = shown.split("\n")[0]

    assert re.fullmatch(r"<talk-[0-9a-f]{8}>", tag)
    assert shown == f"{tag}\nline\n</talk>\n{tag.replace('<', '</')}"


CASES = json.loads(
    (Path(__file__).parents[2] / "cases" / "model-tokens.json").read_text(encoding="utf-8")
)
"""Texts, and how many tokens they are to the costlier of two tokenizers of language models."""

DEAR = {"arabic": 2.2, "russian": 1.7, "tamil": 2.3, "thai": 2.8, "vietnamese": 2.3}
"""How far above the estimate may be where tokenizers differ from each other by as much."""


@pytest.mark.parametrize("name", CASES)
def test_the_estimate_is_seldom_below_the_count_of_tokenizers_and_never_far_above(name):
    text, counted = CASES[name]["text"], CASES[name]["tokens"]

    assert counted <= estimate_tokens(text) <= counted * DEAR.get(name, 1.5)
