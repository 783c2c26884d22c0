import pytest

from kebab.chunk.budget import DEFAULT_LIMIT, Budget, build_contexts
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
        (("a", "w " * 30 + "end"), (("w " * 10).strip() + "…",)),
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
    assert found.path == (("h " * 10).strip() + "…",)
    assert found.room == 100 - 30 - 1 - 10 - 1
