from kebab.chunk import budget
from kebab.chunk.budget import WordCounter, make_mixed_counter


class Letters:
    """Counts letters, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked.append(sorted(texts))
        return [len(text) for text in texts]


def test_a_text_has_the_sizes_of_its_words_together():
    assert WordCounter(Letters())(["one two", "", "three\n\n  four ", "fünf"]) == [6, 0, 9, 4]


def test_a_word_is_counted_once():
    letters = Letters()
    count = WordCounter(letters)

    assert count(["one two one", "two"]) == [9, 3]
    assert count(["three two"]) == [8]
    assert letters.asked == [["one", "two"], ["three"]]


def test_only_blanks_and_line_ends_divide():
    letters = Letters()
    WordCounter(letters)(["a\tb\u00a0c d\fe\ng"])

    assert letters.asked == [["a\tb\u00a0c", "d\fe", "g"]]


def test_more_words_than_are_remembered_are_counted_again(monkeypatch):
    monkeypatch.setattr(budget, "_MAX_LETTERS", 5)
    letters = Letters()
    count = WordCounter(letters)

    assert [count([text]) for text in ("three four", "three", "three")] == [[9], [5], [5]]
    assert letters.asked == [["four", "three"], ["three"], []]


def test_no_text_has_no_size():
    assert WordCounter(Letters())([]) == []


def test_what_the_model_does_not_know_is_estimated():
    def tokenizer(texts):
        return [100 for _ in texts]

    count = make_mixed_counter(tokenizer, str.isascii)
    assert count(["a", "한글 문서", "b"]) == [100, 2, 100]
    assert count([]) == []
