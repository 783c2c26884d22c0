from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kebab.core.ids import ChunkId, DocId, Key
from kebab.core.queries import Filters, Query, StoredChunk
from kebab.errors.catalog import InvalidInput, StoreCorrupt
from kebab.search.engine import SearchEngine
from kebab.store.lance.remote import Passage, RemoteLibrary, Versions, write_passages
from kebab.text.tokenizer import join_tokens
from tests.fakes.embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
TEXTS = [
    "The cat sleeps on the mat.",
    "A dog barks at the mailman.",
    "Sourdough needs flour, water and time.",
    "The mailman's cat has a name: l'été.",
    "각주는 문서의 끝에 있는 설명이다.",
]


def make_chunk(number: int, text: str) -> StoredChunk:
    return StoredChunk(
        key=Key(number),
        chunk_id=ChunkId(f"{number:032x}"),
        doc_id=DocId(f"{number:032x}"),
        ordinal=0,
        text=text,
        start_line=1,
        end_line=1,
        heading_path=("Notes",),
        source="notes",
        root="/home/me/notes",
        path=f"{'old/' if number > 3 else ''}{number}.md",
        title=f"Note {number}",
        media="text/markdown",
        lang="en",
        tags=("odd",) if number % 2 else (),
        size=10,
        mtime_ns=number * 1_000_000_000,
        indexed_at=1.0,
        chunker_version="c",
        embedding_version=EMBEDDER.version,
    )


def publish(folder: Path, texts: list[str]) -> Versions:
    parts = [
        [Passage(make_chunk(number, text), join_tokens(text), EMBEDDER.embed_query(text))]
        for number, text in enumerate(texts, 1)
    ]
    done = list[int]()
    versions = write_passages(str(folder), parts, EMBEDDER.dimension, done.append)
    assert done == list(range(1, len(texts) + 1))
    return versions


def find(library: RemoteLibrary, text: str, **fields: Any) -> list[str]:
    engine = SearchEngine(library, lambda: library, lambda: EMBEDDER)
    return [hit.chunk.text for hit in engine.search(Query(text=text, **fields)).hits]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> RemoteLibrary:
    folder = tmp_path_factory.mktemp("base")
    return RemoteLibrary(str(folder), publish(folder, TEXTS), {"name": "value"})


def test_the_search_engine_runs_over_the_tables(library: RemoteLibrary) -> None:
    assert find(library, "sourdough flour")[0] == TEXTS[2]
    assert find(library, "설명")[0] == TEXTS[4]
    assert find(library, "cat", filters=Filters(path_glob="old/*"))[0] == TEXTS[3]


@pytest.mark.parametrize(
    ("filters", "keys"),
    [
        (Filters(tag=("odd",)), [1, 3, 5]),
        (Filters(tag=("it's",)), []),
        (Filters(path_glob="?.md"), [1, 2, 3]),
        (Filters(path_glob="**.md", since=4.0), [4, 5]),
        (Filters(lang=("en",), media=("text/markdown",), until=2.0), [1]),
        (Filters(doc_id=f"{2:032x}", source=("notes",)), [2]),
    ],
)
def test_filters_are_conditions_of_the_store(
    library: RemoteLibrary, filters: Filters, keys: list[int]
) -> None:
    allowed = library.list_allowed_keys(filters)
    assert allowed is not None
    assert list(allowed) == keys
    near = library.find_nearest(EMBEDDER.embed_query(TEXTS[0]), 9, allowed)
    assert sorted(key for key, _ in near) == keys


@pytest.mark.parametrize("match", ['"cat" NOT ("dog")', 'title : "cat"', '"ca" *'])
def test_what_the_words_of_the_store_cannot_answer_is_refused(
    library: RemoteLibrary, match: str
) -> None:
    with pytest.raises(InvalidInput):
        library.search_lexical(match, Filters(), 5)


def test_words_are_counted_and_listed(library: RemoteLibrary) -> None:
    assert library.get_document_frequencies(["cat", "nowher"]) == {"cat": 2, "nowher": 0}
    assert library.list_tokens("mailm") == ["mailman"]
    assert [key for key, _ in library.search_lexical('"dog" OR "mat"', Filters(), 5)] == [1, 2]


def test_a_passage_comes_back_without_the_folder_of_its_source(library: RemoteLibrary) -> None:
    assert library.load_chunks([Key(2), Key(9)]) == [
        make_chunk(2, TEXTS[1])._replace(root="", vector_state="committed")
    ]
    assert library.get_value("name") == "value"


def test_cosines_are_those_of_the_stored_vectors(library: RemoteLibrary) -> None:
    query = EMBEDDER.embed_query(TEXTS[0])
    found = library.compute_cosines(query, [Key(1), Key(2), Key(77)])
    expected = float(np.dot(query, EMBEDDER.embed_query(TEXTS[1])))
    assert found == pytest.approx({1: 1.0, 2: expected}, abs=1e-5)
    assert library.measure_background(query).size == len(TEXTS)


def test_a_reader_stays_at_its_version(tmp_path: Path) -> None:
    old = RemoteLibrary(str(tmp_path), publish(tmp_path, TEXTS), {})
    new = RemoteLibrary(str(tmp_path), publish(tmp_path, [*TEXTS, "A penguin swims."]), {})
    assert (old.count_chunks(), new.count_chunks()) == (5, 6)
    assert find(new, "penguin")[0] == "A penguin swims."
    assert "A penguin swims." not in find(old, "penguin")


def test_tables_that_are_gone_are_an_error_of_the_store(tmp_path: Path) -> None:
    with pytest.raises(StoreCorrupt):
        RemoteLibrary(str(tmp_path), Versions(1, 1), {})
