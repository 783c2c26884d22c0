"""Requests name the languages, the terms and the texts, and their schemas ask for every text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.answers import Completion, Message
from kebab.core.review import GlossaryTerm
from kebab.errors.catalog import ContextOverflow, ModelBusy
from kebab.review.model_calls import LIMITS as LIMITS_BY_TIER
from kebab.review.translate_prompts import (
    MAX_FINDINGS,
    Inquiry,
    SegmentAsker,
    SegmentFinding,
    SegmentRating,
    SegmentText,
    TranslationTask,
    build_check_schema,
    build_draft_schema,
    build_rate_schema,
    build_revise_schema,
    choose_severity,
    read_finding,
    read_rating,
    read_text,
)
from tests.fakes.language_model import ScriptedModel, Told
from tests.fakes.translator import FakeTranslator, to_hangul


def test_a_draft_is_asked_for_by_number() -> None:
    system, user = TranslationTask("en", "ko").build_draft({1: "One", 3: "Three"}, "Be careful.")
    assert "from English into Korean" in system.content
    assert system.content.endswith("Be careful.")
    assert json.loads(user.content) == [{"id": 1, "text": "One"}, {"id": 3, "text": "Three"}]


def test_a_regional_or_unknown_language_is_named_by_its_tag_too() -> None:
    assert "into Portuguese (pt-BR)" in TranslationTask(None, "pt-BR").build_draft({})[0].content
    assert "into eo" in TranslationTask(None, "eo").build_draft({})[0].content


def test_terms_of_the_target_language_are_named() -> None:
    glossary = [
        GlossaryTerm("kebab", ()),
        GlossaryTerm("색인", (), "ko"),
        GlossaryTerm("x", (), "fr"),
    ]
    prompt = TranslationTask("en", "ko", glossary).build_draft({})[0].content
    assert prompt.endswith("Preferred terms: kebab, 색인.")


def test_a_comparison_has_sources_and_translations() -> None:
    for stage in ("revise", "check", "rate"):
        messages = TranslationTask("en", "ko").build_comparison(stage, {2: ("a", "b")})
        assert json.loads(messages[1].content) == [{"id": 2, "source": "a", "translation": "b"}]


def test_schemas_ask_for_all_numbers_and_nothing_else() -> None:
    for build, keys, least, most in (
        (build_draft_schema, {"text"}, 2, 2),
        (build_revise_schema, {"text"}, 0, 2),
        (build_check_schema, {"side", "kind", "reason", "severity"}, 0, MAX_FINDINGS),
        (build_rate_schema, {"reason", "points"}, 2, 2),
    ):
        items = build([1, 3])["properties"]["items"]
        assert (items.get("minItems", 0), items["maxItems"]) == (least, most)
        entry = items["items"]
        assert set(entry["required"]) == set(entry["properties"]) == {"id", *keys}
        assert entry["properties"]["id"]["enum"] == [1, 3]
        assert entry["additionalProperties"] is False


LIMITS = LIMITS_BY_TIER["quick"]
_OVERFLOW = ContextOverflow(prompt_tokens=9000, context_tokens=512)


class _Draft:
    """Collects the texts of a draft."""

    def __init__(self, texts: dict[int, str]) -> None:
        self.texts = texts
        self.done: dict[int, str] = {}

    def build(self, numbers: Sequence[int]) -> list[Message]:
        texts = [{"id": number, "text": self.texts[number]} for number in numbers]
        return [Message("user", json.dumps(texts, ensure_ascii=False))]

    def accept(
        self,
        numbers: Sequence[int],
        entries: Sequence[Mapping[str, Any]],
        is_complete: bool,  # noqa: FBT001
    ) -> tuple[set[int], int]:
        del is_complete
        found = dict(filter(None, (read_text(entry, numbers) for entry in entries)))
        assert not found.keys() & self.done.keys()
        self.done.update(found)
        return set(found), len(found)

    @property
    def inquiry(self) -> Inquiry:
        return Inquiry(self.build, build_draft_schema, self.accept)


def _list_numbers(told: Told) -> list[int]:
    return [one["id"] for one in json.loads(told.messages[-1].content)]


def _answer(**texts: str) -> str:
    return json.dumps({"items": [{"id": key[1:], "text": text} for key, text in texts.items()]})


def _texts(count: int, length: int = 20) -> dict[int, str]:
    return {number: f"text {number} ".ljust(length, "x") for number in range(1, count + 1)}


def test_one_request_is_enough_for_a_model_that_answers() -> None:
    draft, asker = _Draft(_texts(5)), SegmentAsker(FakeTranslator())
    assert asker.ask(draft.texts, draft.inquiry) == set(draft.texts)
    assert draft.done == {number: to_hangul(text) for number, text in draft.texts.items()}
    usage = asker.build_usage()
    assert (usage.requests, usage.policy, usage.finish, usage.warnings) == (1, "first", "stop", ())


def test_requests_never_ask_for_more_than_the_limits() -> None:
    model = FakeTranslator()
    draft = _Draft(_texts(100))
    SegmentAsker(model).ask(draft.texts, draft.inquiry)
    assert all(len(_list_numbers(one)) <= LIMITS[0].items for one in model.told)
    assert all(one.max_tokens <= LIMITS[0].tokens for one in model.told)
    assert len(draft.done) == 100


@given(st.integers(1, 40), st.integers(5, 200), st.floats(0.02, 3.0))
def test_a_model_that_is_cut_off_loses_nothing_that_it_completed(
    count: int, length: int, chars: float
) -> None:
    model = FakeTranslator(chars=chars)
    draft, asker = _Draft(_texts(count, length)), SegmentAsker(model)
    assert asker.ask(draft.texts, draft.inquiry) == draft.done.keys()
    given_up = draft.texts.keys() - draft.done.keys()
    tokens = [one.max_tokens for one in model.told]
    sizes = [len(_list_numbers(one)) for one in model.told]
    assert max(sizes) <= LIMITS[0].items
    assert all(token <= LIMITS[0].tokens for token in tokens)
    usage = asker.build_usage()
    assert usage.truncated == bool(given_up)
    assert ("downshift_exhausted" in usage.warnings) == bool(given_up)
    assert usage.policy == "paged" if given_up else usage.policy != "paged"
    assert usage.downshifts < len(LIMITS)


def test_a_missing_text_is_asked_for_once_more() -> None:
    model = ScriptedModel(_answer(n1="eins"), _answer(n2="zwei"))
    draft = _Draft(_texts(2))
    assert SegmentAsker(model).ask(draft.texts, draft.inquiry) == set(draft.texts)
    assert draft.done == {1: "eins", 2: "zwei"}


def test_a_text_that_stays_missing_is_given_up_and_the_others_go_on() -> None:
    model = ScriptedModel(_answer(n1="eins"), _answer())
    draft = _Draft(_texts(2))
    assert SegmentAsker(model).ask(draft.texts, draft.inquiry) == {1}
    assert model.unplayed == 0


def test_an_unusable_response_does_not_drop_the_other_requests() -> None:
    texts = _texts(2, 1500)
    model = ScriptedModel("I cannot do this.", _answer(n2="zwei"))
    draft, asker = _Draft(texts), SegmentAsker(model)
    assert asker.ask(draft.texts, draft.inquiry) == {2}
    assert (model.unplayed, asker.unanswered) == (0, {1})


def test_broken_json_is_counted() -> None:
    model = ScriptedModel("Sure: " + _answer(n1="eins"))
    draft, asker = _Draft(_texts(1)), SegmentAsker(model)
    asker.ask(draft.texts, draft.inquiry)
    assert asker.build_usage().repairs == 1
    assert asker.build_usage().warnings == ("json_repaired",)


def test_a_request_that_does_not_fit_the_window_is_made_smaller() -> None:
    model = ScriptedModel(_OVERFLOW, _OVERFLOW, _OVERFLOW, _answer(n1="eins"), _answer(n2="zwei"))
    draft, asker = _Draft(_texts(2)), SegmentAsker(model)
    assert asker.ask(draft.texts, draft.inquiry) == set(draft.texts)
    assert asker.build_usage().policy == "split"


def test_one_segment_that_does_not_fit_the_window_is_an_error() -> None:
    draft = _Draft(_texts(1))
    with pytest.raises(ContextOverflow):
        SegmentAsker(ScriptedModel(*[_OVERFLOW] * 4)).ask(draft.texts, draft.inquiry)


def test_failures_of_the_model_are_passed_on() -> None:
    draft = _Draft(_texts(1))
    with pytest.raises(ModelBusy):
        SegmentAsker(ScriptedModel(ModelBusy(endpoint="x", operation="translate"))).ask(
            draft.texts, draft.inquiry
        )


def test_tokens_and_times_are_counted() -> None:
    done = Completion(text=_answer(n1="a"), finish="stop", prompt_tokens=7, completion_tokens=3)
    draft, asker = _Draft(_texts(1)), SegmentAsker(ScriptedModel(done))
    asker.ask(draft.texts, draft.inquiry)
    usage = asker.build_usage()
    assert (usage.prompt_tokens, usage.completion_tokens) == (7, 3)
    assert usage.latency_ms >= 0


_NUMBERS = [1, 2, 3]


def test_a_text_is_read_with_its_number() -> None:
    assert read_text({"id": 2, "text": "zwei"}, _NUMBERS) == SegmentText(2, "zwei")
    assert read_text({"id": "3", "text": "drei"}, _NUMBERS) == SegmentText(3, "drei")


@pytest.mark.parametrize(
    "entry", [{}, {"id": 9, "text": "x"}, {"id": 1, "text": " "}, {"id": 1, "text": 5}, {"id": [1]}]
)
def test_what_is_no_text_is_not_read(entry: dict[str, object]) -> None:
    assert read_text(entry, _NUMBERS) is None


def test_a_finding_is_read() -> None:
    entry = {"id": 2, "kind": "omission", "severity": "error", "side": "both", "reason": " a word "}
    assert read_finding(entry, _NUMBERS) == SegmentFinding(2, "omission", "error", "both", "a word")


def test_unknown_words_of_a_finding_are_replaced() -> None:
    entry = {"id": 2, "kind": "x", "severity": "fatal", "side": 3, "reason": "r"}
    assert read_finding(entry, _NUMBERS) == SegmentFinding(2, "accuracy", "suggestion", "tgt", "r")


def test_a_finding_without_a_reason_is_not_read() -> None:
    assert read_finding({"id": 2, "reason": ""}, _NUMBERS) is None
    assert read_finding({"id": 4, "reason": "r"}, _NUMBERS) is None


@pytest.mark.parametrize(("points", "score"), [(0, 0.0), (70, 0.7), (250, 1.0), (-3, 0.0)])
def test_points_become_a_score(points: int, score: float) -> None:
    rating = read_rating({"id": 1, "points": points}, _NUMBERS)
    assert rating == SegmentRating(1, score, "")


def test_a_segment_with_all_points_has_no_fault() -> None:
    assert read_rating({"id": 1, "points": 100, "reason": "none"}, _NUMBERS) == (1, 1.0, "")
    assert read_rating({"id": 1, "points": 99, "reason": "a tone"}, _NUMBERS) == (1, 0.99, "a tone")


@pytest.mark.parametrize("points", [None, "90", float("nan")])
def test_what_is_no_rating_is_not_read(points: object) -> None:
    assert read_rating({"id": 1, "points": points}, _NUMBERS) is None


def test_the_severity_of_a_fault_depends_on_the_rating() -> None:
    assert [choose_severity(score) for score in (0.9, 0.6, 0.2)] == [
        "suggestion",
        "warning",
        "error",
    ]
