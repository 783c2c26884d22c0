import json
from pathlib import Path

import pytest

from kebab.chunk import budget
from kebab.chunk import budget as module
from kebab.chunk.budget import (
    CHUNKER_VERSION,
    Budget,
    WordCounter,
    build_chunk_rows,
    build_contexts,
    estimate_tokens,
    format_chunker_version,
    make_mixed_counter,
)
from kebab.core.chunks import Chunk, build_embed_text
from kebab.core.ids import DocId, compute_digest


def words(texts):
    return [len(text.split()) for text in texts]


def test_characters_count_where_a_tokenizer_sees_one_word():
    assert Budget(10, words).measure(["x" * 95, ""]) == [10, 0]


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
CASES = json.loads((Path(__file__).parents[2] / "cases" / "tokens.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_estimate_is_an_upper_bound_that_is_not_absurd(case):
    (bound,) = estimate_tokens([case["text"]])
    assert case["tokens"] <= bound <= 2 * case["tokens"]


def test_two_letters_of_a_wide_script_count_as_one_token():
    assert estimate_tokens(["한글로 쓴 문서다", "日本語の文書", "中文文件"]) == [4, 3, 2]
    assert estimate_tokens(["документ"]) == [8]


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


def test_keywords_decide_whether_a_text_is_code():
    code = "def rotate(self, angles):\n    if not angles: return None\n" * 8
    without = code.replace("self", "shelf").replace("return", "retour").replace("def", "dif")
    without = without.replace("if not", "of net").replace("None", "Nane")
    assert estimate_tokens([code])[0] * 1.2 < estimate_tokens([without])[0]


def test_more_words_than_are_remembered_change_nothing(monkeypatch):
    texts = [f"word{number} the Word{number}," for number in range(20)]
    expected = estimate_tokens(texts)
    monkeypatch.setattr(module, "_MAX_WORDS", 3)
    monkeypatch.setattr(module, "_FIGURES", module._FigureCache())

    assert estimate_tokens(texts) == expected
    assert len(module._FIGURES) <= 3


def chunks(texts):
    return [
        Chunk(ordinal=n, text=text, start=0, end=len(text), start_line=1, end_line=1)
        for n, text in enumerate(texts)
    ]


def test_the_label_names_the_limit():
    assert format_chunker_version(254) == CHUNKER_VERSION == "heading-254-v1"
    assert format_chunker_version(510) != CHUNKER_VERSION


def test_an_id_stays_when_other_chunks_come_and_go():
    before = {row.chunk_id for row in build_chunk_rows(DocId("d"), "T", chunks("abc"))}
    after = {row.chunk_id for row in build_chunk_rows(DocId("d"), "T", chunks("xabyc"))}
    assert before < after


def test_an_id_depends_on_document_chunker_and_text():
    def only(doc, chunker, text):
        return build_chunk_rows(DocId(doc), "T", chunks([text]), chunker)[0].chunk_id

    given_ids = {only("d", "c", "t"), only("e", "c", "t"), only("d", "x", "t"), only("d", "c", "u")}
    assert len(given_ids) == 4


def test_hashes_are_of_the_text_and_of_what_is_embedded():
    (row,) = build_chunk_rows(DocId("d"), "Title", chunks(["text"]))
    assert row.text_hash == compute_digest("text")
    assert row.embed_hash == compute_digest(build_embed_text("Title", (), "text"))
    assert row.chunk.text == "text"


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
