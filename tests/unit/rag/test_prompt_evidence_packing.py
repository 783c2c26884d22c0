import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.queries import Snippet
from kebab.rag.prompt import estimate_evidence_tokens, pack_evidence
from tests.fakes.evidence import hit, stored

ROOM = 10_000


def make_hits(*texts, **fields):
    return [hit(stored(text, key, **fields), rank=key) for key, text in enumerate(texts, start=1)]


def make_hit(doc, ordinal, rank):
    chunk = stored(f"{doc} part {ordinal}", rank, doc_id=doc, ordinal=ordinal)
    return hit(chunk, rank=rank, score=1 - rank / 10)


def texts(passages):
    return [passage.text for passage in passages]


def test_no_hits_are_packed_to_nothing():
    assert pack_evidence([], ROOM) == []


def test_documents_are_ordered_by_their_best_hit_and_passages_by_position():
    hits = [make_hit("b", 5, 1), make_hit("a", 2, 2), make_hit("b", 1, 3), make_hit("a", 0, 4)]

    packed = pack_evidence(hits, ROOM)

    assert texts(packed) == ["b part 1", "b part 5", "a part 0", "a part 2"]
    assert [one.marker for one in packed] == [1, 2, 3, 4]
    assert [one.score for one in packed] == pytest.approx([0.7, 0.9, 0.6, 0.8])


def test_the_same_text_is_packed_once_from_its_best_hit():
    packed = pack_evidence(make_hits("twin text", "other", "twin  text\n"), ROOM)

    assert texts(packed) == ["twin text", "other"]
    assert packed[0].chunk.key == 1


def test_a_passage_that_does_not_fit_is_skipped_for_smaller_ones():
    hits = make_hits("the best", "long " * 500, "small")
    budget = sum(
        estimate_evidence_tokens(one) for one in pack_evidence(make_hits("the best", "small"), ROOM)
    )

    assert texts(pack_evidence(hits, budget)) == ["the best", "small"]
    assert texts(pack_evidence(hits, budget - 1)) == ["the best"]


def test_the_best_passage_is_cut_around_its_match_when_it_does_not_fit():
    text = "Nothing to see here. " * 50 + "The valve opens at 80 degrees. " + "More of it. " * 50
    [one] = make_hits(text)
    place = text.index("The valve")
    one = one._replace(snippet=Snippet(text=text[place : place + 30], highlights=((4, 9),)))

    [packed] = pack_evidence([one], 150)

    assert packed.text.startswith("The valve opens at 80 degrees.")
    assert packed.text == text[packed.start : packed.start + len(packed.text)]
    assert estimate_evidence_tokens(packed) <= 150


@pytest.mark.parametrize("budget", [0, -500])
def test_without_budget_a_part_of_the_best_passage_is_sent(budget):
    [packed] = pack_evidence(make_hits("A whole sentence of some words. " * 90, "small"), budget)

    assert packed.text.startswith("A whole sentence")
    assert len(packed.text) < 400


@given(
    lines=st.lists(st.text(min_size=1, max_size=300), max_size=6), budget=st.integers(200, 2_000)
)
def test_passages_are_verbatim_and_fit_the_budget(lines, budget):
    packed = pack_evidence(make_hits(*lines), budget)

    assert sum(map(estimate_evidence_tokens, packed)) <= budget
    assert [one.marker for one in packed] == list(range(1, len(packed) + 1))
    for one in packed:
        assert one.text == one.chunk.text[one.start : one.start + len(one.text)]
