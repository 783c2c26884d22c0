"""Brackets without a partner and open fences are found."""

import pytest

from kebab.review.rules.punctuation import UnbalancedBracket, UnclosedFence
from tests.fakes.review import FakeSurroundings, make_document


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Restart the server (and wait for it.", [20 - 1]),
        ("Restart it and wait) for it.", [19]),
        ("See [the page for more.", [4]),
        ("설정（기본값을 연다", [2]),
        ("「引用を閉じない。", [0]),
        ("One (two.\n\n# Heading\n\nThree (four.", [4, 28]),
        ("Balanced (one [two]) and （三)", []),
        ("Hello :) and (see you ;-)", []),
        ("a) first b) second 1) third iv) fourth", []),
        ("In [0, 1) or (0, 1] or [0x0, 0x10000000000000000).", []),
        ("The range is [.start, .start + .replicas).", []),
        ("Type \"(\" or '[' here", []),
        ("A remark (with a list:\n\n- one\n- two\n\nand its end).", []),
        ("Escaped \\( bracket", []),
        ("Unclosed `code (here", []),
        ("", []),
    ],
)
def test_brackets_without_a_partner_are_named(text: str, named: list[int]) -> None:
    found = UnbalancedBracket().check(make_document(text), FakeSurroundings())
    assert [one.start for one in found] == named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("```sh\nmake\n", ["```"]),
        ("```sh\nmake\n```\n\n~~~~\nmake\n~~~\n", ["~~~~"]),
        ("```sh\nmake\n```\n", []),
        ("- item\n\n  ```sh\n  make\n  ```\n", []),
        ("> ```\n> make\n> ```\n", []),
        ("````\n```\n````\n", []),
        ("```inline``` code\n", []),
        ("no fence", []),
    ],
)
def test_a_fence_without_an_end_is_named(text: str, named: list[str]) -> None:
    found = UnclosedFence().check(make_document(text), FakeSurroundings())
    assert [text[one.start : one.end] for one in found] == named
