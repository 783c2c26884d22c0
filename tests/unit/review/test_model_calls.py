import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.answers import AnswerCutError, Completion, Message
from kebab.errors.catalog import ContextOverflow, ModelProtocol
from kebab.review.model_calls import LIMITS, Limit, ModelCalls
from tests.fakes.language_model import Pieces, ScriptedModel

MESSAGES = [Message("user", "text")]
SCHEMA = {"type": "object"}
EMPTY = '{"items": []}'
LADDER = (Limit(3, 30), Limit(2, 20), Limit(1, 10))
PLACE = {"endpoint": "http://127.0.0.1:1", "operation": "review"}


def request(*steps, limit=Limit(32, 900), **options):  # noqa: B008 - it is immutable
    model = ScriptedModel(*steps, **options)
    calls = ModelCalls(model)
    return model, calls, calls.request(MESSAGES, SCHEMA, limit)


def test_a_request_sends_schema_and_limit_and_counts_what_it_costs():
    answer = Completion(text=EMPTY, finish="stop", prompt_tokens=70, completion_tokens=5)

    model, calls, answer = request(answer)
    assert calls.judge(answer, 0) == "complete"

    assert (model.told[0].schema, model.told[0].max_tokens) == (SCHEMA, 900)
    usage = calls.build_usage()
    assert (usage.requests, usage.prompt_tokens, usage.completion_tokens) == (1, 70, 5)
    assert (usage.finish, usage.warnings) == ("stop", ())
    assert usage.latency_ms > 0


def test_a_response_takes_at_most_half_of_the_window():
    said = Completion(text="{", finish="length")
    model = ScriptedModel(*[said] * 3, context_tokens=512)
    calls, limits = ModelCalls(model), LIMITS["quick"]

    def ask(_, limit):
        return calls.request(MESSAGES, SCHEMA, limit).state

    calls.ask_all(["one"], limits, ask)

    assert [told.max_tokens for told in model.told] == [256, 179, 123]


@pytest.mark.parametrize(
    "pieces",
    [
        ['{"items":[', *['{"words":"x"},'] * 1000],
        ['{"items":[{"words":"', *["the flour ", "that you ", "use. "] * 1000],
        ['{"items":[{"words":"', *[f"{number} " for number in range(5000)]],
        ["\n"] * 5000,
    ],
)
def test_a_model_that_does_not_end_is_stopped(pieces):
    model, calls, answer = request(Pieces(*pieces))

    assert model.interrupted == 1
    assert answer.state == "cut"
    usage = calls.build_usage()
    assert (usage.finish, usage.completion_tokens) == (None, None)


def test_a_stream_that_ends_early_keeps_what_is_complete_and_has_no_end():
    item = json.dumps({"words": "x"})
    cut = ModelProtocol(cause="the stream ended without its last line", **PLACE)
    cut.__cause__ = AnswerCutError()

    _, calls, answer = request(Pieces('{"items":[', item, ",", then=cut))

    assert answer == ([{"words": "x"}], "broken")
    assert calls.judge(answer, 1) == "broken"
    assert calls.build_usage().finish is None


def test_more_objects_than_the_limit_are_dropped():
    _, calls, answer = request('{"items": [{}, {}, {}]}', limit=Limit(2, 900))

    assert answer == ([{}, {}], "complete")
    assert calls.judge(answer, 2) == "complete"
    assert calls.build_usage().warnings == ("items_dropped",)


@pytest.mark.parametrize(
    "text",
    ["", " \n", "All is well.", "null", "42", "{}", "[1]", '{"items": "none"}', '{"items": [{"wor'],
    ids=["empty", "blank", "prose", "null", "number", "object", "list", "text", "broken"],
)
def test_what_is_not_the_list_that_was_asked_for_is_unusable(text):
    _, calls, answer = request(Completion(text=text, finish="stop"))

    assert calls.judge(answer, 0) == "unusable"
    usage = calls.build_usage()
    assert (usage.finish, usage.truncated) == ("stop", False)
    assert (usage.unanswered, usage.unusable) == (True, True)
    assert usage.warnings == ("unit_incomplete",)


def test_a_part_that_every_limit_cuts_off_is_exhausted():
    calls = ModelCalls(ScriptedModel())
    calls.ask_all("ab", LADDER, lambda part, limit: "complete" if limit.items == 1 else "cut")
    assert not calls.build_usage().truncated

    calls.ask_all("ab", LADDER, lambda part, limit: "complete" if part == "a" else "cut")
    usage = calls.build_usage()
    assert (usage.truncated, usage.finish) == (True, None)
    assert usage.warnings == ("downshift_exhausted", "unit_incomplete")


def test_a_text_that_does_not_fit_the_window_is_asked_in_parts():
    calls = ModelCalls(ScriptedModel())
    asked = []

    def ask(part, limit):
        asked.append(part)
        if len(part) > 1:
            raise ContextOverflow(prompt_tokens=900, context_tokens=512)
        return "complete"

    calls.ask_all("ab", LADDER, ask)

    assert asked[-2:] == ["a", "b"]
    assert not calls.build_usage().unanswered


def test_a_single_part_that_does_not_fit_the_window_is_an_error():
    def ask(part, limit):
        raise ContextOverflow(prompt_tokens=900, context_tokens=512)

    with pytest.raises(ContextOverflow):
        ModelCalls(ScriptedModel()).ask_all("a", LADDER, ask)


def climb(parts, answers, otherwise="cut"):
    """Return what was asked, and the outcome; `answers` says which requests are complete."""
    asked = []

    def ask(part, limit):
        asked.append(("".join(part), limit.items))
        return "complete" if answers("".join(part), limit) else otherwise

    calls = ModelCalls(ScriptedModel())
    calls.ask_all(parts, LADDER, ask)
    return asked, (not calls.unanswered, calls.is_exhausted)


def test_a_cut_off_is_followed_by_lower_limits():
    assert climb("abc", lambda part, limit: limit.items < 2) == (
        [("abc", 3), ("abc", 2), ("abc", 1)],
        (True, False),
    )


def test_after_the_lowest_limit_the_parts_are_halved():
    asked, outcome = climb("abcd", lambda part, limit: len(part) == 1)

    assert asked[3:] == [(part, 1) for part in ("ab", "a", "b", "cd", "c", "d")]
    assert outcome == (True, False)


def test_a_broken_answer_costs_no_lower_limit():
    asked, outcome = climb("abcd", lambda part, limit: len(part) == 1, "broken")

    assert asked == [(part, 3) for part in ("abcd", "ab", "a", "b", "cd", "c", "d")]
    assert outcome == (True, False)


@given(st.integers(1, 9), st.sets(st.integers(0, 8)), st.integers(1, 9))
def test_every_part_is_asked_alone_or_answered_and_the_end_is_reached(count, broken, fits):
    parts = list(range(count))
    asked = []
    answered: set[int] = set()

    def ask(part, limit):
        asked.append((tuple(part), limit))
        complete = len(part) <= fits and not broken.intersection(part)
        answered.update(part if complete else ())
        return "complete" if complete else "cut"

    calls = ModelCalls(ScriptedModel())
    calls.ask_all(parts, LADDER, ask)

    given_up = set(parts) - answered
    assert given_up == broken.intersection(parts)
    assert calls.is_exhausted == bool(given_up) == calls.unanswered
    assert len(asked) <= 3 + 2 * count
    limits = [limit for _, limit in asked]
    assert limits == sorted(limits, reverse=True)
