import random
from contextlib import closing

import apsw
import pytest
from kebab.store.sqlite.pages import PageCleaner

from kebab.store.sqlite.published import read_page_bytes, read_pages


def _fill(path, *, page=4096, rows=300, seed=1):
    chance = random.Random(seed)
    with closing(apsw.Connection(str(path))) as database:
        database.execute(f"PRAGMA page_size = {page}")
        database.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c BLOB) STRICT")
        database.execute("CREATE INDEX i ON t (b)")
        database.execute("CREATE TABLE w (a TEXT PRIMARY KEY, b TEXT) STRICT, WITHOUT ROWID")
        with database:
            for number in range(rows):
                size = chance.choice([10, 200, page, 3 * page])
                text = f"hushhush{number:06}" * (size // 14 + 1)
                database.execute("INSERT INTO t (b, c) VALUES (?, ?)", (text, text.encode()))
                database.execute("INSERT INTO w VALUES (?, ?)", (f"{number}{text[:60]}", text))
            for table in "tw":
                database.execute(f"DELETE FROM {table} WHERE a % 3 = 0 OR a LIKE '%7'")
                database.execute(f"UPDATE {table} SET b = substr(b, 1, 30) WHERE a % 5 = 0")


def _clean(path):
    with closing(apsw.Connection(str(path))) as database:
        roots = [int(row[0]) for row in database.execute("SELECT rootpage FROM sqlite_schema")]
    with closing(PageCleaner(path)) as cleaner, path.open("r+b") as file:
        for number, page in cleaner.clean([1, *roots]):
            file.seek((number - 1) * cleaner.size)
            file.write(page)


def _dump(path):
    with closing(apsw.Connection(str(path))) as database:
        assert database.execute("PRAGMA integrity_check").get == "ok"
        return [list(database.execute(f"SELECT * FROM {table} ORDER BY a")) for table in "tw"]


@pytest.mark.parametrize("page", [512, 1024, 4096, 65_536])
def test_nothing_of_deleted_rows_is_left_and_every_other_row_is(tmp_path, page):
    path = tmp_path / "x.sqlite"
    _fill(path, page=page)
    before = _dump(path)
    live = {row[1][8:14] for rows in before for row in rows}
    gone = [f"hushhush{number:06}".encode() for number in range(300) if f"{number:06}" not in live]
    assert any(text in path.read_bytes() for text in gone)
    _clean(path)

    assert _dump(path) == before
    assert not [text for text in gone if text in path.read_bytes()]
    assert read_page_bytes(path) == page
    assert b"".join(read_pages(path)) == path.read_bytes()


def test_a_cleaned_file_can_be_written_again(tmp_path):
    path = tmp_path / "x.sqlite"
    _fill(path)
    _clean(path)
    with closing(apsw.Connection(str(path))) as database, database:
        for number in range(500):
            database.execute("INSERT INTO t (b) VALUES (?)", ("again" * number,))

    assert len(_dump(path)[0]) > 500


def test_cleaning_twice_changes_nothing(tmp_path):
    path = tmp_path / "x.sqlite"
    _fill(path)
    _clean(path)
    once = path.read_bytes()
    _clean(path)

    assert path.read_bytes() == once
