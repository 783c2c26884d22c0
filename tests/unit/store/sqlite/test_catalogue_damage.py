from contextlib import closing

import pytest

from kebab.core.queries import Filters
from kebab.store.sqlite import catalogue, chunks
from kebab.store.sqlite.catalogue import Catalogue
from kebab.store.sqlite.connection import create_schema, open_reader
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import SqliteWriter
from kebab.text.tokenizer import join_tokens
from tests.fakes.rows import NOTES, OTHER, document


@pytest.fixture
def writer(tmp_path):
    with SqliteWriter(tmp_path, str) as opened:
        opened.add_source(NOTES)
        for number in range(4):
            texts = [f"alpha number{number}", f"beta number{number}"]
            opened.put_document(document(f"{number}.md", texts, headings=("H",)))
        yield opened


def find(tmp_path):
    with closing(open_reader(tmp_path)) as database:
        return list(catalogue.find_faults(database))


def change(writer, sql):
    writer._database.execute("PRAGMA foreign_keys = OFF")
    writer._database.execute(sql)


def test_a_sound_database_has_no_damage(tmp_path, writer):
    assert find(tmp_path) == []


def test_a_new_schema_has_no_damage():
    assert list(catalogue.find_faults(create_schema())) == []


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("DROP INDEX chunks_doc", "missing tables or indexes: chunks_doc"),
        ("DELETE FROM documents WHERE doc = 1", "passages without a document: 2"),
        ("UPDATE chunks SET text = 'x' WHERE key < 4", "passages whose text was changed: 3"),
        (
            "UPDATE chunks SET heading_path = '[' WHERE key = 1",
            "passages whose title or headings were changed: 1",
        ),
        ("DELETE FROM kv", "missing or unreadable settings of the index: 2"),
        (
            "UPDATE chunks SET ordinal = 9 WHERE key = 1",
            "documents with a gap between passages: 1",
        ),
    ],
)
def test_damage_is_described_with_its_size(tmp_path, writer, sql, fault):
    change(writer, sql)

    assert fault in find(tmp_path)


def test_a_changed_table_is_damage_and_ends_the_list(tmp_path, writer):
    change(writer, "ALTER TABLE document_tags ADD COLUMN more TEXT; DELETE FROM sources")

    assert find(tmp_path) == ["changed tables or indexes: document_tags"]


def test_of_a_large_library_a_part_of_the_texts_is_compared(tmp_path, writer, monkeypatch):
    change(writer, "UPDATE chunks SET text = 'x'")
    assert "passages whose text was changed: 8" in find(tmp_path)

    monkeypatch.setattr(catalogue, "SAMPLE_CHUNKS", 3)

    assert "passages whose text was changed: 8" in find(tmp_path)
    with closing(open_reader(tmp_path)) as database:
        assert "passages whose text was changed: 2" in catalogue.find_faults(database, deep=False)


def test_a_word_index_that_differs_from_the_passages_is_found(tmp_path, writer, monkeypatch):
    monkeypatch.setattr(chunks, "COMPARED_CHUNKS", 1)

    def find(*, deep=True):
        with closing(open_reader(tmp_path)) as database:
            return chunks.find_word_fault(database, str, deep=deep)

    assert find() is None
    change(writer, "UPDATE chunks_fts_docsize SET sz = x'010101' WHERE id = 3")
    assert find() == "the length of a passage is wrong"
    change(writer, "DELETE FROM chunks_fts WHERE rowid = 3")
    assert "a word is missing" in find()
    assert find(deep=False) is None


@pytest.fixture
def values(tmp_path):
    with SqliteWriter(tmp_path, join_tokens, lambda: 1.0) as writer:
        writer.add_source(NOTES)
        writer.add_source(OTHER)
        writer.put_document(document("a.md", ["one"], tags=("x", "y"), lang="en", at=5))
        writer.put_document(document("b.md", ["two"], tags=("y",), lang=None, at=2))
    with SqliteReader(tmp_path) as reader:
        yield Catalogue(reader)


def test_documents_that_pass_are_counted(values):
    assert values.count_documents(Filters(tag=("y",))) == 2
    assert values.has_documents(Filters(tag=("x",)))
    assert not values.has_documents(Filters(tag=("z",)))


@pytest.mark.parametrize(
    ("name", "found"),
    [("tag", ["y", "x"]), ("lang", ["en"]), ("path_glob", ["a.md", "b.md"])],
)
def test_existing_values_are_listed_the_most_frequent_first(values, name, found):
    assert values.list_values(name) == found


def test_sources_are_listed(values):
    assert values.list_sources() == [NOTES, OTHER]


def test_the_time_range_is_that_of_the_files(values):
    assert values.get_time_range() == (2.0, 5.0)


def test_an_empty_library_has_no_time_range(tmp_path):
    SqliteWriter(tmp_path, join_tokens, lambda: 1.0).close()
    with SqliteReader(tmp_path) as reader:
        assert Catalogue(reader).get_time_range() is None
