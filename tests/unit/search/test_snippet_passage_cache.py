from kebab.core.ids import Key
from kebab.search.snippet import PassageCache
from kebab.store.sqlite.reader import SqliteReader
from kebab.text.tokenizer import tokenize

_ONE, _TWO, _THREE, _GONE = Key(1), Key(2), Key(3), Key(9)


class _Counting(SqliteReader):
    """A library that counts what is read."""

    def __init__(self, folder):
        super().__init__(folder)
        self.asked = []

    def load_chunks(self, keys):
        self.asked.append(list(keys))
        return super().load_chunks(keys)


def test_a_passage_is_read_once_and_returned_in_the_order_of_the_keys(base):
    base.add("a.md", "one", "two", "three")
    library = _Counting(base.folder)
    reading = PassageCache(library)

    assert [chunk.text for chunk in reading.load_chunks([_TWO, _ONE])] == ["two", "one"]
    assert [chunk.text for chunk in reading.load_chunks([_ONE, _THREE, _GONE])] == ["one", "three"]
    assert library.asked == [[2, 1], [3, 9]]
    library.close()


def test_the_body_is_the_tokens_of_the_text(base):
    base.add("a.md", "Rising doughs", title="Bread")
    reading = PassageCache(base.reader())
    (chunk,) = reading.load_chunks([_ONE])

    assert reading.tokenize_body(chunk) == tuple(tokenize("Rising doughs"))
    assert reading.tokenize_body(chunk) is reading.tokenize_body(chunk)
