"""Translations are put into their document, which keeps its structure."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.parse.text.markdown_parts import read_markup
from kebab.review.segments import restore, split_segments
from kebab.review.translation import (
    SegmentPair,
    build_translation,
    check_pair,
    explain_untranslated,
)
from kebab.wire.review import TranslatedText
from tests.fakes.review import make_document
from tests.fakes.translator import to_hangul

SAMPLE = r"""---
title: My note
---
# Installing **kebab** {#install}

You need `python` and [the docs](https://a.b/c "t"). It wraps
over *lines*.\
A hard break above[^1].

> - item in a quote

1. First: run `a`.
   ```sh
   code here
   ```

| Name | Value |
|------|-------|
| One | **first** |

[^1]: The note with <b>html</b>.
"""


def _build(raw: str, targets: dict[str, str]) -> TranslatedText:
    document = make_document(raw, read_markup(raw.replace("\r\n", "\n")))
    return build_translation(document, targets)


def _translate(raw: str) -> dict[str, str]:
    document = make_document(raw, read_markup(raw.replace("\r\n", "\n")))
    return {
        one.cid: restore(one.masked, to_hangul(one.source), is_markdown=True)
        for one in split_segments(document)
    }


def test_everything_between_the_segments_stays() -> None:
    built = _build(SAMPLE, _translate(SAMPLE))
    assert built.translated == built.segments == 11
    assert built.findings == []
    lines = built.text.split("\n")
    assert lines[:3] == ["---", "title: My note", "---"]
    assert lines[3].startswith("# ")
    assert lines[3].endswith("** {#install}")
    assert "   ```sh\n   code here\n   ```" in built.text
    assert '](https://a.b/c "t")' in built.text
    assert "|------|-------|" in built.text
    assert "Installing" not in built.text


def test_line_ends_of_the_file_stay() -> None:
    raw = "# One\r\n\r\nTwo words.\r\nThree.\n```\r\nx\n```\r\n"
    built = _build(raw, {"seg-0001": "하나", "seg-0002": "둘"})
    assert built.text == "# 하나\r\n\r\n둘\r\nThree.\n```\r\nx\n```\r\n"


@pytest.mark.parametrize(
    "target",
    ["# heading", "a [link](b)", "a `code`", "a\n\n- item", "```", "<!-- a", "[^2] note", "a | b"],
)
def test_a_translation_that_changes_the_structure_is_left_out(target: str) -> None:
    raw = "# One\n\nA word here.\n\n| a | b |\n|---|---|\n| Cell | d |\n\nLast one.\n"
    cid = "seg-0005" if target == "a | b" else "seg-0002"
    targets = {**_translate(raw), cid: target}
    built = _build(raw, targets)
    assert [one.cid for one in built.findings] == [cid]
    assert [one.s for one in built.findings] == ["error"]
    assert built.translated == built.segments - 1
    assert "# One" not in built.text
    assert ("A word here." if cid == "seg-0002" else "| Cell |") in built.text


@given(
    st.lists(
        st.sampled_from(
            (
                "A word.|# Head|- item one|> quoted|```\ncode\n```|a `b` *c*|"
                "|[l](m) and ![n](o.png)|1. two|$x$ is|<div>|    code|a ; b|-- ; --"
            )
            .replace(";", "\x00")
            .split("|")
        ).map(lambda line: line.replace("\x00", "|")),
        max_size=12,
    )
)
def test_any_document_keeps_its_structure(lines: list[str]) -> None:
    raw = "\n".join(lines)
    built = _build(raw, _translate(raw))
    before, after = read_markup(raw), read_markup(built.text)
    assert [one.level for one in before.headings] == [one.level for one in after.headings]
    assert [one.target for one in before.links] == [one.target for one in after.links]
    assert [raw[slice(*one)] for one in before.code_blocks] == [
        built.text[slice(*one)] for one in after.code_blocks
    ]


def test_the_samples_of_the_project_translate_whole() -> None:
    files = sorted(Path("samples").rglob("*.md"))
    assert files
    for file in files:
        raw = file.read_text("utf-8")
        built = _build(raw, _translate(raw))
        assert built.findings == [], file


def _find_kinds(source: str, target: str, to: str = "ko", lang: str | None = "en") -> list[str]:
    pair = SegmentPair(source, target, lang, to)
    return (
        ["untranslated"] if explain_untranslated(pair) else [one.kind for one in check_pair(pair)]
    )


@pytest.mark.parametrize(
    ("source", "target", "to", "kind"),
    [
        ("It takes 30 minutes.", "13분이 걸립니다.", "ko", "number"),
        ("It takes some minutes.", "45분이 걸립니다.", "ko", "number"),
        ("Released on 2024-05-03.", "2024년 5월 4일에 나왔습니다.", "ko", "number"),
        ("Wait 5 days.", "6일 기다리세요.", "ko", "number"),
        ("SQLite stores it.", "데이터베이스가 저장합니다.", "ko", "name"),
        (
            "These are some words of the text.",
            "These are some words of the text.",
            "ko",
            "untranslated",
        ),
        ("These are the words here.", "Das sind die Wörter hier.", "ko", "untranslated"),
        ("These are the words here.", "これらは単語であるのです。そして", "zh", "untranslated"),
        ("Open the door.", "Please open the door.", "ko", "untranslated"),
        ("Open the door.", "문을 여세요.", "de", "untranslated"),
        ("Shut the valve when you leave.", "Close the valve before you go.", "de", "untranslated"),
        (
            "A very long sentence that says a lot about many different things.",
            "짧다",
            "ko",
            "length",
        ),
        ("A short one that is here.", "길다 " * 60, "ko", "length"),
    ],
)
def test_a_fault_is_found(source: str, target: str, to: str, kind: str) -> None:
    assert _find_kinds(source, target, to) == [kind]


def test_a_language_that_cannot_be_told_apart_is_not_judged() -> None:
    assert _find_kinds("These are the words here.", "ეს არის სიტყვები აქ, სადაც უნდა.", "ka") == []
