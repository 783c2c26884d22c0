from dataclasses import dataclass
from itertools import islice

from kebab.core.ids import Key
from kebab.search.engine import MAX_COPIES, deduplicate_hits


@dataclass(frozen=True)
class _Chunk:
    key: int
    doc_id: str
    text: str


def _keys(count):
    return [Key(number) for number in range(count)]


def _reader(chunks, asked):
    by_key = {chunk.key: chunk for chunk in chunks}

    def read(keys):
        asked.extend(keys)
        return [by_key[key] for key in keys if key in by_key]

    return read


def test_the_order_stays_and_a_document_has_its_limit():
    chunks = [_Chunk(key, f"doc{key % 2}", f"text {key}") for key in range(6)]

    shown = deduplicate_hits(_keys(6), _reader(chunks, []), per_doc=2)

    assert [chunk.key for chunk in shown] == [0, 1, 2, 3]


def test_copies_of_one_text_are_limited():
    chunks = [_Chunk(key, f"doc{key}", "same") for key in range(10)] + [_Chunk(10, "x", "other")]

    shown = [chunk.key for chunk in deduplicate_hits(_keys(11), _reader(chunks, []), per_doc=None)]

    assert shown == [*range(MAX_COPIES), 10]


def test_chunks_are_read_as_far_as_the_page_goes():
    asked: list[Key] = []
    chunks = [_Chunk(key, "d", str(key)) for key in range(1000)]

    list(islice(deduplicate_hits(_keys(1000), _reader(chunks, asked), per_doc=None), 5))

    assert len(asked) < 100
