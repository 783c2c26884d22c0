from pathlib import Path

from kebab.cli.render.hits import describe_absent_terms
from tests.fakes import replies as fakes
from tools.trial import agents
from tools.trial.agents import (
    KebabAgent,
    Question,
    Reply,
    answer,
    find_densest_file,
    find_references,
)

ASKED = Question(
    text="Who sleeps, and where?",
    queries=["who sleeps", "where"],
    rewordings=["cat"],
    patterns=["sleeps"],
    needs=["cat", "stove"],
)
ABSENT = Question(text="Who flies?", queries=["flies"], rewordings=["bird"], patterns=["fl(y|ies)"])


def replies(*texts):
    return (Reply(text, 0) for text in texts)


def test_an_agent_stops_when_it_has_read_everything():
    attempt = answer(ASKED, replies("the cat sleeps", "on the stove", "never read"))

    assert (attempt.calls, attempt.bytes) == (2, 26)
    assert (attempt.answered, attempt.first_reply, attempt.judged_absent) == (True, False, False)


def test_a_complete_first_reply_is_one_call():
    attempt = answer(ASKED, replies("a cat on a stove", "never read"))

    assert (attempt.calls, attempt.first_reply) == (1, True)


def test_a_question_that_is_not_answered_needs_every_call():
    attempt = answer(ABSENT, replies("a cat", "a stove"))

    assert (attempt.calls, attempt.answered, attempt.judged_absent) == (2, False, True)


def test_the_file_with_the_most_matches_is_read_from_its_first_match():
    output = "a.md:3:cat\na.md-4-dog\nb.md:7:cat\nb.md:9:cat\n"

    assert find_densest_file(output) == ("b.md", 7)
    assert find_densest_file("") is None


def test_references_are_read_from_compact_output():
    text = "[1] deep/a.md#L3-L9 strong\nsee b.md#L4 there\n[2] b%20c.md#L4 fair\n"

    assert find_references(text) == ["deep/a.md#L3-L9", "b%20c.md#L4"]


def test_the_agent_stops_when_kebab_names_words_that_occur_nowhere(monkeypatch):
    said = describe_absent_terms(fakes.response(absent_terms=["flies"]))
    monkeypatch.setattr(agents, "run_tool", lambda *_: Reply(f"a.md#L1 [fair]\n{said}\n", 0))

    assert len(list(KebabAgent(Path("docs"), Path("data")).ask(ABSENT))) == 1
