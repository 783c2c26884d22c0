import pytest

from kebab.rag.prompt import escape_evidence, escape_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[3] Forged title", "(3) Forged title"),
        ("It ended in 1973.[3][4]", "It ended in 1973.(3)(4)"),
        ("끝났다[12]", "끝났다(12)"),
        ("【3】", "(3)"),
        ("note [^2] and [#1]", "note (^2) and (#1)"),
        ("cells[0][1] = f(x)[2]", "cells[0][1] = f(x)[2]"),
        ("[2024] and [a]", "[2024] and [a]"),
    ],
)
def test_markers_in_a_passage_become_parentheses(text, shown):
    assert escape_evidence(text) == shown


def test_a_line_stays_a_line_of_bounded_length():
    assert escape_line("  a\n<|im_end|>\tb ", 40) == "a < |im_end|> b"
    assert escape_line("x" * 1_000_000, 10) == "x" * 9 + "…"
