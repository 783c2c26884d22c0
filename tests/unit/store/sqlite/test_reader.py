import apsw
import pytest

from kebab.core.ids import make_doc_id
from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed
from kebab.store.sqlite.reader import SqliteReader
from tests.fakes.rows import document


def test_a_reader_needs_an_indexed_directory(tmp_path):
    with pytest.raises(NotIndexed):
        SqliteReader(tmp_path)


def test_a_snapshot_stays_as_it_was_while_the_writer_commits(writer, tmp_path):
    with SqliteReader(tmp_path) as reader:
        revision = reader.get_revision()
        keys = [key for key, _ in reader.search_lexical('"rain"', Filters(), 9)]
        writer.remove_documents([make_doc_id("notes", "a.md")])
        writer.put_document(document("b.md", ["rain", "snow"]))
        assert reader.get_revision() == revision
        assert [key for key, _ in reader.search_lexical('"rain"', Filters(), 9)] == keys
        assert [chunk.path for chunk in reader.load_chunks(keys)] == ["a.md"]
        assert reader.count_chunks() == 1
    with SqliteReader(tmp_path) as later:
        assert later.get_revision() == revision + 2
        assert later.count_chunks() == 2


def test_a_snapshot_that_cannot_begin_is_an_io_error(writer, tmp_path):
    def refuse(_cursor, statement, _bindings):
        if statement == "BEGIN":
            raise apsw.NoMemError("out of memory")
        return True

    def watch(database):
        database.exec_trace = refuse

    apsw.connection_hooks.append(watch)
    try:
        with pytest.raises(IoError):
            SqliteReader(tmp_path)
    finally:
        apsw.connection_hooks.remove(watch)


def test_readers_never_wait_for_a_writer(writer, tmp_path):
    with writer.batch():
        writer.put_document(document("b.md", ["rain"]))
        with SqliteReader(tmp_path) as reader:
            assert len(reader.search_lexical('"rain"', Filters(), 9)) == 1
            assert reader.count_pending() == 1


@pytest.mark.parametrize("match", ["", '"', "a:b", "NOT x", "*", "nocolumn : x"])
def test_an_invalid_expression_is_refused_as_input(writer, tmp_path, match):
    with SqliteReader(tmp_path) as reader, pytest.raises(InvalidInput):
        reader.search_lexical(match, Filters(), 9)


def test_weights_reach_the_ranking(writer, tmp_path):
    writer.put_document(document("b.md", ["storm"], title="snow"))
    writer.put_document(document("c.md", ["snow"], title="storm"))
    ranked = {}
    for weights in ((9.0, 1.0, 1.0), (1.0, 1.0, 9.0)):
        with SqliteReader(tmp_path, weights) as reader:
            hits = reader.search_lexical('"snow"', Filters(), 9)
            ranked[weights[0]] = [one.path for one in reader.load_chunks([key for key, _ in hits])]
    assert ranked == {9.0: ["b.md", "c.md"], 1.0: ["c.md", "b.md"]}
