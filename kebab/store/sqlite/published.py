"""Copies the index for a published base, and adapts the copy of a reader.

The copy keeps the numbers of the pages, so that pages that did not change are equal in two copies.
What SQLite leaves behind in pages, of rows that were deleted, is zeroed.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from kebab.core.documents import PUBLISHED_ROOT, STDIN
from kebab.errors.catalog import StoreCorrupt
from kebab.store.sqlite import connection, fts
from kebab.store.sqlite.archive import SECRET_KEYS, open_copy
from kebab.store.sqlite.pages import PageCleaner

_LEFT_OUT = ("query_cache", "vector_garbage", "turns", "runs", "listed_folders")


def copy_for_publication(data_dir: Path, target: Path) -> dict[str, str]:
    """Write a copy of one state of the index without what is private, also while others write.

    It has no sessions, cached queries, salts and times of runs, and no absolute paths of folders:
    a source is named by the last part of its folder.

    Returns:
        The folder of each source here, by its name in the copy.

    Raises:
        NotIndexed: There is no index with the schema of this build.
        IoError: The file system refused.
        StoreCorrupt: The index is damaged.
    """
    with (
        connection.translate_sqlite_errors(str(target), "write"),
        closing(connection.open_reader(data_dir)) as database,
        closing(apsw.Connection(str(target))) as copy,
    ):
        with copy.backup("main", database, "main") as backup:
            backup.step()
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()
    with open_copy(target) as copy:
        copy.execute("PRAGMA secure_delete = ON")
        for table in _LEFT_OUT:
            copy.execute(f"DELETE FROM {table}")  # noqa: S608 - a fixed name
        for name in SECRET_KEYS:
            connection.set_value(copy, name, None)
        copy.execute("DELETE FROM kv WHERE name LIKE '%:%'")  # they are about folders
        rows: list[Any] = copy.execute(
            "SELECT source, root, kind FROM sources ORDER BY source"
        ).fetchall()
        names = dict(zip((row[0] for row in rows), _choose_names(rows), strict=True))
        copy.execute("UPDATE sources SET name = '/' || source")  # two may change places
        for source, _, kind in rows:
            copy.execute(
                "UPDATE sources SET name = ?2, root = ?3, kind = ?4, listed_rules = ''"
                " WHERE source = ?1",
                (
                    source,
                    names[source],
                    f"{PUBLISHED_ROOT}{names[source]}",
                    kind if kind == STDIN else "files",
                ),
            )
    _clean_pages(target)
    return {names[source]: root for source, root, _ in rows}


def _choose_names(rows: list[tuple[int, str, str]]) -> Iterator[str]:
    """Yield the names of sources: the last part of each folder, numbered where several have it."""
    seen: Counter[str] = Counter()
    for _, root, kind in rows:
        base = STDIN if kind == STDIN else os.path.basename(root.rstrip("/")) or "files"  # noqa: PTH119
        seen[base] += 1
        yield base if seen[base] == 1 else f"{base}-{seen[base]}"


def _clean_pages(path: Path) -> None:
    """Zero what is not in use in the pages of a copy, and check the copy."""
    with connection.translate_sqlite_errors(str(path), "write"):
        with closing(apsw.Connection(str(path))) as database:
            roots = [int(row[0]) for row in database.execute("SELECT rootpage FROM sqlite_schema")]
        with closing(PageCleaner(path)) as cleaner, path.open("r+b") as file:
            for number, page in cleaner.clean([1, *filter(None, roots)]):
                file.seek((number - 1) * cleaner.size)
                file.write(page)
        with closing(apsw.Connection(str(path))) as database:
            fault = database.execute("PRAGMA quick_check(1)").get
        if fault != "ok":
            raise StoreCorrupt(path=str(path), cause=str(fault))


def read_page_bytes(path: Path) -> int:
    """Return the size of a page of a database file."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(18)[16:18], "big")
    return 65_536 if size == 1 else size


def read_pages(path: Path) -> Iterator[bytes]:
    """Yield the pages of a database file in order."""
    size = read_page_bytes(path)
    with path.open("rb") as file:
        while page := file.read(size):
            yield page


_TOP_TABLES = (
    "chunks_doc",
    "chunks_fts_config",
    "chunks_fts_docsize",
    "chunks_fts_idx",
    "document_aliases",
    "document_authors",
    "document_names",
    "document_names_end",
    "document_names_word",
    "document_tags",
    "documents",
    "documents_asset",
    "kv",
    "sources",
    "sqlite_schema",
)
"""What every search reads: without texts, words and vectors it is a small part of an index."""


def list_top_pages(path: Path) -> list[int]:
    """Return the numbers, from 0, of the pages of a copy that nearly every search reads.

    They are those above the leaves of every tree, and all pages of some tables.
    """
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as database:
        rows = database.execute(
            "SELECT pageno - 1 FROM dbstat WHERE pagetype = 'internal'"
            " OR name IN (SELECT value FROM json_each(?)) ORDER BY pageno",
            (fts.to_json(_TOP_TABLES),),
        )
        return [int(number) for (number,) in rows]


def adapt_published(path: Path, folders: Mapping[str, str]) -> None:
    """Give a copy of a reader the folders of the files that came with it.

    `folders` has the folder of each such source by its name.
    """
    with open_copy(path) as copy:
        for name, folder in folders.items():
            copy.execute("UPDATE sources SET root = ?2 WHERE name = ?1", (name, folder))
