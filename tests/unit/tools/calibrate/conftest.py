import pytest

from kebab.search.answerability import AnswerSignals, PassageSignals
from kebab.search.query_parser import QueryIntent
from tools.calibrate.cases import Case


@pytest.fixture
def make_case():
    def make(
        kind="own", *, rank=None, near=0.5, held=0.5, dataset="one", questions="queries", **given
    ):
        values = {
            "passages": (PassageSignals(held, near), PassageSignals(0.0, 0.1)),
            "margin": 0.0,
            "evidence": 0.5,
            "rival": 0.5,
            "length": 1.0,
            "intent": QueryIntent(topic=0.0, need=0.0, asks=True),
            "by_words": True,
            "by_vectors": True,
        }
        signals = AnswerSignals(**{**values, **given})
        return Case(
            dataset=dataset,
            questions=questions,
            mode="hybrid",
            kind=kind,
            rank=rank,
            signals=signals,
        )

    return make


@pytest.fixture
def cases(make_case):
    """Cases of two sets; near passages that hold the words have the answer."""
    made = []
    for dataset in ("one", "two"):
        for step in range(40):
            low, high = 0.3 * step / 40, 0.4 + 0.6 * step / 40
            made.append(make_case(rank=1, near=high, held=high, rival=0.5, dataset=dataset))
            made.append(make_case(rank=2, near=high, held=high, rival=0.95, dataset=dataset))
            made.append(make_case("related", near=low, held=low, dataset=dataset))
            made.append(make_case("unrelated", near=low, held=0.0, dataset=dataset))
    return made
