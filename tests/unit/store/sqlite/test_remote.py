import sqlite3
from contextlib import closing

import apsw
import pytest

from kebab.core.ids import Key
from kebab.core.queries import Filters
from kebab.errors.catalog import IoError, StoreCorrupt
from kebab.store.sqlite import connection, remote
from kebab.store.sqlite.published import list_top_pages
from kebab.store.sqlite.remote import ItemCache, PageFinder, RemoteReader, check_schema, mount_pages

ROWS = 3_000


class FilePages:
    """The pages of a file, as a store would give them; remembers which were loaded singly."""

    def __init__(self, path, folder):
        self.page_bytes, self.skipped, self.late = 4096, {}, []
        self._data, self._top = path.read_bytes(), set(list_top_pages(path))
        self.count, self._loaded = len(self._data) // 4096, set(self._top)
        self.broken = False
        with (folder / connection.FILE_NAME).open("wb") as file:
            file.truncate(len(self._data))
        self.unmount = mount_pages(folder / connection.FILE_NAME, self)

    def read(self, number):
        if self.broken:
            raise IoError(path="store", op="read", cause="gone")
        if number not in self._loaded:
            self.late.append(number)
        return self._data[number * 4096 : (number + 1) * 4096]

    def is_top(self, number):
        return number in self._top

    def measure(self, numbers):
        return 4096 * len({*numbers} - self._loaded)

    def load(self, numbers):
        self._loaded |= {*numbers}


@pytest.fixture
def pages(tmp_path):
    data, folder = tmp_path / "data", tmp_path / "remote"
    folder.mkdir()
    with closing(connection.open_writer(data)) as database, database:
        database.execute("INSERT INTO sources VALUES (1, 's', '/.kebab-published/s', 'files', '')")
        database.execute("INSERT INTO assets VALUES (1, 'x', 1)")
        database.execute(
            "INSERT INTO documents (doc, doc_id, source, path, asset, title, media, size, mtime_ns,"
            " inode, recipe, parser_version, chunker_version, indexed_at, warnings)"
            " VALUES (1, 'd', 1, 'a.md', 1, 'A', 'text/markdown', 1, 1, 1, '', '', '', 1.0, '[]')"
        )
        for key in range(1, ROWS + 1):
            database.execute(
                'INSERT INTO chunks (key, chunk_id, doc, ordinal, start, "end", start_line,'
                " end_line, heading_path, text, text_hash, embed_hash)"
                " VALUES (?1, 'c' || ?1, 1, ?1, 0, 1, 1, 1, '[]', ?2, 'h', 'e' || ?1)",
                (key, f"text {key} " * 40),
            )
            database.execute("INSERT INTO vectors VALUES (?, 'committed', 'v')", (key,))
            words = f"common w{key % 700} only{key}"
            database.execute(
                "INSERT INTO chunks_fts (rowid, title, headings, body) VALUES (?, '', '', ?)",
                (key, words),
            )
        database.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')")
    with closing(apsw.Connection(str(data / "kebab.sqlite"))) as database:
        database.execute("PRAGMA journal_mode = DELETE").fetchall()
    return FilePages(data / "kebab.sqlite", folder)


@pytest.fixture
def reader(pages, tmp_path):
    with RemoteReader(tmp_path / "remote") as found:
        found.attach(pages, ROWS, "salt")
        found.get_revision()
        yield found


def search(reader, *words):
    counts = reader.get_document_frequencies(words)
    found = reader.search_lexical(" OR ".join(words), Filters(), 20, list(words))
    return counts, [key for key, _ in found]


def test_what_a_search_reads_is_loaded_together(pages, reader):
    search(reader, "only5")  # loads what the word index itself needs
    pages.late.clear()
    assert search(reader, "w7", "only2345") == (
        {"w7": 5, "only2345": 1},
        [Key(2345), Key(7), Key(707), Key(1407), Key(2107), Key(2807)],
    )
    texts = reader.load_texts([Key(20), Key(2999)])

    assert texts[Key(2999)].startswith("text 2999 ")
    assert pages.late == []


def test_documents_and_counts_are_known_without_a_read_of_every_passage(pages, reader):
    pages.late.clear()

    assert reader.count_chunks() == ROWS
    assert reader.find_doc_numbers([Key(5), Key(ROWS + 1)]) == {Key(5): 1}
    assert reader.find_committed_keys([Key(5)]) == {Key(5)}
    assert reader.get_value("cursor_salt") == "salt"
    assert pages.late == []


def test_the_commonest_words_are_left_out_when_they_would_take_too_many_bytes(
    pages, reader, monkeypatch
):
    monkeypatch.setattr(remote, "WORD_BYTES", 2 * 4096)
    counts, found = search(reader, "common", "only77")

    assert found == [77]
    assert counts["only77"] == 1
    assert counts["common"] > ROWS / 4
    assert pages.skipped.keys() == {"common"}
    assert search(reader, "common")[1] == []


def test_a_word_that_was_left_out_is_read_when_the_query_demands_it(reader, monkeypatch):
    monkeypatch.setattr(remote, "WORD_BYTES", 2 * 4096)
    search(reader, "common", "only77")

    found = reader.search_lexical('"common" AND "only9"', Filters(), 20)
    assert [key for key, _ in found] == [9]


def test_a_fault_of_the_store_is_told_as_it_is(pages, reader):
    pages.broken = True
    with pytest.raises(IoError, match="gone"):
        reader.load_texts([Key(1500)])


def test_every_row_is_on_the_page_that_is_found(pages, reader):
    finder = PageFinder(reader.connection, pages)
    for key in (1, 2, ROWS // 2, ROWS):
        (number,) = finder.find_pages("chunks", [key])
        assert f"text {key} ".encode() in pages.read(number)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            "CREATE TRIGGER t AFTER UPDATE ON sources BEGIN DELETE FROM kv; END",
            "do not come from kebab",
        ),
        ("UPDATE sources SET root = '/etc'", "not a published source"),
        ("UPDATE sources SET name = '..', root = '/.kebab-published/..'", "not a published source"),
        ("UPDATE documents SET path = '../../etc/passwd'", "not a path below a source"),
    ],
)
def test_a_database_of_a_stranger_is_refused(pages, tmp_path, change, fault):
    check_schema(tmp_path / "remote" / "kebab.sqlite")
    other = tmp_path / "data" / "kebab.sqlite"
    with closing(sqlite3.connect(other)) as database:
        database.execute(change)
        database.commit()
    folder = tmp_path / "other"
    folder.mkdir()
    stranger = FilePages(other, folder)

    assert stranger.count
    with pytest.raises(StoreCorrupt, match=fault):
        check_schema(folder / "kebab.sqlite")


def test_a_full_cache_gives_room_to_what_comes_later(tmp_path):
    cache = ItemCache(tmp_path / "items.sqlite", 100_000)
    cache.put((bytes([number]), bytes(4_000)) for number in range(100))
    cache.put([(b"late", b"x")])
    assert cache.get(b"late") is None
    for _ in range(3):
        cache.make_room()
    cache.put([(b"late", b"x")])

    assert cache.get(b"late") == b"x"
    assert cache.get(bytes([0])) is None
    assert cache.get(bytes([99])) == bytes(4_000)
    cache.close()
