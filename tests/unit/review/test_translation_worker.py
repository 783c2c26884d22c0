"""The segments of a unit are translated, and every translation is checked."""

import json
from collections.abc import Callable

import pytest

from kebab.core.answers import LanguageModel
from kebab.core.review import UnitResult
from kebab.errors.catalog import ContextOverflow
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.document import ReviewDocument
from kebab.review.translation import TranslateWorker, build_schema, collect_targets
from tests.fakes.language_model import ScriptedModel
from tests.fakes.review import make_document
from tests.fakes.translator import FakeTranslator, to_hangul

_TEXT = "# Title of it\n\nThe first `code` sentence is here. Another one that is for you.\n"
_OVERFLOW = ContextOverflow(prompt_tokens=9000, context_tokens=512)


def _document(text: str = _TEXT) -> ReviewDocument:
    return make_document(text, read_markup(text))


def _translate(model: LanguageModel, document: ReviewDocument | None = None) -> UnitResult:
    document = document or _document()
    worker = TranslateWorker(model, to="ko")
    (unit,) = worker.plan(document)
    return worker.work(document, unit)


def _answer(**texts: str) -> str:
    return json.dumps({"items": [{"id": key[1:], "text": text} for key, text in texts.items()]})


def test_the_schema_asks_for_all_numbers_and_nothing_else() -> None:
    items = build_schema([1, 3])["properties"]["items"]
    assert (items["minItems"], items["maxItems"]) == (2, 2)
    entry = items["items"]
    assert set(entry["required"]) == set(entry["properties"]) == {"id", "text"}
    assert entry["properties"]["id"]["enum"] == [1, 3]
    assert entry["additionalProperties"] is False


def test_units_cover_the_segments_and_prose_only() -> None:
    document = _document("Some words are in this sentence. " * 60)
    worker = TranslateWorker(FakeTranslator(), to="ko")
    units = worker.plan(document)
    assert len(units) > 1
    assert {unit.kind for unit in units} == {"draft"}
    assert worker.plan(document) == units
    assert worker.plan(_document("```\ncode\n```\n")) == []


def test_the_program_checks_every_translation() -> None:
    text = "It takes 30 minutes to do it. The second one is right.\n"
    result = _translate(
        FakeTranslator(lambda text: to_hangul(text).replace("30", "13")), _document(text)
    )
    found = [(one.k, one.s, one.side, one.cid, one.r) for one in result.items if one.t == "note"]
    assert found == [("number", "error", "both", "seg-0001", "a number is missing: 30")]


@pytest.mark.parametrize("text", ["sorry", "", '{"items": []}'], ids=["prose", "empty", "list"])
def test_segments_without_an_answer_have_no_items(text: str) -> None:
    result = _translate(ScriptedModel(text, text))

    assert (result.items, result.usage.unanswered, result.usage.unusable) == ((), True, True)


@pytest.mark.parametrize(
    ("translate", "reason"),
    [
        (lambda text: text.replace("⟦1⟧", ""), "lost a placeholder"),
        (lambda text: text, "is not translated"),
        (lambda _: "This one is English, and so is ⟦1⟧.", "not in the script of Korean"),
        (lambda _: "", "gave no translation"),
    ],
)
def test_a_segment_that_fails_twice_keeps_its_source_and_a_finding_says_so(
    translate: Callable[[str], str], reason: str
) -> None:
    model = FakeTranslator(lambda text: translate(text) if "sentence" in text else to_hangul(text))
    result = _translate(model)
    assert len(model.told) == 2
    assert "⟦1⟧" in model.told[1].messages[0].content
    finding = next(item for item in result.items if item.k == "untranslated")
    assert (finding.cid, finding.s, finding.t) == ("seg-0002", "error", "note")
    assert reason in finding.r
    assert set(collect_targets(result.items)) == {"seg-0001", "seg-0003"}


@pytest.mark.parametrize("chars", [0.02, 0.05, 0.1, 0.3])
def test_a_model_that_is_cut_off_is_asked_for_the_rest_only(chars: float) -> None:
    model = FakeTranslator(chars=chars)
    result = _translate(model)
    targets = collect_targets(result.items)
    assert result.usage.truncated == (len(targets) < 3)
    tokens = [one.max_tokens for one in model.told]
    assert tokens == sorted(tokens, reverse=True)
    asked = [one["id"] for told in model.told[1:] for one in json.loads(told.messages[1].content)]
    assert len(targets) == 3 or asked


def test_a_request_that_does_not_fit_the_window_is_made_smaller() -> None:
    model = ScriptedModel(*[_OVERFLOW] * 3, _answer(n1="하나", n2="둘 ⟦1⟧"), _answer(n3="셋"))
    assert len(collect_targets(_translate(model).items)) == 3
