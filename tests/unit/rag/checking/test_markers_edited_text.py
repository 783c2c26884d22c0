from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.markers import Edit, EditedText


def test_edits_change_their_spans_and_shift_the_rest():
    edited = EditedText("one two three", [Edit(4, 7, "2"), Edit(13, 13, "!"), Edit(0, 0, "> ")])

    assert edited.text == "> one 2 three!"
    assert [edited.text[slice(*edited.map_span(span))] for span in [(0, 3), (8, 13)]] == [
        "one",
        "three!",
    ]


def test_without_edits_spans_stay():
    edited = EditedText("text", [])

    assert (edited.text, edited.map_span((1, 3))) == ("text", (1, 3))


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3), st.text(max_size=3)), max_size=6))
def test_text_between_edits_is_mapped(steps):
    text = "abcdefghijklmnopqrstuvwxyz" * 4
    edits, spans, at = [], [], 0
    for gap, length, new in steps:
        spans.append((at, at + gap))
        edits.append(Edit(at + gap, at + gap + length, new))
        at += gap + length
    edited = EditedText(text, edits)

    for (start, end), edit in zip(spans, edits, strict=True):
        low, _ = edited.map_span((start, end))
        assert edited.text[low:].startswith(text[start:end])
        assert edited.text[low + end - start :].startswith(edit.text)
