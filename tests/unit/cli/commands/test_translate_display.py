from msgspec.structs import replace

from kebab.cli.commands.translate import TranslationFindings
from kebab.wire.review import ItemStats, TranslatedText
from tests.fakes import review_pages


def test_findings_are_kept_and_translated_segments_are_none(tmp_path):
    file = tmp_path / "a.md"
    file.write_text("One word.\n", encoding="utf-8")
    document = review_pages.reviewed(file)
    items = [
        review_pages.item(document, 0, 3, kind=kind, severity="suggestion", reason="r")
        for kind in ("translation", "revision", "number")
    ]
    left_out = review_pages.item(document, 4, 8, kind="structure", reason="r")
    text = TranslatedText(text="", segments=1, translated=0, findings=[left_out])
    findings = TranslationFindings()
    findings.show(review_pages.page(document, *items, translation=text))

    assert [line.partition(": ")[2] for line in findings.lines] == [
        "suggestion: r [number]",
        "error: r [structure]",
    ]


def test_the_rating_is_that_of_the_last_page_with_one():
    findings = TranslationFindings()
    page = review_pages.page(None)
    for score in (0.5, 0.75):
        findings.show(replace(page, stats=ItemStats(item_count=0, avg_item_bytes=0, score=score)))
    findings.show(page)

    assert findings.score == 0.75
