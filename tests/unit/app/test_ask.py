import unicodedata
from pathlib import Path

import pytest

from kebab.app.ask import ask, show_session
from kebab.wire.ask import AnswerEvent, AskRequest, SessionShowRequest, SessionTranscript
from tests.fakes.ollama import Pause, Say, fake_ollama

BACKUPS = """\
# Backups

The nightly backup of the documents runs at two o'clock with restic.
It keeps thirty snapshots on the NAS.

## Photos

Photos are copied to the external disk on the first Sunday of a month.
"""
BREAD = "# Bread\n\nThe sourdough rests for twelve hours in the cellar before it is baked.\n"
QUESTION = "When does the nightly backup of the documents run?"
TRUE = "It runs at two o'clock with restic [1]."


@pytest.fixture
def notes(desk):
    """A desk with two notes that are searched by words."""
    desk.write("backups.md", BACKUPS)
    desk.write("bread.md", BREAD)
    desk.ingest()
    return desk


@pytest.fixture
def server():
    with fake_ollama("tiny:latest") as fake:
        yield fake


def context(desk, server=None, **flags):
    llm = {"models__llm__model": "tiny"}
    if server:
        llm["models__llm__endpoint"] = server.url
    return desk.context(**llm, **flags)


def extracted(desk, question=QUESTION, **fields):
    return ask(
        context(desk), AskRequest(question=question, extractive=True, **fields), lambda _: None
    )


def verbatim(desk, answer):
    """Assert that each quote stands at the cited lines of its file."""
    assert answer.citations
    for one in answer.citations:
        span = one.citation.line
        lines = Path(one.file).read_text(encoding="utf-8").splitlines()[span.start - 1 : span.end]
        assert one.quote in unicodedata.normalize("NFC", "\n".join(lines))
        assert all(0 <= start < end <= len(answer.answer) for start, end in one.spans)
        assert all(f"[{one.marker}]" in answer.answer[start:end] for start, end in one.spans)


def test_a_model_answers_and_its_claims_are_cited(notes, server):
    server.enqueue(Say(TRUE))
    heard: list[AnswerEvent] = []

    answer = ask(context(notes, server), AskRequest(question=QUESTION), heard.append)

    assert (answer.answer, answer.grounded, answer.mode) == (TRUE, True, "generative")
    assert (answer.model, answer.prompt_template_version) == ("tiny", "rag-v1")
    assert answer.usage.finish_reason == "stop"
    assert heard[0].type == "retrieval_done"
    assert "".join(str(one.delta) for one in heard[1:]) == TRUE
    verbatim(notes, answer)


def test_an_interrupted_answer_is_stored_as_such_and_is_no_part_of_the_next_prompt(notes, server):
    server.enqueue(Say("It runs", Pause(30), " at two"), Say(QUESTION), Say(TRUE))
    desk = context(notes, server)

    def interrupting(event):
        if event.type == "token":
            raise KeyboardInterrupt

    ask(desk, AskRequest(question=QUESTION, session="s"), interrupting)
    ask(desk, AskRequest(question=QUESTION, session="s"), lambda _: None)

    told = show_session(desk, SessionShowRequest(name="s"))
    assert isinstance(told, SessionTranscript)
    first = told.turns[0]
    assert (first.answer, first.refusal_reason) == ("It runs", "llm_stream_aborted")
    assert (first.stop_reason, first.cancel_observed) == ("cancelled", True)
    assert (told.turns[1].stop_reason, told.turns[1].cancel_observed) == ("completed", False)
    session = told.session
    assert (session.turns, session.answered, session.stopped) == (2, 1, 1)
    assert session.folder == str(Path.cwd())
    assert all("It runs" not in str(body["messages"]) for body in server.bodies()[1:])


def test_turns_are_stored_and_a_follow_up_question_uses_them(notes):
    first = extracted(notes, session="daily")
    second = extracted(notes, "And how many snapshots does it keep?", session="daily")

    assert [one.turn_index for one in (first, second)] == [0, 1]
    assert "backup" in second.retrieval.query
    assert "thirty snapshots" in " ".join(one.quote for one in second.citations)
    told = show_session(context(notes), SessionShowRequest(name="daily"))
    assert isinstance(told, SessionTranscript)
    assert [turn.question for turn in told.turns] == [first.question, second.question]
    assert told.turns[1].query == second.retrieval.query


def test_a_model_rewrites_a_follow_up_before_it_is_searched_for(notes, server):
    server.enqueue(Say(TRUE), Say("How many snapshots does the nightly backup keep?"))
    server.enqueue(Say("It keeps thirty snapshots on the NAS [1]."))
    desk = context(notes, server)
    ask(desk, AskRequest(question=QUESTION, session="s"), lambda _: None)

    answer = ask(
        desk, AskRequest(question="How many snapshots does it keep?", session="s"), lambda _: None
    )

    assert answer.retrieval.query == "How many snapshots does the nightly backup keep?"
    assert answer.grounded


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, 1),
        ({"rerank": False}, 0),
        ({"mode": "lexical"}, 0),
        ({"mode": "lexical", "rerank": True}, 1),
    ],
)
def test_passages_are_reranked_unless_words_alone_are_searched(
    notes, monkeypatch, fields, expected
):
    calls = []

    def record(candidates, *_, **__):
        calls.append(candidates)
        return candidates

    monkeypatch.setattr("kebab.search.rerank.rerank_candidates", record)
    request = AskRequest(question=QUESTION, extractive=True, **fields)
    answer = ask(context(notes), request, lambda _: None)

    assert len(calls) == expected
    assert answer.grounded
