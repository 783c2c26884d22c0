import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.errors.catalog import ContextOverflow
from kebab.rag.prompt import LoadPacker, estimate_evidence_tokens
from tests.fakes.evidence import hit, stored

OVERHEAD = 300
LONG = "The lake is deep and cold, and number {} is its name. " * 12


def packer(count=8, answer_tokens=500):
    hits = [hit(stored(LONG.format(*[n] * 12), key=n), rank=n) for n in range(1, count + 1)]
    return LoadPacker(hits=hits, overhead=OVERHEAD, answer_tokens=answer_tokens)


def overflow(prompt, window):
    return ContextOverflow(prompt_tokens=prompt, context_tokens=window)


@pytest.mark.parametrize("window", [512, 1024, 2048, 8192])
def test_a_load_fits_its_window_with_the_answer(window):
    load = packer().pack(window)

    assert load.answer_tokens == min(500, window // 2)
    assert load.evidence_tokens <= max(
        window - load.answer_tokens - OVERHEAD, estimate_evidence_tokens(load.passages[0])
    )


def test_the_window_that_a_server_tells_is_filled_at_once():
    whole = packer().pack(8192)
    sent = OVERHEAD + whole.evidence_tokens

    load = packer().repack(whole, overflow(sent, 1500), is_told=True)

    assert 1 < len(load.passages) < len(whole.passages)
    assert OVERHEAD + load.evidence_tokens + load.answer_tokens <= 1500


def test_the_count_of_the_server_corrects_the_estimate():
    whole = packer().pack(8192)
    sent = OVERHEAD + whole.evidence_tokens

    estimated = packer().repack(whole, overflow(sent, 1500), is_told=True)
    counted = packer().repack(whole, overflow(sent * 2, 1500), is_told=True)

    assert counted.evidence_tokens < estimated.evidence_tokens
    assert 2 * (OVERHEAD + counted.evidence_tokens) <= 1500 - counted.answer_tokens


def test_an_overflow_that_tells_nothing_new_leaves_three_fifths():
    whole = packer().pack(8192)

    load = packer().repack(whole, overflow(8193, 8192), is_told=False)

    assert 0 < load.evidence_tokens <= 0.6 * whole.evidence_tokens
    assert load.answer_tokens == whole.answer_tokens


def test_the_answer_takes_at_most_half_of_a_small_window():
    load = packer(answer_tokens=1024).repack(
        packer(answer_tokens=1024).pack(8192), overflow(2000, 1000), is_told=True
    )

    assert load.answer_tokens == 500


@given(
    count=st.integers(0, 6),
    prompt=st.integers(0, 20_000),
    window=st.integers(0, 9000),
    is_told=st.booleans(),
)
def test_a_load_never_grows(count, prompt, window, is_told):
    loads = packer(count)
    load = loads.pack(4096)
    for _ in range(3):
        less = loads.repack(load, overflow(prompt, window), is_told=is_told)
        assert less == load or less.evidence_tokens < load.evidence_tokens or count == 0
        assert less.answer_tokens <= load.answer_tokens
        assert bool(less.passages) == bool(count)
        load = less
