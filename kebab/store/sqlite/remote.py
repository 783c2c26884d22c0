"""Reads a published database whose pages come from a store, and keeps what was read.

SQLite reads through a virtual file system of this module. Round trips are few, because what a
search will read is looked up in the upper pages of the trees and loaded together before SQLite
asks for it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import apsw

from kebab.core.chunks import KeyedScore
from kebab.core.documents import CURSOR_SALT, PUBLISHED_ROOT, STDIN
from kebab.core.ids import DocNumber, Key
from kebab.core.ports import RemotePages
from kebab.core.queries import Filters, StoredChunk
from kebab.errors.catalog import StoreCorrupt
from kebab.store.sqlite import connection, fts
from kebab.store.sqlite.catalogue import read_objects
from kebab.store.sqlite.pages import read_varint
from kebab.store.sqlite.reader import DocumentNumbers, SqliteReader

WORD_BYTES = 1_000_000
"""How much of the word index one search loads; its commonest words are left out beyond it."""
_INNER_TABLE = 5
_SEGMENT_SHIFT, _LEAVES = 37, 1 << 31
"""Row numbers of the word index are a segment, then flags of pages above, then a leaf (FTS5)."""
_PAGE_OF = "SELECT pgno >> 1 FROM chunks_fts_idx WHERE segid = ? AND term"
_PAGE_BEFORE = f"{_PAGE_OF} <= ? ORDER BY term DESC LIMIT 1"
_PAGE_AFTER = f"{_PAGE_OF} > ? ORDER BY term LIMIT 1"
_BYTES_OF_ENTRY = 6
"""About how many bytes of the word index a passage takes for each of its words."""
_MAIN_INDEX = b"0"
"""How the terms of the word index begin there; those of an index of prefixes have other signs."""


class ItemCache:
    """Compressed parts of published bases by their identity; any of them may be missing.

    No method fails. Beyond `most` bytes nothing more is stored.
    """

    def __init__(self, path: Path, most: int) -> None:
        self._most = most
        self._database = apsw.Connection(str(path))
        self._database.set_busy_timeout(5_000)
        self._database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS items (id BLOB PRIMARY KEY, data BLOB NOT NULL)"
        )

    def get(self, identity: bytes) -> bytes | None:
        """Return what is stored; None without it."""
        with suppress(apsw.Error):
            for (data,) in self._database.execute(
                "SELECT data FROM items WHERE id = ?", (identity,)
            ):
                return bytes(data)
        return None

    def find_missing(self, identities: Sequence[bytes]) -> set[bytes]:
        """Return those that are not stored."""
        with suppress(apsw.Error):
            held = {
                one
                for one in identities
                if self._database.execute("SELECT 1 FROM items WHERE id = ?", (one,)).fetchone()
            }
            return {*identities} - held
        return {*identities}

    def put(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store items if that is possible."""
        items = [*items]
        if not items:
            return
        with suppress(apsw.Error), self._database:
            if self._measure() > self._most:
                return
            self._database.executemany(
                "INSERT OR IGNORE INTO items (id, data) VALUES (?, ?)", items
            )

    def delete(self, identity: bytes) -> None:
        """Delete an item."""
        with suppress(apsw.Error):
            self._database.execute("DELETE FROM items WHERE id = ?", (identity,))

    def make_room(self) -> None:
        """Delete the half that was stored first if the cache is full."""
        with suppress(apsw.Error), self._database:
            if self._measure() > self._most:
                middle = "SELECT (min(rowid) + max(rowid)) / 2 FROM items"
                self._database.execute(f"DELETE FROM items WHERE rowid <= ({middle})")  # noqa: S608 - a constant

    def _measure(self) -> int:
        """Return how many bytes are in use."""
        count, free, size = (
            int(self._database.execute(f"PRAGMA {name}").get)
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (count - free) * size

    def close(self) -> None:
        """Close the connection."""
        self._database.close()


class _PageFile(apsw.VFSFile):
    """An empty file of the size of the database, in whose place pages are read."""

    def __init__(
        self, name: str | apsw.URIFilename | None, flags: list[int], pages: RemotePages
    ) -> None:
        super().__init__("", name, flags)
        self._pages = pages

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - the name is SQLite's
        """Return bytes, fewer at the end of the file."""
        size = self._pages.page_bytes
        number, start = divmod(offset, size)
        found = b""
        while len(found) < amount and number < self._pages.count:
            found += self._pages.read(number)[start : start + amount - len(found)]
            number, start = number + 1, 0
        return found


class _PageSystem(apsw.VFS):
    """The virtual file system of one database."""

    def __init__(self, name: str, pages: RemotePages) -> None:
        super().__init__(name, "")
        self._pages = pages

    def xOpen(  # noqa: N802 - the name is SQLite's
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        """Open the database; there are no other files."""
        return _PageFile(name, flags, self._pages)


def mount_pages(path: Path, pages: RemotePages) -> Callable[[], None]:
    """Let connections to a path read pages, until the returned function is called.

    The file has the size of the database and no content. Several may be mounted at one path.
    """
    name = f"kebab-{id(pages)}"
    system, names = _PageSystem(name, pages), connection.MOUNTED.setdefault(str(path), [])
    names.append(name)

    def unmount() -> None:
        names.remove(name)
        system.unregister()

    return unmount


def check_schema(path: Path) -> None:
    """Refuse a database that kebab did not write, or another version of it.

    Raises:
        NotIndexed: It has another schema than this build.
        StoreCorrupt: Something in it does not come from kebab.
    """
    with (
        connection.translate_sqlite_errors(str(path), "read"),
        closing(connection.open_reader(path.parent)) as database,
    ):
        if read_objects(database) != read_objects(connection.create_schema()):
            raise StoreCorrupt(path=str(path), cause="its tables do not come from kebab")
        for name, root, kind in database.execute("SELECT name, root, kind FROM sources"):
            is_plain = "/" not in name and name not in ("", ".", "..")
            if not is_plain or root != f"{PUBLISHED_ROOT}{name}" or kind not in ("files", STDIN):
                raise StoreCorrupt(path=name, cause=f"not a published source: {name}")
        for (file,) in database.execute("SELECT path FROM documents"):
            if "\0" in file or {"", ".", ".."} & {*file.split("/")}:
                raise StoreCorrupt(path=str(path), cause=f"not a path below a source: {file}")


class PageFinder:
    """Finds the pages of rows, without reading them."""

    def __init__(self, database: apsw.Connection, pages: RemotePages) -> None:
        self._pages = pages
        self._database = database
        self._roots = dict(
            database.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'")
        )
        self._inner: dict[int, list[tuple[int, int]]] = {}

    def find_pages(self, table: str, rowids: Iterable[int]) -> set[int]:
        """Return the leaves, by their numbers from 0, that may hold the rows of a table."""
        return {self._descend(self._roots[table] - 1, rowid) for rowid in rowids}

    def _descend(self, number: int, rowid: int) -> int:
        for _ in range(20):
            children = self._inner.get(number)
            if children is None:
                children = self._inner[number] = [*self._list_children(number)]
            if not children:
                return number
            number = next((child for child, last in children if rowid <= last), children[-1][0])
        return number

    def _list_children(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield each child of a page with its highest row; none of a leaf."""
        if not self._pages.is_top(number):
            return
        page = self._pages.read(number)
        start = 100 if number == 0 else 0
        if page[start] != _INNER_TABLE:
            return
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        for cell in range(cells):
            at = start + 12 + 2 * cell
            place = int.from_bytes(page[at : at + 2], "big")
            child = int.from_bytes(page[place : place + 4], "big")
            yield child - 1, read_varint(page, place + 4)[0]
        yield int.from_bytes(page[start + 8 : start + 12], "big") - 1, 1 << 63

    def find_word_pages(self, word: str) -> set[int]:
        """Return the pages that may hold the passages of a word."""
        term = _MAIN_INDEX + word.translate(fts.ASCII_LOWER).encode()
        rows: list[int] = []
        for (segment,) in self._database.execute("SELECT DISTINCT segid FROM chunks_fts_idx"):
            number = int(segment)
            before, after = (
                self._database.execute(sql, (number, term)).fetchone()
                for sql in (_PAGE_BEFORE, _PAGE_AFTER)
            )
            first = int(before[0]) if before else 1
            # Without a later term the word may reach to the end of the segment.
            last = int(after[0]) if after else self._find_last(number)
            rows += range((number << _SEGMENT_SHIFT) + first, (number << _SEGMENT_SHIFT) + last + 1)
        return self.find_pages("chunks_fts_data", rows)

    def _find_last(self, segment: int) -> int:
        last = "SELECT max(id) FROM chunks_fts_data WHERE id < ?"
        found = self._database.execute(last, ((segment << _SEGMENT_SHIFT) + _LEAVES,)).get
        return int(found) & (_LEAVES - 1)


class RemoteReader(SqliteReader):
    """A reader of a published database whose pages come from a store."""

    def attach(self, pages: RemotePages, chunks: int, salt: str) -> None:
        """Read through `pages`; `chunks` is the number of passages."""
        self._pages, self._chunks, self._salt = pages, chunks, salt
        self._finder = PageFinder(self._database, pages)
        self._known: set[str] = set()
        self._skipped: dict[str, int] = {}

    def begin_snapshot(self) -> bool:
        """Begin a new snapshot after closing; return whether that was possible."""
        self._skipped = {}
        return super().begin_snapshot()

    def get_value(self, name: str) -> str | None:
        """Return a stored value by name; the salt is of this machine."""
        return self._salt if name == CURSOR_SALT else super().get_value(name)

    def count_chunks(self) -> int:
        """Return how many chunks the snapshot holds."""
        return self._chunks

    def get_document_frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many chunks each term occurs; of the commonest words about how many.

        The rarest words are loaded, as far as the bytes for one search reach.
        """
        with connection.translate_sqlite_errors(self.path, "read"):
            self._load_words(terms)
        counts = super().get_document_frequencies([one for one in terms if one in self._known])
        return {**{term: self._skipped[term] for term in terms if term in self._skipped}, **counts}

    def _load_words(self, terms: Collection[str]) -> None:
        new = [term for term in terms if term not in self._known and term not in self._skipped]
        found = {term: self._finder.find_word_pages(term) for term in new}
        wanted: set[int] = set()
        for term in sorted(new, key=lambda one: len(found[one])):
            if self._pages.measure(wanted | found[term]) > WORD_BYTES:
                most = len(found[term]) * self._pages.page_bytes // _BYTES_OF_ENTRY
                self._skipped[term] = min(most, self._chunks)
            else:
                wanted |= found[term]
                self._known.add(term)
        self._pages.load(wanted)
        self._pages.skipped.update(self._skipped)

    def search_lexical(
        self, match: str, filters: Filters, limit: int, plain: Sequence[str] = ()
    ) -> list[KeyedScore]:
        """Return chunks that match; the words that were not loaded are left out of plain ones."""
        kept = [term for term in plain if term not in self._skipped]
        if plain and len(kept) < len(plain):
            match = " OR ".join('"{}"'.format(term.replace('"', '""')) for term in kept)
        return super().search_lexical(match, filters, limit, kept) if match else []

    def find_committed_keys(self, keys: Collection[Key]) -> set[Key]:
        """Return those of the chunks that have a vector, which all published ones have."""
        return {*keys}

    def find_doc_numbers(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return document numbers of this snapshot by chunk; unknown keys are left out."""
        with connection.translate_sqlite_errors(self.path, "read"):
            table = self._get_cache().document_numbers
            table.table = table.table or DocumentNumbers(self._database)
            return table.table.find(keys)

    def load_chunks(self, keys: Sequence[Key]) -> list[StoredChunk]:
        """Return chunks in the order of their keys; unknown keys are left out."""
        with connection.translate_sqlite_errors(self.path, "read"):
            self._load_rows(keys)
        return super().load_chunks(keys)

    def load_texts(self, keys: Collection[Key]) -> dict[Key, str]:
        """Return the texts of chunks; unknown keys are left out."""
        with connection.translate_sqlite_errors(self.path, "read"):
            self._load_rows(keys)
        return super().load_texts(keys)

    def _load_rows(self, keys: Collection[Key]) -> None:
        pages = {
            page for table in ("chunks", "vectors") for page in self._finder.find_pages(table, keys)
        }
        self._pages.load(pages)
