from dataclasses import replace

import pytest
from msgspec import structs

from kebab.app.ask import SUGGESTIONS, AnswerContext, to_answer
from kebab.core.answers import (
    AnswerMode,
    AskOutcome,
    AskQuery,
    Quote,
    Refusal,
    RetrievalSummary,
    SupportingQuote,
)
from kebab.rag.engine import EMPTY_USAGE
from kebab.wire.ask import AnswerWarning
from kebab.wire.search import DegradedChannel
from tests.fakes.evidence import hit, page, retrieval, stored

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
