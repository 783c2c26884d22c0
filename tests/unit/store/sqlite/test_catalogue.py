import pytest
from msgspec.structs import replace

from kebab.core.documents import AmbiguousName
from kebab.core.ids import DocId, make_chunk_id, make_doc_id
from kebab.core.queries import Filters
from kebab.store.sqlite.catalogue import Catalogue
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.rows import CHUNKER, NOTES, OTHER, document


@pytest.fixture
def writer(tmp_path):
    with SqliteWriter(tmp_path, str, lambda: 5.0) as made:
        made.add_source(NOTES)
        made.add_source(OTHER)
        yield made


@pytest.fixture
def catalogue(tmp_path, writer):
    """Return a function that opens a catalogue of the present state."""
    readers = []

    def look():
        readers.append(SqliteReader(tmp_path))
        return Catalogue(readers[-1])

    yield look
    for reader in readers:
        reader.close()


class TestLists:
    @pytest.fixture(autouse=True)
    def corpus(self, writer):
        writer.put_document(document("b.md", title="A", at=3, lang="ko", warnings=("odd",)))
        writer.put_document(document("a.md", ["one", "two"], title="B", at=1, tags=("x",)))
        writer.put_document(document("c.md", title="C", at=2, source="other"))

    def test_limits_above_the_largest_integer_of_sqlite_are_clamped(self, catalogue):
        everything = catalogue().list_documents(Filters()).documents

        assert catalogue().list_documents(Filters(), limit=10**30).documents == everything
        assert catalogue().list_documents(Filters(), offset=10**30).documents == ()

    def test_counts_describe_the_library(self, catalogue, writer):
        writer.mark_vectors([chunk.key for chunk in writer.list_pending(1)], "committed", "v")
        writer.record_run("all", 1.0, 7.0, 3)
        counts = catalogue().count_contents()
        assert (counts.documents, counts.chunks, counts.assets) == (3, 4, 2)
        assert counts.pending == 3
        assert (counts.media, counts.lang) == ({"text/markdown": 3}, {"en": 2, "ko": 1})
        assert counts.last_change == 7.0
        assert (counts.months, counts.tags) == ({"1970-01": 3}, {"x": 1})
        assert counts.sources == {"notes": 2, "other": 1}


class TestReferences:
    A, B = DocId("ab" + "0" * 30), DocId("ab" + "f" * 30)

    @pytest.fixture(autouse=True)
    def corpus(self, writer):
        writer.put_document(document("d/a.md", ["one", "two", "three"], doc=self.A))
        writer.put_document(document("x.md", doc=self.B))
        writer.put_document(document("x.md", source="other"))

    @pytest.mark.parametrize(
        "reference", ["ab0", "AB0", A, A.upper(), "d/a.md", "/home/me/notes/d/a.md"]
    )
    def test_a_document_is_found_by_id_prefix_or_path(self, catalogue, reference):
        assert catalogue().resolve_document(reference) == self.A

    @pytest.mark.parametrize("reference", ["", "abc", "d/"])
    def test_an_unknown_reference_is_none(self, catalogue, reference):
        assert catalogue().resolve_document(reference) is None

    def test_a_path_in_two_sources_is_ambiguous(self, catalogue):
        found = catalogue().resolve_document("x.md")
        assert found == AmbiguousName(tuple(sorted([self.B, make_doc_id("other", "x.md")])))

    def test_a_chunk_is_found_by_id_or_prefix(self, catalogue, writer):
        one, two, _ = (
            chunk.chunk_id
            for chunk in document("d/a.md", ["one", "two", "three"], doc=self.A).chunks
        )
        assert catalogue().resolve_chunk(two) == two
        assert catalogue().resolve_chunk(one[:12].upper()) == one
        assert catalogue().resolve_chunk("0" * 32) is None
        assert catalogue().resolve_chunk("") is None

    def test_a_document_comes_with_its_chunks(self, catalogue):
        detail = catalogue().load_document(self.A)
        assert [chunk.text for chunk in detail.chunks] == ["one", "two", "three"]
        assert (detail.recipe, detail.parser_version) == ("recipe-1", "markdown-v1")
        assert (detail.chunker_version, detail.summary.path) == (CHUNKER, "d/a.md")
        assert catalogue().load_document(DocId("none")) is None

    def test_a_summary_is_loaded_without_the_chunks(self, catalogue):
        assert catalogue().load_summary(self.A) == catalogue().load_document(self.A).summary
        assert catalogue().load_summary(DocId("none")) is None

    def test_a_chunk_comes_with_its_neighbours(self, catalogue):
        rows = document("d/a.md", ["one", "two", "three"], doc=self.A).chunks
        one, two, three = (row.chunk_id for row in rows)
        detail = catalogue().load_chunk(two)
        assert (detail.previous, detail.following) == (one, three)
        assert (detail.chunk.text, detail.chunk.vector_state) == ("two", "pending")
        assert (catalogue().load_chunk(one).previous, catalogue().load_chunk(three).following) == (
            None,
            None,
        )
        assert catalogue().load_chunk(make_chunk_id(self.A, "x", "y", 0)) is None


class TestDamage:
    def test_an_index_without_its_last_document_has_no_word_fault(self, catalogue, writer):
        writer.put_document(document("a.md", ["one"]))
        writer.remove_documents([make_doc_id("notes", "a.md")])

        assert catalogue().find_word_fault(str) is None


def test_a_title_in_any_script_is_listed_as_it_is(catalogue, writer):
    writer.put_document(replace(document("a.md"), title="김치 \N{POT OF FOOD}"))
    assert catalogue().list_documents(Filters()).documents[0].title == "김치 \N{POT OF FOOD}"
