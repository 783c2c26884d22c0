import numpy as np
import pytest
from msgspec import structs

from kebab.core.chunks import Answerability, AnswerabilityCurve, Key, ModelProfile, TokenVectors
from kebab.core.queries import Mode, Query
from kebab.errors.catalog import TimedOut
from kebab.search import rerank
from tests.fakes.embedder import PROFILE, HashingEmbedder

QUERY = "blue garden gate"
FAR = "garden notes on the blue colour of a gate that leads elsewhere"
NEAR = "blue garden gate"
ONE, TWO = Key(1), Key(2)


class Tokens(HashingEmbedder):
    """Gives every passage the same vector, and token vectors that favour texts with one word."""

    def __init__(self, word="elsewhere", *, failing=False):
        super().__init__()
        self.word, self.failing, self.compared = word, failing, []

    def embed_query(self, text):
        return super().embed_query("any")

    def embed_tokens(self, texts, *, as_query=False):
        if self.failing:
            raise TimedOut(operation="embedding a batch", elapsed_ms=2, deadline_ms=1)
        if not as_query:
            self.compared.extend(texts)
        return [self._give_token(text, as_query=as_query) for text in texts]

    def _give_token(self, text, *, as_query):
        near = as_query or self.word in text
        return TokenVectors(np.array([[float(near), float(not near)]], np.float32), [(0, 1)])


@pytest.fixture
def notes(base):
    base.embedder = Tokens()
    for name, text in (("far.md", FAR), ("near.md", NEAR), ("other.md", "nothing at all")):
        base.add(name, text)
    return base


def paths(page):
    return [hit.chunk.path for hit in page.hits]


def search(base, **options):
    return base.engine().search(Query(text=QUERY, **options))


def test_the_passage_whose_tokens_are_nearest_comes_first(notes):
    assert paths(search(notes))[:2] == ["near.md", "far.md"]
    assert paths(search(notes, rerank=True))[:2] == ["far.md", "near.md"]


def test_passages_far_below_the_best_are_not_compared(base, monkeypatch):
    monkeypatch.setattr(rerank, "_REACH", 0.0)
    base.embedder = Tokens()
    base.add("far.md", FAR)
    base.add("near.md", NEAR)

    assert paths(search(base, rerank=True)) == ["near.md", "far.md"]
    assert base.embedder.compared == []


def test_no_more_than_the_limit_is_compared(base, monkeypatch):
    monkeypatch.setattr(rerank, "RERANKED_LIMIT", 3)
    base.embedder = Tokens()
    for number in range(6):
        base.add(f"{number}.md", f"{NEAR} {'x' * number}")

    search(base, rerank=True)

    assert len(base.embedder.compared) == 3


def test_passages_in_a_script_that_the_model_does_not_know_keep_their_place(notes):
    notes.embedder.supports = lambda text: "elsewhere" not in text

    assert paths(search(notes, rerank=True))[:2] == ["near.md", "far.md"]
    assert all("elsewhere" not in text for text in notes.embedder.compared)


def test_a_described_need_keeps_its_order(base):
    base.embedder = Tokens()
    base.add("far.md", FAR)
    base.add("near.md", NEAR)
    need = (
        "blue garden gate painted beside old stone walls under heavy morning rain before"
        " any visitor arrives along narrow muddy country roads carrying fresh bread baskets"
        " toward quiet village markets near green river meadows ."
    )
    plain = base.engine().search(Query(text=need))
    moved = base.engine().search(Query(text=need, rerank=True))

    assert paths(plain) == paths(moved)
    assert base.embedder.compared == []


def test_words_alone_are_not_reranked_and_the_page_says_so(notes):
    page = search(notes, rerank=True, mode=Mode.LEXICAL)

    assert paths(page) == ["near.md", "far.md"]
    assert [one.channel for one in page.degraded] == ["rerank"]


def test_a_model_that_takes_too_long_leaves_the_order(base):
    base.embedder = Tokens(failing=True)
    base.add("far.md", FAR)
    base.add("near.md", NEAR)
    page = search(base, rerank=True)

    assert paths(page) == ["near.md", "far.md"]
    assert [one.channel for one in page.degraded] == ["rerank"]
    assert "1 ms" in page.degraded[0].reason or "deadline" in page.degraded[0].reason


def test_on_a_page_for_agents_the_nearest_passage_by_tokens_comes_first(notes):
    page = search(notes, detail="best", trace=True)

    assert paths(page)[:2] == ["far.md", "near.md"]
    assert "nearest" in [one.stage for one in page.stages]


def test_it_keeps_its_order_for_a_name_without_reranking_and_without_the_model(notes):
    for text, asked in (("garden", None), (QUERY, False)):
        ask(notes, text, detail="best", rerank=asked)
    search(notes, detail="best", mode=Mode.LEXICAL)
    assert notes.embedder.compared == []

    notes.embedder.failing = True
    page = search(notes, detail="best")
    assert paths(page)[:2] == ["near.md", "far.md"]
    assert [one.channel for one in page.degraded] == ["rerank"]


def test_what_the_query_names_stays_first_on_a_page_for_agents(notes):
    for name, first in (("Lawn.gate", "named.md"), ("Lawn.fence", "far.md")):
        notes.add("named.md", NEAR, heading=[name])
        assert paths(search(notes, detail="best"))[0] == first


_ENGLISH = "Where is the blue gate of the garden?"
_GERMAN = "Wann findet die Sicherung der Dokumente statt?"
_CURVE = AnswerabilityCurve(words=0.0, cosine=0.0, evidence=0.0, length=0.0, start=-9.0, match=20.0)


class ComparingProfile(ModelProfile, frozen=True):
    """A model whose tokens of prose are like those of a passage without the word."""

    def load_prose_mean(self):
        return np.array([0.0, 1.0], np.float32)


@pytest.fixture
def compared(base):
    """English notes, and a model that judges questions in other languages by their tokens."""
    base.embedder = Tokens()
    never = structs.replace(_CURVE, start=-99.0)
    curves = Answerability(hybrid=never, vector=never, foreign=never, matched=_CURVE)
    given = structs.asdict(PROFILE)
    base.embedder._profile = ComparingProfile(**given | {"answerability": curves})
    for name, text in (("far.md", FAR), ("near.md", NEAR), ("other.md", "nothing at all")):
        base.add(name, text, lang="en")
    return base


def ask(base, text=_GERMAN, **options):
    return base.engine().search(Query(text=text, **options))


def test_a_question_in_another_language_is_reranked_by_default(compared):
    assert paths(ask(compared))[0] == "far.md"
    assert ask(compared, trace=True).stages[-2].stage == "rerank"


@pytest.mark.parametrize(("text", "rerank"), [(_ENGLISH, None), (_GERMAN, False)])
def test_one_in_the_language_of_the_notes_or_told_so_is_not(compared, text, rerank):
    ask(compared, text, rerank=rerank)

    assert compared.embedder.compared == []


def test_a_model_that_compares_no_languages_does_not_rerank_by_default(compared):
    compared.embedder._profile = PROFILE
    ask(compared)

    assert compared.embedder.compared == []


def test_the_tokens_decide_whether_a_question_in_another_language_is_answerable(compared):
    assert ask(compared).convincing
    assert not ask(compared, rerank=False).convincing

    compared.embedder.word = "no passage holds this"
    assert not ask(compared).convincing
