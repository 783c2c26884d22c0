import pytest

from kebab.chunk.budget import DEFAULT_LIMIT, Budget, ChunkDraft, build_contexts, enforce_limit
from kebab.core.chunks import build_embed_text


def words(texts):
    return [len(text.split()) for text in texts]


def test_the_default_is_the_window_of_minilm():
    assert Budget().limit == DEFAULT_LIMIT == 254
    assert Budget().measure(["a b"]) == [2]


def test_characters_count_where_a_tokenizer_sees_one_word():
    assert Budget(10, words).measure(["x" * 95, ""]) == [10, 0]


def test_nothing_is_counted_without_text():
    def refuse(texts):
        raise AssertionError(texts)

    assert Budget(10, refuse).measure([]) == []


def test_context_leaves_room_for_the_text():
    found = build_contexts("T", [("A", "B")], Budget(100, words))
    assert found["A", "B"].path == ("A", "B")
    assert found["A", "B"].room == 100 - 5 - 1


@pytest.mark.parametrize(
    ("path", "short"),
    [
        (("outer " * 12, "inner"), ("inner",)),
        (("a", "w " * 30 + "end"), (("w " * 10).strip() + "\u2026",)),
    ],
)
def test_a_long_context_keeps_its_inner_end(path, short):
    budget = Budget(60, words)
    found = build_contexts("T", [path], budget)[path]
    assert found.path == short
    assert budget.measure([build_embed_text("T", found.path, "")])[0] <= 15


def test_a_long_title_leaves_an_eighth_to_the_headings():
    path = ("h " * 30,)
    found = build_contexts("t " * 30, [path], Budget(100, words))[path]
    assert found.path == (("h " * 10).strip() + "\u2026",)
    assert found.room == 100 - 30 - 1 - 10 - 1


def test_what_does_not_fit_is_cut_again():
    text = "a b c d e f. g h i j k l m n"
    whole = ChunkDraft(0, len(text), ("P",))
    pieces = enforce_limit(text, "T", [whole], Budget(10, words))
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    assert len(pieces) > 1
    for piece in pieces:
        size = words([build_embed_text("T", ("P",), text[piece.start : piece.end])])[0]
        assert size <= 10


def test_what_fits_is_left_alone():
    slices = [ChunkDraft(0, 3, ()), ChunkDraft(4, 7, ())]
    assert enforce_limit("a b c d", "", slices, Budget(10, words)) == slices


def test_a_count_that_never_fits_ends_at_single_characters():
    pieces = enforce_limit(
        "abcd", "", [ChunkDraft(0, 4, ())], Budget(1, lambda texts: [9 for _ in texts])
    )
    assert [(piece.start, piece.end) for piece in pieces] == [(0, 1), (1, 2), (2, 3), (3, 4)]
