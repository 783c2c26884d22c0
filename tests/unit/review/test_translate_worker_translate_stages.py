"""Each stage of a translation has items that name their segments."""

from collections.abc import Callable

import pytest

from kebab.core.answers import LanguageModel
from kebab.core.review import GlossaryTerm, UnitResult
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.document import ReviewDocument
from kebab.review.items import locate_item
from kebab.review.translate_worker import TranslateWorker, collect_targets
from kebab.wire.review import TranslateTierName
from tests.fakes.language_model import ScriptedModel
from tests.fakes.review import make_document
from tests.fakes.translator import FakeTranslator, to_hangul

_TEXT = "# Title of it\n\nThe first `code` sentence is here. Another one that is for you.\n"


def _document(text: str = _TEXT) -> ReviewDocument:
    return make_document(text, read_markup(text))


def _run(
    model: LanguageModel, tier: TranslateTierName = "draft", document: ReviewDocument | None = None
) -> list[UnitResult]:
    document = document or _document()
    worker = TranslateWorker(
        model, tier=tier, to="ko", glossary=[GlossaryTerm("색인", ("인덱스",), "ko")]
    )
    units = worker.plan(document)
    results: list[UnitResult] = []
    load: Callable[[int], UnitResult] = results.__getitem__
    for index, _ in enumerate(units):
        results += [worker.work(document, units, index, load)]
    return results


def test_every_segment_of_a_draft_is_an_item_with_its_translation() -> None:
    document = _document()
    (result,) = _run(FakeTranslator(), document=document)
    assert [(item.k, item.t, item.side, item.cid, item.lang) for item in result.items] == [
        ("translation", "replace", "tgt", f"seg-000{number}", "ko") for number in (1, 2, 3)
    ]
    places = [document.text[slice(*locate_item(document, item))] for item in result.items]
    assert places[1] == "The first `code` sentence is here."
    targets = collect_targets(result.items)
    assert targets["seg-0001"] == to_hangul("Title of it")
    assert "`code`" in targets["seg-0002"]


def test_a_revision_is_an_item_only_where_it_changes_something() -> None:
    source = "Another one that is for you."
    model = FakeTranslator(
        revisions={source: "더 나은 것.", "Title of it": to_hangul("Title of it")}
    )
    draft, revise = _run(model, "revise")
    assert [(item.k, item.cid) for item in revise.items] == [("revision", "seg-0003")]
    targets = collect_targets([*draft.items, *revise.items])
    assert targets["seg-0003"] == "더 나은 것."


def test_a_revision_that_loses_a_placeholder_is_ignored() -> None:
    model = FakeTranslator(revisions={"The first ⟦1⟧ sentence is here.": "잃었다."})
    assert _run(model, "revise")[1].items == ()


def test_a_check_finds_what_the_program_and_the_model_find() -> None:
    text = "It takes 30 minutes to do it. The second one is right.\n"
    model = FakeTranslator(
        lambda text: to_hangul(text).replace("30", "13"),
        findings={"The second one is right.": "the tone is wrong"},
    )
    results = _run(model, "micro-check", _document(text))
    found = [(item.k, item.s, item.side, item.cid, item.r) for item in results[2].items]
    assert found == [
        ("number", "error", "both", "seg-0001", "a number is missing: 30"),
        ("accuracy", "error", "tgt", "seg-0002", "the tone is wrong"),
    ]


def test_quality_rates_every_segment() -> None:
    source = "Another one that is for you."
    results = _run(FakeTranslator(findings={source: "it is wrong"}), "quality")
    assert results[1].scores == (("seg-0001", 0.9), ("seg-0002", 0.9), ("seg-0003", 0.4))
    assert [(item.cid, item.side, item.r) for item in results[1].items] == [
        ("seg-0003", "tgt", "it is wrong")
    ]


def test_a_segment_without_a_translation_is_rated_0() -> None:
    results = _run(FakeTranslator(lambda text: text.replace("⟦1⟧", "")), "quality")
    assert dict(results[1].scores)["seg-0002"] == 0.0


def test_a_translation_that_is_repeated_has_its_later_stages_too() -> None:
    worker = TranslateWorker(FakeTranslator(), tier="micro-check", to="ko")
    units = worker.plan(_document())

    assert [unit.kind for unit in units] == ["draft", "revise", "check"]
    assert worker.list_dependents(units, 0) == [1, 2]
    assert worker.list_dependents(units, 2) == []


@pytest.mark.parametrize("text", ["sorry", "", '{"items": []}'], ids=["prose", "empty", "list"])
def test_segments_without_an_answer_have_no_items(text: str) -> None:
    (result,) = _run(ScriptedModel(text, text))

    assert (result.items, result.usage.unanswered, result.usage.unusable) == ((), True, True)


@pytest.mark.parametrize(
    ("translate", "reason"),
    [
        (lambda text: text.replace("⟦1⟧", ""), "lost a placeholder"),
        (lambda text: text, "repeated the source"),
        (lambda _: "", "gave no translation"),
    ],
)
def test_a_segment_that_fails_twice_keeps_its_source_and_a_finding_says_so(
    translate: Callable[[str], str], reason: str
) -> None:
    model = FakeTranslator(lambda text: translate(text) if "sentence" in text else to_hangul(text))
    (result,) = _run(model)
    assert len(model.told) == 2
    assert "⟦1⟧" in model.told[1].messages[0].content
    finding = next(item for item in result.items if item.k == "untranslated")
    assert (finding.cid, finding.s, finding.t) == ("seg-0002", "error", "note")
    assert reason in finding.r
    assert set(collect_targets(result.items)) == {"seg-0001", "seg-0003"}
