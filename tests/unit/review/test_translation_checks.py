"""The program finds faults of a translation without a model."""

import pytest

from kebab.core.review import GlossaryTerm
from kebab.review.translation import SegmentPair, check_pair, is_untranslated

_GLOSSARY = (GlossaryTerm("색인", ("인덱스",), "ko"), GlossaryTerm("x", ("y",), "fr"))


def _find_kinds(source: str, target: str, to: str = "ko", lang: str | None = "en") -> list[str]:
    return [one.kind for one in check_pair(SegmentPair(source, target, lang, to, _GLOSSARY))]


@pytest.mark.parametrize(
    ("source", "target", "to"),
    [
        ("It takes 3 minutes on 2024-05-03.", "2024년 5월 3일에 3분이 걸립니다.", "ko"),
        ("Pay 1,234.50 euros.", "Zahlen Sie 1.234,50 Euro.", "de"),
        ("There are 3 million files.", "파일이 300만 개 있습니다.", "ko"),
        ("Wait 2 days.", "Warten Sie zwei Tage.", "de"),
        ("On 3 May 2024.", "2024년 5월 3일에.", "ko"),
        ("It has 50% of 20 GB.", "20 Go, soit 50 pour cent.", "fr"),
        ("SQLite stores it over HTTP.", "SQLite가 HTTP로 저장합니다.", "ko"),
        ("Run ⟦1⟧ now.", "지금 ⟦1⟧ 실행하세요.", "ko"),
        (
            "These are the words that you look for in it.",
            "찾으시는 단어들이 여기에 있습니다.",
            "ko",
        ),
        ("OK", "OK", "ko"),
        ("Python 3", "Python 3", "ko"),
        ("We meet at 10 p.m. today.", "Wir treffen uns heute um 22 Uhr.", "de"),
    ],
)
def test_a_right_translation_has_no_fault(source: str, target: str, to: str) -> None:
    assert _find_kinds(source, target, to) == []


@pytest.mark.parametrize(
    ("source", "target", "to", "kind"),
    [
        ("It takes 30 minutes.", "13분이 걸립니다.", "ko", "number"),
        ("It takes some minutes.", "45분이 걸립니다.", "ko", "number"),
        ("Released on 2024-05-03.", "2024년 5월 4일에 나왔습니다.", "ko", "number"),
        ("It needs 20 GB.", "20이 필요합니다.", "ko", "unit"),
        ("SQLite stores it.", "데이터베이스가 저장합니다.", "ko", "name"),
        ("Use the index.", "인덱스를 쓰세요.", "ko", "terminology"),
        (
            "These are some words of the text.",
            "These are some words of the text.",
            "ko",
            "untranslated",
        ),
        ("These are the words here.", "Das sind die Wörter hier.", "ko", "language"),
        ("These are the words here.", "これらは単語であるのです。そして", "zh", "language"),
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


def test_a_short_or_unknown_text_counts_as_translated() -> None:
    assert not is_untranslated("Kubernetes API", "Kubernetes API", "en")
    assert not is_untranslated("one two three four five", "one two three four five", None)
    assert is_untranslated(
        "이것은 긴 문장이고 번역되지 않았다.", "이것은 긴 문장이고 번역되지 않았다.", None
    )
