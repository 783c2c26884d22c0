import pytest

from kebab.core.queries import Filters
from kebab.store.sqlite.catalogue import FilterValues
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import SqliteWriter
from kebab.text.tokenizer import tokenize
from tests.fakes.rows import NOTES, OTHER, document


@pytest.fixture
def values(tmp_path):
    with SqliteWriter(tmp_path, tokenize, lambda: 1.0) as writer:
        writer.add_source(NOTES)
        writer.add_source(OTHER)
        writer.put_document(document("a.md", ["one"], tags=("x", "y"), lang="en", at=5))
        writer.put_document(document("b.md", ["two"], tags=("y",), lang=None, at=2))
    with SqliteReader(tmp_path) as reader:
        yield FilterValues(reader)


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
    SqliteWriter(tmp_path, tokenize, lambda: 1.0).close()
    with SqliteReader(tmp_path) as reader:
        assert FilterValues(reader).get_time_range() is None
