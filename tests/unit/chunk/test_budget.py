import pytest

from kebab.chunk import budget
from kebab.chunk.budget import (
    Budget,
    WordCounter,
    build_chunk_rows,
    build_contexts,
    estimate_tokens,
    make_mixed_counter,
)
from kebab.core.chunks import Chunk, DocId, build_embed_text


def words(texts):
    return [len(text.split()) for text in texts]


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


# The counts are those of the tokenizer of all-MiniLM-L6-v2, special tokens left out.


def test_words_cost_the_same_wherever_they_stand():
    """What is remembered of a word is added up, so neither blanks nor order may count."""
    words = [
        "The",
        "notes",
        "of",
        "Ωmega",
        "(e.g.",
        "snake_case,",
        "1,024",
        "한글",
        "x" * 300,
        "a-b",
    ]
    for size in range(1, len(words) + 1):
        text = " ".join(words[:size])
        again = "\n\t ".join(reversed(words[:size]))
        assert (
            estimate_tokens([text]) == estimate_tokens([again]) == estimate_tokens([f"  {text}\n"])
        )


def chunks(texts):
    return [
        Chunk(ordinal=n, text=text, start=0, end=len(text), start_line=1, end_line=1)
        for n, text in enumerate(texts)
    ]


def test_an_id_stays_when_other_chunks_come_and_go():
    before = {row.chunk_id for row in build_chunk_rows(DocId("d"), "T", chunks("abc"))}
    after = {row.chunk_id for row in build_chunk_rows(DocId("d"), "T", chunks("xabyc"))}
    assert before < after


def test_an_id_depends_on_document_chunker_and_text():
    def only(doc, chunker, text):
        return build_chunk_rows(DocId(doc), "T", chunks([text]), chunker)[0].chunk_id

    given_ids = {only("d", "c", "t"), only("e", "c", "t"), only("d", "x", "t"), only("d", "c", "u")}
    assert len(given_ids) == 4


class Letters:
    """Counts letters, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked.append(sorted(texts))
        return [len(text) for text in texts]


def test_more_words_than_are_remembered_are_counted_again(monkeypatch):
    monkeypatch.setattr(budget, "_MAX_LETTERS", 5)
    letters = Letters()
    count = WordCounter(letters)

    assert [count([text]) for text in ("three four", "three", "three")] == [[9], [5], [5]]
    assert letters.asked == [["four", "three"], ["three"], []]


def test_what_the_model_does_not_know_is_estimated():
    def tokenizer(texts):
        return [100 for _ in texts]

    count = make_mixed_counter(tokenizer, str.isascii)
    assert count(["a", "한글 문서", "b"]) == [100, 2, 100]
    assert count([]) == []


def test_code_is_estimated_by_english_words_and_not_by_those_of_any_language():
    code = "def register(self, connection): return self.connection.register(None)"
    plain = "abc register(one, connection): abc one.connection.register(abc)"

    assert estimate_tokens([code])[0] < estimate_tokens([plain])[0]
