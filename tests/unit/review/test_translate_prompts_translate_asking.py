"""Segments are asked for with limits that only fall, and no complete text is lost."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.answers import Completion, Message
from kebab.errors.catalog import ContextOverflow, ModelBusy
from kebab.review.model_calls import LIMITS as LIMITS_BY_TIER
from kebab.review.translate_prompts import Inquiry, SegmentAsker, build_draft_schema, read_text
from tests.fakes.language_model import ScriptedModel, Told
from tests.fakes.translator import FakeTranslator, to_hangul

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
