"""Reviews and translations by servers whose answers are of no use: they are never a success."""

import json
import re
from functools import partial
from typing import Any

import pytest

from kebab.app.review import review
from kebab.app.translate import translate
from kebab.core.progress import Cancel
from kebab.errors.catalog import ModelNotPulled, ModelProtocol, ModelUnreachable, TimedOut
from kebab.errors.signal import Exit
from kebab.wire.record import find_exit_status
from kebab.wire.review import ReviewRequest, TranslateRequest
from tests.fakes.openai import Answer, Fail, Say, build_json_answer, fake_openai

CHAT = "/chat/completions"
MOST_REQUESTS = 3
TEXT = "\n\n".join(
    f"## Part {number}\n\nThis is a sentence about bread. It says that the oven is hot."
    for number in range(12)
)
FAILURES = {
    "nonsense": (Say("The quick brown fox jumps."), ModelProtocol),
    "empty": (Say(), ModelProtocol),
    "malformed": (Say('{"items": [{"sentence": 1, "words":'), ModelProtocol),
    "shape": (Say('{"error": "overloaded"}'), ModelProtocol),
    "garbage": (Fail("garbage"), ModelProtocol),
    "crashed": (build_json_answer({"error": {"message": "boom"}}, 500), ModelProtocol),
    "missing": (Fail("missing"), ModelNotPulled),
    "stalled": (Say("late", held_s=30), TimedOut),
    "cut": (Say('{"items": [', end="cut"), ModelUnreachable),
    "unmarked": (Say('{"items": [', end="silent"), ModelProtocol),
}
each_kind = pytest.mark.parametrize("name", ["nonsense", "missing", "stalled", "cut"])
"""One failure for each class of errors."""


@pytest.fixture
def server():
    with fake_openai("m") as made:
        yield made


@pytest.fixture
def context(desk, server):
    return partial(
        desk.context,
        models__llm__provider="openai",
        models__llm__endpoint=server.url,
        models__llm__model="m",
        models__llm__first_token_s=1.0,
    )


def ask(context, *names, events=None, **fields):
    request = ReviewRequest(names=[str(name) for name in names], **fields)
    return review(context(), request, (events if events is not None else []).append, Cancel())


def ask_for_text(context, **fields):
    request = TranslateRequest(with_text=True, all_pages=True, **fields)
    return translate(context(), request, lambda _: None, Cancel())


def fill(server, *answers):
    """Let the server give these answers, the last one again and again."""
    server.enqueue(*answers[:-1])
    server.enqueue(*[answers[-1]] * 100)


@pytest.mark.parametrize("name", FAILURES)
def test_a_model_that_is_named_and_fails_is_an_error_without_a_page(desk, context, server, name):
    answer, signal = FAILURES[name]
    server.answers[CHAT] = answer
    events: list[Any] = []
    file = desk.write("a.md", f"{TEXT}\n\nSee the the cat.\n")
    with pytest.raises(signal):
        ask(context, file, model="m", all_pages=True, events=events)

    assert 1 <= len(server.bodies) <= MOST_REQUESTS
    assert "items" not in {event.type for event in events}


@each_kind
def test_a_model_that_is_not_named_leaves_the_rules_and_says_so(desk, context, server, name):
    server.answers[CHAT] = FAILURES[name][0]
    page = ask(context, desk.write("a.md", TEXT), all_pages=True)

    assert len(server.bodies) <= MOST_REQUESTS
    assert [one.channel for one in page.degraded] == ["llm"]
    assert (page.has_more, page.partial, page.truncated) == (False, True, False)
    assert page.unanswered_count


def test_what_was_not_answered_is_asked_again_when_the_model_is_well(desk, context, server):
    fill(server, Say("no"))
    first = ask(context, desk.write("a.md", "The cats is here.\n"))
    assert (first.items, first.has_more, first.unanswered_count) == ([], False, 1)
    finding = {"sentence": 1, "words": "is", "kind": "grammar", "fix": "are"}
    server._script.clear()
    fill(server, Say(json.dumps({"items": [{**finding, "reason": "r", "severity": "error"}]})))
    known = ask(context, run_id=first.run_id)
    page = ask(context, run_id=first.run_id, cursor=known.next_cursor)

    assert (known.items, known.has_more) == ([], True)
    assert [item.fix.text for item in page.items] == ["are"]
    assert (page.has_more, page.partial, page.unanswered_count) == (False, False, 0)


def test_a_named_model_that_answers_some_of_the_text_makes_the_status_1(desk, context, server):
    fill(server, Say('{"items": []}'), Say("no"), Say('{"items": []}'))
    page = ask(context, desk.write("a.md", TEXT), model="m", all_pages=True)

    assert (page.items, find_exit_status(page)) == ([], Exit.NO)
    assert page.unanswered_count == 1
    assert re.fullmatch(r"the model gave no usable answer to 1 part of .*", page.degraded[0].reason)


def test_exhausted_limits_lead_to_no_empty_page(desk, context, server):
    server.answers[CHAT] = Say('{"items": [{"sentence": 1, "wor', finish="length")
    page = ask(context, desk.write("a.md", "The cat is here.\n"))

    assert (page.finish_reason, page.truncated) == ("length", True)
    assert "downshift_exhausted" in page.warnings
    assert (page.has_more, page.next_cursor, page.partial) == (False, None, True)


@each_kind
def test_a_translation_without_answers_is_an_error(desk, context, server, name):
    answer, signal = FAILURES[name]
    server.answers[CHAT] = answer
    file = desk.write("a.md", TEXT)
    with pytest.raises(signal):
        ask_for_text(context, name=str(file), to="de")

    assert len(server.bodies) <= MOST_REQUESTS


def test_segments_without_an_answer_are_named_and_asked_for_again(desk, context, server):
    translated = json.dumps(
        {"items": [{"id": n, "text": "Das hier ist gut."} for n in range(1, 40)]}
    )
    fill(server, Say(translated), Say("no"), Say(translated))
    page = ask_for_text(context, name=str(desk.write("a.md", TEXT)), to="de")
    text = page.translation

    assert 0 < text.translated < text.segments
    assert {one.k for one in text.findings} == {"untranslated"}
    assert len(text.findings) == text.segments - text.translated
    assert find_exit_status(page) == Exit.NO
    assert page.unanswered_count == 1

    whole = ask_for_text(context, run_id=page.run_id)
    assert whole.translation.translated == whole.translation.segments
    assert (whole.unanswered_count, find_exit_status(whole)) == (0, Exit.DONE)


def test_an_answer_of_another_kind_of_server_is_refused(desk, context, server):
    server.answers[CHAT] = Answer(body=b"<html>", content_type="text/html")
    with pytest.raises(ModelProtocol):
        ask(context, desk.write("a.md", TEXT), model="m")
