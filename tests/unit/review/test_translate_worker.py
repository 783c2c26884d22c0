"""The stages of a translation work on the same segments in order."""

from kebab.core.answers import LanguageModel
from kebab.core.review import GlossaryTerm, UnitResult
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.document import ReviewDocument
from kebab.review.translate_worker import TranslateWorker
from kebab.wire.review import TranslateTierName
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
    for index, _ in enumerate(units):
        results += [worker.work(document, units, index, results.__getitem__)]
    return results


def test_the_units_of_each_stage_cover_the_same_segments() -> None:
    document = _document("Some words are in this sentence. " * 60)
    worker = TranslateWorker(FakeTranslator(), tier="micro-check", to="ko")
    units = worker.plan(document)
    stages = ["draft", "revise", "check"]
    assert list(dict.fromkeys(one.kind for one in units)) == stages
    spans = [[(u.start, u.end) for u in units if u.kind == stage] for stage in stages]
    assert spans[0] == spans[1] == spans[2]
    assert len(spans[0]) > 1
    assert worker.plan(document) == units


def test_a_check_is_of_the_revised_text() -> None:
    text = "It takes 30 minutes to do it.\n"
    model = FakeTranslator(
        lambda text: to_hangul(text).replace("30", "13"),
        revisions={text.strip(): "30분이 걸립니다."},
    )
    assert _run(model, "micro-check", _document(text))[2].items == ()


def test_a_document_without_prose_has_no_units() -> None:
    worker = TranslateWorker(FakeTranslator(), tier="micro-check", to="ko")
    assert worker.plan(_document("```\ncode\n```\n")) == []
