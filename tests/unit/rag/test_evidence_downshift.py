import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.answers import Evidence
from kebab.rag.evidence import MAX_DOWNSHIFTS, PromptLoad, reduce_load
from tests.fakes.evidence import stored

LONG = "The lake is deep and cold. " * 4 + "The valve opens at 80 degrees. " + "Ducks swim. " * 9


def passages(*texts, scores=None):
    scores = scores or [1 - number / 10 for number in range(len(texts))]
    return tuple(
        Evidence(marker=key, chunk=stored(text, key), text=text, score=score)
        for key, (text, score) in enumerate(zip(texts, scores, strict=True), start=1)
    )


@pytest.mark.parametrize(("before", "after"), [(10, 7), (8, 5), (3, 2), (2, 1), (1, 1), (0, 0)])
def test_seven_tenths_of_the_passages_stay(before, after):
    assert len(reduce_load(PromptLoad(passages(*["text"] * before), 100), "q", 1).passages) == after


@pytest.mark.parametrize(("before", "after"), [(1024, 716), (100, 70), (20, 16), (16, 16), (9, 9)])
def test_seven_tenths_of_the_answer_stay_and_it_never_grows(before, after):
    assert reduce_load(PromptLoad(passages("text"), before), "q", 1).answer_tokens == after


def test_the_weakest_are_dropped_and_the_others_keep_markers_and_order():
    load = PromptLoad(passages("a", "b", "c", "d", scores=[0.2, 0.9, 0.1, 0.8]), 100)

    assert [one.marker for one in reduce_load(load, "q", 1).passages] == [2, 4]


def test_the_first_step_cuts_no_passage_while_there_are_several():
    load = reduce_load(PromptLoad(passages(LONG, LONG, "short"), 100), "valve", 1)

    assert [one.text for one in load.passages] == [LONG, LONG]


def test_the_second_step_keeps_the_half_of_the_longest_with_more_of_the_question():
    load = reduce_load(
        PromptLoad(passages("short", "also short", LONG), 100), "when do ducks swim?", 2
    )
    kept = {one.marker: one.text for one in load.passages}

    assert kept == {1: "short", 2: "also short"}

    load = reduce_load(
        PromptLoad(passages(LONG, "short", "also short"), 100), "when do ducks swim?", 2
    )
    assert load.passages[0].text.startswith("The valve")
    assert "lake" not in load.passages[0].text
    assert load.passages[1].text == "short"


def test_of_equal_halves_the_first_is_selected():
    [kept] = reduce_load(PromptLoad(passages("Ducks swim here. " * 10), 100), "ducks", 1).passages

    assert kept.start == 0


def test_a_single_passage_is_cut_at_once_and_twice_in_all():
    load = PromptLoad(passages(LONG), 100)
    sizes = []
    for step in range(1, 6):
        load = reduce_load(load, "valve", step)
        sizes.append(len(load.passages[0].text))

    assert len(LONG) > sizes[0] > sizes[1]
    assert set(sizes[MAX_DOWNSHIFTS:]) == {sizes[1]}


@given(
    texts=st.lists(st.text(max_size=300), max_size=8),
    answer=st.integers(1, 5_000),
    question=st.text(max_size=40),
)
def test_a_load_never_grows_and_passages_stay_verbatim(texts, answer, question):
    load = PromptLoad(passages(*texts), answer)
    for step in range(1, 30):
        less = reduce_load(load, question, step)
        before = {one.marker: one.text for one in load.passages}
        assert less.answer_tokens <= load.answer_tokens
        assert [one.marker for one in less.passages] == [
            marker for marker in before if marker in {one.marker for one in less.passages}
        ]
        for one in less.passages:
            assert one.text in before[one.marker]
            assert one.text == one.chunk.text[one.start : one.start + len(one.text)]
        load = less
    assert reduce_load(load, question, 30) == load
    assert bool(load.passages) == bool(texts)
