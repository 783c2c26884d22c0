from hypothesis import given
from hypothesis import strategies as st

from kebab.chunk import pack as module
from kebab.chunk.budget import Budget
from kebab.chunk.pack import ChunkDraft, Range, TextMeter, enforce_limit
from kebab.core.chunks import build_embed_text

TEXTS = st.text(st.sampled_from("the Ab9 .\n\n\t\u3000\u2028\r한é"), max_size=120)


def words(texts):
    return [len(text.split()) for text in texts]


@given(TEXTS, st.data(), st.sampled_from([1, 4, 254]))
def test_every_range_has_the_size_of_its_text(text, data, limit):
    cuts = st.integers(0, len(text))
    start, end = sorted((data.draw(cuts), data.draw(cuts)))
    budget = Budget(limit)
    meter = TextMeter(text, budget)

    assert [*meter.measure([Range(start, end)])] == budget.measure([text[start:end]])
    drafts = [ChunkDraft(start, end, ("A", "the B"), lead) for lead in ("", "of it")]
    embedded = [
        build_embed_text("T", ("A", "the B"), text[start:end], each.lead) for each in drafts
    ]
    assert [*meter.measure_drafts("T", drafts)] == budget.measure(embedded)


def test_a_text_that_is_too_long_for_an_index_has_the_same_sizes(monkeypatch):
    text, ranges = "the first line\nthe Second, 2nd", [Range(0, 30), Range(4, 20)]
    indexed = [*TextMeter(text, Budget()).measure(ranges)]
    monkeypatch.setattr(module, "_MAX_INDEXED_CHARS", 3)

    assert [*TextMeter(text, Budget()).measure(ranges)] == indexed


def test_what_does_not_fit_is_cut_again():
    text = "a b c d e f. g h i j k l m n"
    whole = ChunkDraft(0, len(text), ("P",))
    pieces = enforce_limit(TextMeter(text, Budget(10, words)), "T", [whole])
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    assert len(pieces) > 1
    for piece in pieces:
        size = words([build_embed_text("T", ("P",), text[piece.start : piece.end])])[0]
        assert size <= 10


def test_what_fits_is_left_alone():
    slices = [ChunkDraft(0, 3, ()), ChunkDraft(4, 7, ())]
    assert enforce_limit(TextMeter("a b c d", Budget(10, words)), "", slices) == slices


def test_a_count_that_never_fits_ends_at_single_characters():
    meter = TextMeter("abcd", Budget(1, lambda texts: [9 for _ in texts]))
    pieces = enforce_limit(meter, "", [ChunkDraft(0, 4, ())])
    assert [(piece.start, piece.end) for piece in pieces] == [(0, 1), (1, 2), (2, 3), (3, 4)]
