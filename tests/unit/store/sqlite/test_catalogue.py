import pytest

from kebab.core.chunks import DocId, make_chunk_id
from kebab.core.queries import Filters
from kebab.store.sqlite.catalogue import Catalogue
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.rows import NOTES, document


@pytest.fixture
def writer(tmp_path):
    with SqliteWriter(tmp_path, str) as opened:
        opened.add_source(NOTES)
        for number in range(4):
            texts = [f"alpha number{number}", f"beta number{number}"]
            opened.put_document(document(f"{number}.md", texts, headings=("H",)))
        yield opened


def find(tmp_path):
    with SqliteReader(tmp_path) as reader:
        return Catalogue(reader).find_damage()


def change(writer, sql):
    writer.database.execute("PRAGMA foreign_keys = OFF")
    writer.database.execute(sql)


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("DROP INDEX chunks_doc", "missing tables or indexes: chunks_doc"),
        ("DELETE FROM documents WHERE doc = 1", "rows of chunks that refer to nothing: 2"),
        (
            "ALTER TABLE document_tags ADD COLUMN more TEXT",
            "changed tables or indexes: document_tags",
        ),
    ],
)
def test_damage_is_described_with_its_size(tmp_path, writer, sql, fault):
    change(writer, sql)

    assert fault in find(tmp_path)


def test_a_word_index_that_differs_from_the_passages_is_found_and_written_again(tmp_path, writer):
    def find_fault(tokens=str):
        with SqliteReader(tmp_path) as reader:
            return Catalogue(reader).find_word_fault(tokens)

    assert find_fault() is None
    change(writer, "DELETE FROM chunks_fts WHERE rowid = 3")
    assert find_fault() == "passages that are not in it: 1"
    writer.rebuild_words()
    assert find_fault() is None
    assert find_fault(lambda text: text.replace("number3", "other3")) == (
        "a word of a passage is missing: other3"
    )


def test_a_chunk_comes_with_its_neighbours(tmp_path, writer):
    writer.put_document(document("d.md", ["one", "two", "three"]))
    one, two, three = (row.chunk_id for row in document("d.md", ["one", "two", "three"]).chunks)

    with SqliteReader(tmp_path) as reader:
        found = [Catalogue(reader).load_chunk(one) for one in (one, two, three)]
        assert Catalogue(reader).load_chunk(make_chunk_id(DocId("0" * 32), "x", "y", 0)) is None
    first, detail, last = filter(None, found)

    assert (detail.previous, detail.following) == (one, three)
    assert (detail.chunk.text, detail.chunk.vector_state) == ("two", "pending")
    assert (first.previous, last.following) == (None, None)


def test_limits_above_the_largest_integer_of_sqlite_are_clamped(tmp_path, writer):
    with SqliteReader(tmp_path) as reader:
        catalogue = Catalogue(reader)
        assert len(catalogue.list_documents(Filters(), limit=10**30).documents) == 4
        assert catalogue.list_documents(Filters(), offset=10**30).documents == ()


def test_an_index_without_its_last_document_has_no_word_fault(tmp_path, writer):
    writer.remove_documents([document(f"{number}.md").doc_id for number in range(4)])

    with SqliteReader(tmp_path) as reader:
        assert Catalogue(reader).find_word_fault(str) is None
