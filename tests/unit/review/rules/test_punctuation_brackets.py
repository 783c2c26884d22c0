"""Brackets without a partner and open fences are found."""

import pytest

from kebab.core.review import Markup
from kebab.review.rules.punctuation import (
    JapanesePunctuation,
    JapaneseSpacing,
    KoreanPunctuation,
    KoreanSpacing,
    MixedWidthBracket,
    UnbalancedBracket,
    UnclosedFence,
)
from kebab.review.rules.rule import Rule
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
        ("Try it (with the page\nhttps://example.org/a\nthat has it).", []),
        ("A [<picture>\n\n<img>\n\n</picture>](a.html) picture", []),
        ("It looks for (?= and ends with \\e[ here.", []),
        ("It was the case (January\n2024) in all of it.", []),
        ('R""(\nText of a manual.\n)""\n', []),
        ("Use it (see the\n--long option) here.", []),
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
        ("````\n- a\n    ````\n  b\n````\n", []),
        ("```inline``` code\n", []),
        ("no fence", []),
    ],
)
def test_a_fence_without_an_end_is_named(text: str, named: list[str]) -> None:
    found = UnclosedFence().check(make_document(text), FakeSurroundings())
    assert [text[one.start : one.end] for one in found] == named


def _fix(rule: Rule, text: str, markup: Markup | None = None) -> str:
    """Return the text with the fixes of a rule."""
    document = make_document(text, markup or Markup())
    found = sorted(rule.check(document, FakeSurroundings()), key=lambda one: -one.start)
    for one in found:
        assert one.fix is not None
        text = text[: one.start] + one.fix.text + text[one.end :]
    return text


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("파일을 엽니다.그리고 닫습니다.", "파일을 엽니다. 그리고 닫습니다."),
        ("사과를 사고,배를 산다", "사과를 사고, 배를 산다"),
        ("파일 을 연다", "파일을 연다"),
        ("볼수 있다. 할수 없다.", "볼 수 있다. 할 수 없다."),
        ("파일을  연다", "파일을 연다"),
        ("볼 수 있다. 실수 없이 한다. 횟수 있다.", None),
        ("필수 있음. 볼수록 좋다.", None),
        ("가.나.다.", None),
        ("| 파일  이름 |", None),
    ],
)
def test_korean_spaces_are_fixed(text: str, fixed: str | None) -> None:
    assert _fix(KoreanSpacing(), text) == (fixed or text)


def test_code_between_two_words_is_no_space() -> None:
    text = "파일 `x` 열기"
    assert _fix(KoreanSpacing(), text, Markup(code=((3, 6),))) == text


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("파일을 엽니다 .", "파일을 엽니다."),
        ("정말 ?", "정말?"),
        ("파일을 엽니다。그리고", "파일을 엽니다. 그리고"),
        ("파일을 엽니다。", "파일을 엽니다."),
        ("사과，배、감", "사과, 배, 감"),
        ("파일을 엽니다..", "파일을 엽니다."),
        ("파일을 엽니다...", None),
        ("파일 .gitignore 와", None),
        ("그래서 ... 그렇다", None),
    ],
)
def test_korean_signs_are_fixed(text: str, fixed: str | None) -> None:
    assert _fix(KoreanPunctuation(), text) == (fixed or text)


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("ファイルを開きます 。", "ファイルを開きます。"),
        ("ファイルを開き、 閉じます。 次に", "ファイルを開き、閉じます。次に"),
        ("中文 。", None),
        ("ファイルを開きます。\n次に", None),
    ],
)
def test_japanese_spaces_are_fixed(text: str, fixed: str | None) -> None:
    assert _fix(JapaneseSpacing(), text) == (fixed or text)


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("ファイルを開きます.それを閉じます。", "ファイルを開きます。それを閉じます。"),
        ("ファイルを開き, 閉じます", "ファイルを開き、閉じます"),
        ("開きます。。", "開きます。"),
        ("開きます。。。", None),
        ("開き、、閉じます", "開き、閉じます"),
        ("ファイル.txt を開く", None),
        ("中文。。", None),
    ],
)
def test_japanese_signs_are_fixed(text: str, fixed: str | None) -> None:
    assert _fix(JapanesePunctuation(), text) == (fixed or text)


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("設定（既定値)を開く", "設定（既定値）を開く"),
        ("設定(既定値）を開く", "設定(既定値)を開く"),
        ("設定（既定値）を(開く)", None),
        ("[设定](https://example.org)（既定値 开）", None),
    ],
)
def test_brackets_get_the_same_width(text: str, fixed: str | None) -> None:
    assert _fix(MixedWidthBracket(), text) == (fixed or text)


def test_brackets_of_text_that_is_no_markdown_are_not_judged() -> None:
    document = make_document("Before it the '[ mark is set.", path="a.txt", media="text/plain")
    assert list(UnbalancedBracket().check(document, FakeSurroundings())) == []


@pytest.mark.parametrize(
    "text",
    [
        "There was an unexpected ) at the end.",
        "The ways are 1.) to go and 2.) to stay.",
        "_Step 1_) A release is made.",
        "Leave the session with Ctrl+] at once.",
        "Use a transport in `useChat` with [`x`](\n  /docs/api\n), and update it.",
        "It should map to\n\n(with\n```c\nx\n```\n).",
        r"It starts with (?= or (?\! for assertions.",
        "*) The tokens are long.",
        "**Q**) Why is it so?",
        "- Keep the order of the parts (they…",
    ],
)
def test_a_bracket_that_is_a_word_or_a_sign_of_a_list_needs_no_partner(text: str) -> None:
    assert [*UnbalancedBracket().check(make_document(text), FakeSurroundings())] == []


def test_a_drawing_of_tildes_is_no_fence() -> None:
    text = "The network:\n\n ~~~~~~~~ \\  +---+\n          |"
    assert [*UnclosedFence().check(make_document(text), FakeSurroundings())] == []


def test_english_about_japanese_has_no_japanese_signs() -> None:
    text = "The words that end so have a short form in the guide: プロパティ, ライブラリ, メモリ."
    assert [*JapanesePunctuation().check(make_document(text), FakeSurroundings())] == []
