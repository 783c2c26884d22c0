import pytest

from kebab.core.queries import Filters
from kebab.store.sqlite.catalogue import Catalogue
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
    with SqliteReader(tmp_path) as reader:
        return Catalogue(reader).find_damage()


def change(writer, sql):
    writer._database.execute("PRAGMA foreign_keys = OFF")
    writer._database.execute(sql)


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
    [("tag", ["y", "x"]), ("path_glob", ["a.md", "b.md"])],
)
def test_existing_values_are_listed_the_most_frequent_first(values, name, found):
    assert values.list_values(name) == found


def test_sources_are_listed(values):
    assert values.list_sources() == [NOTES, OTHER]
