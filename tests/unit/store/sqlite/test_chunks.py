from dataclasses import replace

from kebab.core.ids import DocId, make_doc_id
from kebab.store.sqlite import chunks, fts
from tests.fakes.rows import document


def test_chunks_are_loaded_in_the_order_of_their_keys(stored):
    one, two, three = stored(["one", "two", "three"])
    assert [chunk.text for chunk in chunks.load_chunks(stored.database, [three, one, two])] == [
        "three",
        "one",
        "two",
    ]


def test_a_document_is_read_in_order(stored):
    stored(["one", "two"])
    found = chunks.load_document_chunks(stored.database, make_doc_id("notes", "a.md"))
    assert [(chunk.ordinal, chunk.text) for chunk in found] == [(0, "one"), (1, "two")]
    assert chunks.load_document_chunks(stored.database, DocId("none")) == []


def test_the_first_chunk_of_each_document_is_found(stored):
    stored(["one", "two"])
    doc_id = make_doc_id("notes", "a.md")
    found = chunks.load_first_chunks(stored.database, [doc_id, DocId("none")])
    assert {key: chunk.text for key, chunk in found.items()} == {doc_id: "one"}
    assert chunks.load_first_chunks(stored.database, []) == {}


def test_moved_headings_are_searched_under_their_new_name(stored):
    row = document("a.md", ["body"], headings=("Old",))
    stored.put_document(row)
    first = row.chunks[0]
    moved = first._replace(chunk=first.chunk._replace(heading_path=("New",)))
    written = stored.put_document(replace(row, chunks=(moved,)))
    assert (written.kept, written.added) == (1, 0)
    assert fts.get_document_frequencies(stored.database, ["New", "Old"]) == {"New": 1, "Old": 0}


def test_every_chunk_has_a_row_in_the_word_index_and_a_state(stored):
    stored(["one", "two", "three"])
    stored.put_document(document("a.md", ["two", "four"]))
    stored.put_document(document("b.md", []))
    counts = {
        table: stored.database.execute(f"SELECT count(*) FROM {table}").get
        for table in ("chunks", "chunks_fts", "vectors")
    }
    assert counts == {"chunks": 2, "chunks_fts": 2, "vectors": 2}


def test_the_rows_of_a_large_document_do_not_wait_in_memory(stored, monkeypatch):
    monkeypatch.setattr(chunks, "_ROWS_AT_ONCE", 2)
    buffered = []
    count = "SELECT count(*) FROM fts_write_buffer"
    flush = fts.flush_write_buffer

    def watch(database):
        buffered.append(database.execute(count).get)
        flush(database)

    monkeypatch.setattr(fts, "flush_write_buffer", watch)

    stored([f"word{number}" for number in range(5)])

    assert max(buffered) == 2
    assert sum(buffered) == 5
    found = fts.get_document_frequencies(stored.database, [f"word{number}" for number in range(5)])
    assert set(found.values()) == {1}


def test_chunks_that_come_later_replace_the_old_ones_as_well(stored):
    texts = ["one", "two", "three", "four"]
    whole = document("a.md", texts)
    stored.put_document(document("a.md", ["two", "four", "old"]))
    kept = {row.chunk_id for row in whole.chunks}

    parts = replace(
        whole, chunks=whole.chunks[:1], more_chunks=iter((whole.chunks[1:3], whole.chunks[3:]))
    )
    written = stored.put_document(parts)

    found = chunks.load_document_chunks(stored.database, make_doc_id("notes", "a.md"))
    assert [chunk.text for chunk in found] == texts
    assert {chunk.chunk_id for chunk in found} == kept
    assert (written.kept, written.added, written.removed) == (2, 2, 1)
