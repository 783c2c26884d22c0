import pytest

from kebab.rag.checking.claims import Claim
from kebab.rag.checking.code_blocks import CodeBlock, CodeCheck, edit_block, edit_comments
from kebab.rag.checking.code_index import parse_code
from kebab.rag.checking.markers import EditedText, find_fences, parse_markers


def build_check(text):
    marked = parse_markers(text, {1})
    (fence,) = find_fences(marked)
    code = parse_code(text[slice(*fence.content)])
    block = CodeBlock(fence, code, None, Claim(*fence.span, "", ()), ())
    return marked, CodeCheck(block, comments=code.comments)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\nls\n```", "```\nls\n```\n[x]"),
        ("```\nls\n```\nNext", "```\nls\n```\n[x]\n\nNext"),
        ("```\nls\n```\n\nNext", "```\nls\n```\n[x]\n\nNext"),
        ("```\nls\n```\n[1]\nNext", "```\nls\n```\n[x]\n\nNext"),
        ("  ~~~\n  ls\n", "  ~~~\n  ls\n  ~~~\n  [x]"),
        ("```\nls", "```\nls\n```\n[x]"),
        ("```\nls [1]\n```", "```\nls\n```\n[x]"),
    ],
)
def test_a_mark_stands_on_its_own_line_after_the_block(text, expected):
    marked, check = build_check(text)

    assert EditedText(text, edit_block(text, check, marked.markers, "[x]")).text == expected


def test_without_a_mark_an_unsupported_block_is_unchanged():
    marked, check = build_check("```\nls [1]\n```\n[1]")

    assert list(edit_block(marked.text, check, marked.markers, None)) == []


def test_a_mark_stands_at_the_end_of_a_comment():
    marked, check = build_check("```c\nf(); /* one */\ng(); // two \n```")

    edited = EditedText(marked.text, edit_comments(check, "[x]")).text
    assert edited == "```c\nf(); /* one [x] */\ng(); // two [x] \n```"
