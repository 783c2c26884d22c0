import unicodedata
from pathlib import Path

import pytest
from msgspec import structs
from msgspec.structs import replace

from kebab.app.ask import SUGGESTIONS, AnswerContext, ask, show_session, to_answer
from kebab.core.answers import (
    AnswerMode,
    AskOutcome,
    AskQuery,
    Quote,
    Refusal,
    RetrievalSummary,
    SupportingQuote,
)
from kebab.errors.catalog import InvalidInput, ReadOnly
from kebab.rag.engine import EMPTY_USAGE
from kebab.wire.ask import (
    AnswerEvent,
    AnswerWarning,
    AskRequest,
    SessionShowRequest,
    SessionTranscript,
)
from kebab.wire.record import NotFound
from kebab.wire.search import DegradedChannel
from tests.fakes.evidence import hit, page, retrieval, stored
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


def test_an_extractive_answer_quotes_the_notes(notes):
    answer = extracted(notes)

    assert (answer.grounded, answer.mode, answer.model) == (True, "extractive", None)
    assert "two o'clock" in answer.citations[0].quote
    assert answer.citations[0].citation.line.start == 3
    assert (answer.prompt_template_version, answer.suggestions) == (None, [])
    verbatim(notes, answer)


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


@pytest.mark.parametrize("model", ["", "  "])
def test_an_empty_name_of_a_model_is_refused(notes, server, model):
    with pytest.raises(InvalidInput, match="empty") as caught:
        ask(context(notes, server), AskRequest(question=QUESTION, model=model), lambda _: None)

    assert caught.value.field == "$.model"


def test_a_model_is_refused_for_an_extractive_answer(notes):
    always = context(notes, models__llm__provider="extractive")

    with pytest.raises(InvalidInput, match="worded by no model"):
        extracted(notes, model="tiny")
    with pytest.raises(InvalidInput, match="worded by no model"):
        ask(always, AskRequest(question=QUESTION, model="tiny"), lambda _: None)


def test_text_that_is_not_utf8_is_refused(notes):
    with pytest.raises(InvalidInput, match="question"):
        extracted(notes, "what \udcff")


def test_settings_can_make_every_answer_extractive(notes):
    desk = context(notes, models__llm__provider="extractive")

    assert ask(desk, AskRequest(question=QUESTION), lambda _: None).mode == "extractive"


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


def test_without_history_no_turn_is_stored(notes):
    desk = context(notes, ask__history=False)

    answer = ask(desk, AskRequest(question=QUESTION, extractive=True, session="s"), lambda _: None)

    assert (answer.session_id, answer.turn_index) == (None, None)
    assert isinstance(show_session(desk, SessionShowRequest(name="s")), NotFound)


def test_read_only_refuses_a_session(notes):
    request = AskRequest(question=QUESTION, extractive=True, session="s")

    with pytest.raises(ReadOnly):
        ask(context(notes, read_only=True), request, lambda _: None)
    plain = AskRequest(question=QUESTION, extractive=True)
    assert ask(context(notes, read_only=True), plain, lambda _: None).grounded


def test_an_invalid_date_is_refused(notes):
    with pytest.raises(InvalidInput, match="since"):
        extracted(notes, since="whenever")


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


def test_reranking_without_vectors_is_reported(notes):
    answer = extracted(notes, mode="lexical", rerank=True)

    assert [one.channel for one in answer.retrieval.degraded] == ["rerank"]


NOTE = "One.\nThe backup runs at two.\nThree."
CHUNK = stored(NOTE, start_line=4, embedding_version="v9", heading_path=("Backups", "Night"))
HITS = tuple(hit(CHUNK, rank) for rank in range(1, 6))
CONTEXT = AnswerContext(
    query=AskQuery(question="When?", session="s"), session="s", turn=3, created=0.0, prompted=True
)


def answered(refusal=None, **fields):
    retrieved = RetrievalSummary(
        question="When does it run?", page=page(*HITS), used=1, top_score=0.9, gate=0.5
    )
    given = AskOutcome(
        text="At two [1].",
        mode=AnswerMode.GENERATIVE,
        model="tiny",
        refusal=refusal,
        citations=(
            SupportingQuote(marker=1, quote=Quote(chunk=CHUNK, start=5, end=28), spans=((0, 11),)),
        ),
        retrieved=retrieved,
        usage=structs.replace(EMPTY_USAGE, prompt_tokens=5, downshifts=1, finish_reason="stop"),
        warnings=(AnswerWarning(code="odd", message="Odd", marker=None, span=(0, 3)),),
    )
    return replace(given, **fields)


def test_a_citation_points_at_the_lines_of_its_quote():
    (citation,) = to_answer(answered(), CONTEXT).citations

    assert (citation.quote, citation.marker) == ("The backup runs at two.", 1)
    assert citation.citation.uri == "note-1.md#L5"
    assert citation.spans == [(0, 11)]
    assert (citation.doc_path, citation.heading_path) == ("note-1.md", ["Backups", "Night"])
    assert citation.freshness == "gone"


def test_an_answer_describes_its_retrieval():
    told = to_answer(answered(), CONTEXT)

    assert (told.question, told.retrieval.query) == ("When?", "When does it run?")
    assert (told.retrieval.chunks_returned, told.retrieval.chunks_used) == (5, 1)
    assert (told.retrieval.top_score, told.retrieval.score_gate) == (0.9, 0.5)
    assert (told.usage.prompt_tokens, told.usage.downshifts) == (5, 1)
    assert (told.session_id, told.turn_index) == ("s", 3)
    assert told.prompt_template_version == "rag-v1"
    assert [(one.code, one.span) for one in told.warnings] == [("odd", (0, 3))]
    assert told.created_at == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("refusal", "grounded", "suggestions"),
    [(None, True, 0), (Refusal.LLM_SELF_JUDGE, False, SUGGESTIONS)],
)
def test_only_a_refusal_suggests_the_nearest_passages(refusal, grounded, suggestions):
    told = to_answer(answered(refusal, citations=()), CONTEXT)

    assert told.grounded is grounded
    assert told.refusal_reason == (refusal.value if refusal else None)
    assert len(told.suggestions) == suggestions


def test_without_a_model_there_is_no_prompt():
    told = to_answer(answered(model=None), replace(CONTEXT, prompted=False))

    assert (told.prompt_template_version, told.model) == (None, None)


def test_the_embedding_version_is_set_when_vectors_found_hits():
    near = HITS[0]._replace(retrieval=retrieval(vector_score=0.5))
    retrieved = replace(answered().retrieved, page=page(near))

    assert to_answer(answered(), CONTEXT).embedding is None
    assert to_answer(answered(retrieved=retrieved), CONTEXT).embedding == "v9"


def test_a_degraded_channel_is_reported():
    lost = DegradedChannel(channel="vector", reason="no model", hint="kebab model pull")
    retrieved = replace(answered().retrieved, page=page(*HITS, degraded=(lost,)))

    (degraded,) = to_answer(answered(retrieved=retrieved), CONTEXT).retrieval.degraded

    assert (degraded.channel, degraded.hint) == ("vector", "kebab model pull")
