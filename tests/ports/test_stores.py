"""What the library promises, and every vector index, whether in memory or on disk."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from kebab.core.chunks import NO_BACKGROUND, Key, compute_digest, make_doc_id, sort_keys
from kebab.core.documents import (
    EMBEDDING_REASON,
    EMBEDDING_VERSION,
    MovedDocument,
    VectorRow,
)
from kebab.core.queries import Filters
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import SqliteWriter
from kebab.store.vectors import LanceVectors, MappedVectors
from tests.fakes.passing import passes
from tests.fakes.rows import NOTES, OTHER, document, stamp
from tests.fakes.vectors import MemoryVectors

VERSION = "test-4-v1"


@dataclass
class Library:
    writer: Any
    reader: Callable[[], SqliteReader]


@contextmanager
def open_library(folder: Path) -> Iterator[Library]:
    """Return an empty library with two sources."""
    with ExitStack() as stack:
        writer = stack.enter_context(SqliteWriter(folder, str.lower, lambda: 5.0))
        writer.add_source(NOTES)
        writer.add_source(OTHER)
        yield Library(writer, lambda: stack.enter_context(SqliteReader(folder)))


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(tmp_path) as made:
        yield made


def find(library: Library, word: str, filters: Filters | None = None) -> list[str]:
    reader = library.reader()
    hits = reader.search_lexical(f'"{word}"', filters or Filters(), 100)
    return [chunk.text for chunk in reader.load_chunks([key for key, _ in hits])]


def commit_all(library: Library) -> list[Key]:
    keys = [chunk.key for chunk in library.writer.list_pending(1_000)]
    library.writer.mark_vectors(keys, "committed", VERSION)
    return keys


class TestDocuments:
    def test_a_stored_document_is_known_by_its_path(self, library: Library) -> None:
        library.writer.put_document(document("a.md"))
        known = library.writer.load_known_documents("notes")["a.md"]
        assert (known.doc_id, known.recipe) == (make_doc_id("notes", "a.md"), "recipe-1")
        assert library.writer.load_known_documents("other") == {}

    def test_known_documents_are_found_at_a_path_and_below_it(self, library: Library) -> None:
        for path in ("a", "a/b.md", "a/c/d.md", "a.md", "a0", "b.md"):
            library.writer.put_document(document(path))

        known = library.writer.load_known_documents("notes", ["a", "b.md", "c"])

        assert sorted(known) == ["a", "a/b.md", "a/c/d.md", "b.md"]
        assert library.writer.load_known_documents("notes", []) == {}

    def test_an_inode_of_64_bits_comes_back_unchanged(self, library: Library) -> None:
        huge = replace(document("a.md"), stamp=stamp(inode=2**64 - 3))
        library.writer.put_document(huge)
        assert library.writer.load_known_documents("notes")["a.md"].inode == 2**64 - 3

    def test_storing_the_same_document_keeps_every_chunk(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["one", "two"]))
        keys = commit_all(library)
        written = library.writer.put_document(document("a.md", ["one", "two"]))
        assert (written.kept, written.added, written.removed) == (2, 0, 0)
        assert library.writer.list_committed_keys() == sort_keys(keys)

    def test_an_edit_keeps_the_keys_and_vectors_of_other_chunks(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["one", "two", "three"]))
        one, _, three = commit_all(library)
        written = library.writer.put_document(document("a.md", ["zero", "one", "three"]))
        assert (written.kept, written.added, written.removed) == (2, 1, 1)
        assert library.writer.list_committed_keys() == sort_keys([one, three])
        assert [chunk.text for chunk in library.writer.list_pending(9)] == ["zero"]
        moved = library.reader().load_chunks([one])[0]
        assert (moved.ordinal, moved.start_line) == (1, 11)
        assert find(library, "two") == []

    def test_a_moved_document_keeps_everything_but_its_path(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["one", "two"]))
        library.writer.put_document(document("evicted.md", ["three"], source="other"))
        keys = commit_all(library)[:2]
        doc_id = make_doc_id("notes", "a.md")
        moved = library.writer.move_document(doc_id, "other", "evicted.md", stamp(inode=7))
        assert moved == MovedDocument(2, ())
        assert library.writer.load_known_documents("notes") == {}
        (known,) = library.writer.load_known_documents("other").values()
        assert (known.doc_id, known.path, known.inode) == (doc_id, "evicted.md", 7)
        (chunk, _) = library.reader().load_chunks(keys)
        assert (chunk.source, chunk.path, chunk.text) == ("other", "evicted.md", "one")
        assert library.writer.list_committed_keys() == sort_keys(keys)
        (named,) = library.reader().find_named_documents(["evicted"], Filters(), 9)
        assert named.path == "evicted.md"

    def test_a_key_is_never_given_twice(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["one"]))
        (first,) = commit_all(library)
        library.writer.remove_documents([make_doc_id("notes", "a.md")])
        library.writer.put_document(document("a.md", ["one"]))
        assert library.writer.list_pending(1)[0].key > first

    def test_the_document_edited_last_is_embedded_first(self, library: Library) -> None:
        for path, time in (("a.md", 1), ("c.md", 2), ("b.md", 2)):
            library.writer.put_document(
                replace(document(path, [f"{path} one", f"{path} two"]), stamp=stamp(time))
            )
        texts = [chunk.text for chunk in library.writer.list_pending(5)]
        assert texts == ["b.md one", "b.md two", "c.md one", "c.md two", "a.md one"]
        searched = [chunk.chunk_id for chunk in library.writer.list_pending(6)[-1:]]
        texts = [chunk.text for chunk in library.writer.list_pending(3, searched)]
        assert texts == ["a.md one", "a.md two", "b.md one"]

    def test_a_new_title_makes_chunks_pending_and_is_found(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["body"], title="Old"))
        commit_all(library)
        library.writer.put_document(document("a.md", ["body"], title="New"))
        assert library.writer.count_pending() == 1
        assert (find(library, "new"), find(library, "old")) == (["body"], [])

    def test_a_new_title_is_found_even_when_chunks_keep_their_vectors(
        self, library: Library
    ) -> None:
        row = document("a.md", ["body"], title="Old")
        library.writer.put_document(row)
        commit_all(library)
        written = library.writer.put_document(replace(row, title="New"))
        assert (written.kept, library.writer.count_pending()) == (1, 0)
        assert (find(library, "new"), find(library, "old")) == (["body"], [])

    def test_another_document_at_the_same_path_is_deleted(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["old text"]))
        other = document("a.md", ["new text"], doc=make_doc_id("notes", "a.md", 1))
        written = library.writer.put_document(other)
        assert (written.added, written.removed) == (1, 1)
        assert [
            known.doc_id for known in library.writer.load_known_documents("notes").values()
        ] == [other.doc_id]

    def test_moving_keeps_id_chunks_and_vectors(self, library: Library) -> None:
        row = document("a.md", ["one"])
        library.writer.put_document(row)
        (key,) = commit_all(library)
        library.writer.put_document(replace(row, source="other", path="b/c.md", stamp=stamp(9)))
        chunk = library.reader().load_chunks([key])[0]
        assert (chunk.source, chunk.path, chunk.doc_id) == ("other", "b/c.md", row.doc_id)
        assert (chunk.mtime_ns, chunk.embedding_version) == (9_000_000_000, VERSION)
        assert library.writer.load_known_documents("notes") == {}

    def test_updating_a_stamp_changes_nothing_else(self, library: Library) -> None:
        row = document("a.md")
        library.writer.put_document(row)
        library.writer.update_stamp(row.doc_id, stamp(4, size=11, inode=8))
        known = library.writer.load_known_documents("notes")["a.md"]
        assert (known.mtime_ns, known.size, known.inode) == (4_000_000_000, 11, 8)
        assert known.content_hash == row.content_hash

    def test_removing_a_document_deletes_chunks_words_and_vectors(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["alpha one", "alpha two"]))
        library.writer.put_document(document("b.md", ["alpha three"]))
        commit_all(library)
        assert library.writer.remove_documents([make_doc_id("notes", "a.md")]) == 2
        assert find(library, "alpha") == ["alpha three"]
        assert not library.writer.has_document(make_doc_id("notes", "a.md"))
        assert library.reader().count_chunks() == 1

    def test_sources_are_listed_in_order_and_updated_in_place(self, library: Library) -> None:
        library.writer.add_source(replace(NOTES, kind="files"))
        assert library.writer.list_sources() == [replace(NOTES, kind="files"), OTHER]


class TestPassages:
    def test_chunk_texts_are_ordered_by_document_and_position(self, library: Library) -> None:
        library.writer.put_document(document("z.md", ["z one", "z two"], source="other"))
        library.writer.put_document(document("b.md", ["b one"]))
        library.writer.put_document(document("a.md", ["a one"]))
        library.writer.put_document(document("b.md", ["b zero", "b one", "b two"]))
        found = library.reader().list_passages(Filters())
        expected = ["a one", "b zero", "b one", "b two", "z one", "z two"]
        texts = library.reader().load_texts([*found.keys, Key(999)])
        assert [texts[key] for key in found.keys] == expected
        assert found.hashes == [compute_digest(text) for text in expected]
        assert len(texts) == len(expected)
        assert [len(list(same)) for _, same in groupby(found.documents)] == [1, 3, 2]

    def test_doc_ids_are_found_for_existing_chunks(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["one", "two"]))
        library.writer.put_document(document("b.md", ["three"]))
        one, two, three = (chunk.key for chunk in library.writer.list_pending(9))
        assert library.reader().find_doc_ids([three, one, Key(999)]) == {
            one: make_doc_id("notes", "a.md"),
            three: make_doc_id("notes", "b.md"),
        }
        assert library.reader().find_doc_ids([]) == {}
        numbers = library.reader().find_doc_numbers([three, one, two, Key(999)])
        assert numbers.keys() == {one, two, three}
        assert numbers[one] == numbers[two] != numbers[three]
        assert library.reader().find_doc_ids([two]) == {two: make_doc_id("notes", "a.md")}

    def test_documents_are_found_by_their_names(self, library: Library) -> None:
        library.writer.put_document(document("plan.md", ["one", "two"], aliases=("Boats",)))
        library.writer.put_document(document("tides.md", ["three"]))
        first = library.writer.list_pending(9)[0].key
        reader = library.reader()
        (found,) = reader.find_named_documents(["boat", "rain"], Filters(), 9)
        assert (found.path, found.title, found.aliases) == ("plan.md", "Title", ("Boats",))
        assert reader.find_doc_numbers([found.first]) == {found.first: found.number}
        assert found.first == first
        assert reader.find_named_documents(["boat"], Filters(path_glob="t*"), 9) == []
        assert reader.list_similar_words("tdies") == ["tides"]


class TestVectorStates:
    def test_equal_embeddings_are_found_only_with_a_committed_vector(
        self, library: Library
    ) -> None:
        library.writer.put_document(document("a.md", ["same"]))
        (key,) = commit_all(library)
        library.writer.put_document(document("b.md", ["same"]))
        (waiting,) = library.writer.list_pending(9)
        assert library.writer.find_equal_embeddings([waiting.embed_hash, "none"]) == {
            waiting.embed_hash: key
        }

    def test_pending_is_bounded_and_ordered_by_key(self, library: Library) -> None:
        library.writer.put_document(
            document("a.md", ["one", "two", "three"], title="T", headings=("H",))
        )
        first, second = library.writer.list_pending(2)
        assert (first.text, second.text, first.key < second.key) == ("one", "two", True)
        assert (first.title, first.heading_path) == ("T", ("H",))
        assert library.writer.count_pending() == 3

    def test_only_committed_keys_are_found(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["one", "two"]))
        one, two = (chunk.key for chunk in library.writer.list_pending(9))
        library.writer.mark_vectors([one], "committed", VERSION)
        assert library.reader().find_committed_keys([one, two, Key(77)]) == {one}

    def test_passages_of_many_documents_are_found_by_their_text(self, library: Library) -> None:
        for name in ("a.md", "b.md", "c.md"):
            library.writer.put_document(document(name, ["shared", name]))
        shared, own, *_ = (chunk.key for chunk in library.writer.list_pending(9))
        reader = library.reader()
        assert reader.find_shared_keys([shared, own], 3) == {shared}
        assert reader.find_shared_keys([shared, own], 4) == set()

    def test_with_another_model_all_chunks_are_pending(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["one", "two"]))
        one, two = (chunk.key for chunk in library.writer.list_pending(9))
        library.writer.mark_vectors([one], "committed", VERSION)
        library.writer.mark_vectors([two], "unsupported", VERSION)
        library.writer.set_value(EMBEDDING_VERSION, VERSION)
        before = library.writer.get_revision()

        library.writer.replace_model("other", "it is better")

        assert list(library.writer.list_committed_keys()) == []
        assert library.writer.count_pending() == 2
        assert library.writer.get_value(EMBEDDING_VERSION) == "other"
        assert library.writer.get_value(EMBEDDING_REASON) == "it is better"
        assert library.writer.get_revision() == library.reader().get_revision() == before + 1


class TestRevision:
    CHANGES: tuple[Callable[[Any], object], ...] = (
        lambda writer: writer.put_document(document("b.md")),
        lambda writer: writer.remove_documents([make_doc_id("notes", "a.md")]),
        lambda writer: writer.update_stamp(make_doc_id("notes", "a.md"), stamp(8)),
        lambda writer: writer.put_document(
            document("z.md", source="other", doc=make_doc_id("notes", "a.md"))
        ),
        lambda writer: writer.mark_vectors([Key(1)], "committed", VERSION),
    )
    QUIET: tuple[Callable[[Any], object], ...] = (
        lambda writer: writer.set_value("name", "value"),
        lambda writer: writer.record_run("all", 1.0, 2.0, 0),
        lambda writer: writer.mark_vectors([], "committed", VERSION),
        lambda writer: writer.remove_documents([]),
        lambda writer: writer.checkpoint(),
        lambda writer: writer.load_known_documents("notes"),
    )

    @pytest.mark.parametrize("change", CHANGES)
    def test_the_revision_rises_with_changes_that_search_sees(self, library, change) -> None:
        library.writer.put_document(document("a.md"))
        before = library.reader().get_revision()
        change(library.writer)
        assert library.reader().get_revision() == before + 1

    @pytest.mark.parametrize("quiet", QUIET)
    def test_the_revision_stays_without_such_a_change(self, library, quiet) -> None:
        library.writer.put_document(document("a.md"))
        before = library.reader().get_revision()
        quiet(library.writer)
        assert library.reader().get_revision() == before

    def test_values_are_stored_and_deleted(self, library: Library) -> None:
        library.writer.set_value("salt", "1")
        library.writer.set_value("salt", "2")
        assert (library.writer.get_value("salt"), library.reader().get_value("salt")) == ("2", "2")
        library.writer.set_value("salt", None)
        assert library.writer.get_value("salt") is None


CORPUS = (
    document(
        "notes/2024/a.md",
        ["word a"],
        tags=("Work", "work/kebab"),
        at=100,
        properties=(("status", "Done"), ("rating", "10"), ("due", "2024-07-01")),
    ),
    document("notes/2024/deep/b.md", ["word b"], tags=("home",), lang="ko", at=200),
    document(
        "p.md",
        ["word p"],
        at=210,
        properties=(("project.client", "[[Okonjo|O]]"), ("status", "open"), ("rating", "9.5")),
    ),
    document(
        "dated.md",
        ["word d"],
        at=250,
        date="2025-03-01",
        tags=("work/kebab/deep",),
        authors=("Ada Lovelace", "B"),
    ),
    document("c.md", ["word c"], lang=None, at=300),
    document("src/x.py", ["word x"], media="text/x-python", lang="en", at=400),
    document("한글/문서 [1].pdf", ["word k"], media="application/pdf", lang="ko", at=500),
    document("c.md", ["word oc"], source="other", tags=("work",), at=600),
)
FILTERS = (
    Filters(tag=("work",)),
    Filters(tag=("WORK", "home")),
    Filters(tag=("wor",)),
    Filters(tag=("work/kebab",)),
    Filters(tag=("work/keb",)),
    Filters(tag=("#work/",)),
    Filters(lang=("KO",)),
    Filters(lang=("ko", "en"), tag=("home", "work")),
    Filters(media=("markdown",)),
    Filters(media=("Text/Markdown", "pdf")),
    Filters(media=("python",)),
    Filters(media=("text",)),
    Filters(path_glob="*.md"),
    Filters(path_glob="**/*.md"),
    Filters(path_glob="notes/**"),
    Filters(path_glob="notes/"),
    Filters(path_glob="notes/*/?.md"),
    Filters(path_glob="**/deep/**"),
    Filters(path_glob="한글/*[[]1].pdf"),
    Filters(path_glob="[!c].md"),
    Filters(path_glob="**"),
    Filters(path_glob="notes/2024/***"),
    Filters(path_glob="**/c.md/***"),
    Filters(path_glob="/home/me/notes/notes/**"),
    Filters(path_glob="/srv/other/c.md/***"),
    Filters(path_glob="/nowhere/**"),
    Filters(folder="/home/me/notes/notes/2024"),
    Filters(folder="/srv/other/", tag=("work",)),
    Filters(source=("other",)),
    Filters(source=("notes", "other"), path_glob="c.md"),
    Filters(doc_id=make_doc_id("notes", "c.md")),
    Filters(doc_id="0" * 32),
    Filters(since=200),
    Filters(until=200),
    Filters(since=200, until=500, lang=("ko",)),
    Filters(since=1_700_000_000),
    Filters(author=("ada lovelace",)),
    Filters(author=("LOVELACE", "nobody")),
    Filters(author=("love",)),
    Filters(property=("status=done",)),
    Filters(property=("STATUS = open", "status=done")),
    Filters(property=("status=open", "rating<10")),
    Filters(property=("rating>9.5",)),
    Filters(property=("rating>=9.5", "rating<10")),
    Filters(property=("client=okonjo",)),
    Filters(property=("lient=okonjo",)),
    Filters(property=("due<2024-08",)),
    Filters(property=("due>1 June 2024",)),
    Filters(property=("due",)),
    Filters(property=("due=2024",)),
    Filters(property=("due<=2024-07", "!status=done")),
    Filters(tag=("work", "!work/kebab"), lang=("!ko",)),
    Filters(property=("nothing",), tag=("work",)),
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A library to read only."""
    with open_library(tmp_path_factory.mktemp("corpus")) as library:
        for row in CORPUS:
            library.writer.put_document(row)
        yield library


class TestFilters:
    def test_languages_are_measured_in_bytes_of_documents(self, corpus) -> None:
        expected: dict[str, int] = {}
        for row in CORPUS:
            expected[row.lang or ""] = expected.get(row.lang or "", 0) + row.stamp.size
        assert corpus.writer.measure_languages() == expected
        assert len(expected) > 2

    @pytest.mark.parametrize("filters", FILTERS)
    def test_words_and_keys_are_found_exactly_in_the_documents_that_pass(
        self, corpus, filters
    ) -> None:
        passing = [row for row in CORPUS if passes(row, filters)]
        reader = corpus.reader()
        keys = reader.list_allowed_keys(filters)
        texts = {chunk.chunk.text for row in passing for chunk in row.chunks}
        assert set(find(corpus, "word", filters)) == texts
        assert {one.doc_id for one in reader.load_chunks(keys)} == {row.doc_id for row in passing}
        assert keys == sorted(keys)


class TestWords:
    def test_scores_are_positive_and_best_first_and_ties_go_by_key(self, library: Library) -> None:
        texts = ["rain", "rain rain rain", "rain"]
        library.writer.put_document(document("a.md", [*texts[:2], "snow"], title=""))
        library.writer.put_document(document("b.md", texts[2:], title=""))
        hits = library.reader().search_lexical('"rain"', Filters(), 9)
        keys = [key for key, _ in hits]
        assert len(hits) == 3
        assert all(score > 0 for _, score in hits)
        assert keys[0] == min(keys) + 1
        assert keys[1] < keys[2]

    def test_the_limit_applies_after_the_filters(self, library: Library) -> None:
        for number in range(20):
            library.writer.put_document(document(f"{number}.md", [f"rain {number}"]))
        library.writer.put_document(document("last.txt", ["rain once and many other words"]))
        assert find(library, "rain", Filters(path_glob="*.txt")) == [
            "rain once and many other words"
        ]
        assert len(library.reader().search_lexical('"rain"', Filters(), 7)) == 7

    @pytest.mark.parametrize(
        "word",
        ["don't", "c++", "a.b.c", 'say"so', "snake_case", "서울", "x\\y", "[z]", "e=mc²", "-v"],
    )
    def test_tokens_are_indexed_unchanged(self, library: Library, word: str) -> None:
        library.writer.put_document(document("a.md", [f"before {word} after"], title=""))
        quoted = word.replace('"', '""')
        hits = library.reader().search_lexical(f'"{quoted}"', Filters(), 9)
        assert len(hits) == 1
        assert library.reader().get_document_frequencies([word]) == {word: 1}

    def test_frequencies_count_chunks_and_follow_deletions(self, library: Library) -> None:
        library.writer.put_document(document("a.md", ["rain rain", "snow"], title=""))
        library.writer.put_document(document("b.md", ["rain"], title=""))
        assert library.reader().get_document_frequencies(["rain", "snow", "hail"]) == {
            "rain": 2,
            "snow": 1,
            "hail": 0,
        }
        library.writer.remove_documents([make_doc_id("notes", "b.md")])
        assert library.reader().get_document_frequencies(["rain"]) == {"rain": 1}


@dataclass
class Index:
    writer: Any
    reader: Callable[[], Any]


@pytest.fixture(params=["memory", "lance"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    if request.param == "memory":
        memory = MemoryVectors()
        return Index(memory, lambda: memory)
    writer = LanceVectors(tmp_path, VERSION, 4)

    def read() -> Any:
        writer.save()
        return MappedVectors(tmp_path, VERSION, 4).load_index() or MemoryVectors()

    return Index(writer, read)


def unit(*numbers: float) -> Any:
    vector = np.array(numbers, np.float32)
    return vector / np.linalg.norm(vector)


def row(key: int, *numbers: float) -> VectorRow:
    return VectorRow(Key(key), unit(*numbers))


EAST, NORTH, UP = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)


class TestVectors:
    def test_the_nearest_come_first_with_their_cosine(self, index: Index) -> None:
        index.writer.append([row(1, *NORTH), row(2, 1, 1, 0, 0), row(3, *EAST)])
        hits = index.reader().find_nearest(unit(*EAST), 2)
        assert [key for key, _ in hits] == [3, 2]
        assert [score for _, score in hits] == pytest.approx([1, 0.707107], abs=5e-4)

    def test_the_background_is_the_mean_and_deviation_of_all_cosines(self, index: Index) -> None:
        assert index.reader().measure_background(unit(*EAST)) == NO_BACKGROUND
        index.writer.append([row(1, *NORTH), row(2, 1, 1, 0, 0), row(3, *EAST)])
        size, mean, deviation = index.reader().measure_background(unit(*EAST))
        assert size == 3
        assert (mean, deviation) == pytest.approx((0.569036, 0.419812), abs=5e-4)

    def test_ties_go_to_the_smaller_key_also_at_the_limit(self, index: Index) -> None:
        index.writer.append([row(key, *EAST) for key in (9, 4, 7, 2)])
        index.writer.append([row(1, *NORTH)])
        assert [key for key, _ in index.reader().find_nearest(unit(*EAST), 3)] == [2, 4, 7]

    def test_filters_apply_before_the_limit(self, index: Index) -> None:
        index.writer.append([row(key, 1, key / 1000, 0, 0) for key in range(100)])
        hits = index.reader().find_nearest(unit(*EAST), 2, [Key(50), Key(97), Key(98), Key(5000)])
        assert [key for key, _ in hits] == [50, 97]
        assert index.reader().find_nearest(unit(*EAST), 2, []) == []

    def test_a_key_stored_twice_is_found_once_with_its_latest_vector(self, index: Index) -> None:
        index.writer.append([row(1, *NORTH), row(2, *UP)])
        index.writer.append([row(1, *EAST)])
        assert index.reader().find_nearest(unit(*EAST), 9) == [(1, 1.0), (2, 0.0)]
        assert sorted(index.writer.list_keys(verify=True)) == [1, 1, 2]

    def test_deleted_rows_are_gone_everywhere(self, index: Index) -> None:
        index.writer.append([row(1, *EAST), row(2, *NORTH), row(3, *UP)])
        index.writer.delete([Key(1), Key(99)])
        side = index.reader()
        assert [key for key, _ in side.find_nearest(unit(*EAST), 9)] == [2, 3]
        assert side.count() == 2
        assert sorted(index.writer.list_keys()) == [2, 3]

    def test_vectors_come_back_as_stored(self, index: Index) -> None:
        index.writer.append([row(1, *EAST), row(2, 1, 2, 3, 4)])
        index.writer.save()
        found = index.writer.get([Key(2), Key(3)])
        assert list(found) == [2]
        assert np.allclose(found[Key(2)], unit(1, 2, 3, 4), atol=5e-4)

    def test_cosines_are_given_for_the_keys_that_exist(self, index: Index) -> None:
        index.writer.append([row(1, *EAST), row(2, *NORTH)])
        found = index.reader().compute_cosines(unit(1, 1, 0, 0), [Key(2), Key(7)])
        assert found == {2: pytest.approx(0.707107, abs=5e-4)}

    def test_saving_changes_no_row(self, index: Index) -> None:
        for key in range(12):
            index.writer.append([row(key, 1, key, 0, 0)])
        index.writer.delete([Key(3)])
        before = index.reader().find_nearest(unit(*EAST), 99)
        index.writer.save()
        assert index.reader().find_nearest(unit(*EAST), 99) == before
        assert sorted(index.writer.list_keys()) == [key for key in range(12) if key != 3]
