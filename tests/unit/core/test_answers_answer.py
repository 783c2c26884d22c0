import pytest

from kebab.core.answers import AnswerMode, AskOutcome, Quote, Refusal, RetrievalSummary
from kebab.rag.engine import EMPTY_USAGE
from tests.fakes.evidence import page, stored

TEXT = "First line.\nSecond line.\n\nFourth line."


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("First line.", (10, 10)),
        ("Second line.", (11, 11)),
        ("line.\nSecond", (10, 11)),
        ("Fourth line.", (13, 13)),
        (TEXT, (10, 13)),
    ],
)
def test_a_quote_has_its_text_and_its_lines(words, lines):
    start = TEXT.index(words)

    quote = Quote(chunk=stored(TEXT, start_line=10), start=start, end=start + len(words))

    assert (quote.text, quote.lines) == (words, lines)


@pytest.mark.parametrize(("refusal", "grounded"), [(None, True), (Refusal.SCORE_GATE, False)])
def test_a_refusal_is_not_grounded(refusal, grounded):
    answer = AskOutcome(
        text="x",
        mode=AnswerMode.EXTRACTIVE,
        model=None,
        refusal=refusal,
        citations=(),
        retrieved=RetrievalSummary(question="q", page=page(), used=0, top_score=0.0, gate=0.5),
        usage=EMPTY_USAGE,
    )

    assert answer.grounded is grounded
