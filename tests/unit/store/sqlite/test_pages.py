from contextlib import closing

import apsw
import pytest

from kebab.store.sqlite.connection import get_database_path
from kebab.store.sqlite.pages import DatabasePages
from kebab.store.sqlite.salvage import read_tables
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.rows import NOTES, document

PAGE = 4096


@pytest.fixture
def path(tmp_path):
    with SqliteWriter(tmp_path, str) as writer:
        writer.add_source(NOTES)
        for number in range(40):
            # The longest text needs a chain of overflow pages.
            texts = [f"{number} {'long ' * (4000 if number == 7 else 100)}", f"{number} short"]
            tags = ("a", f"t{number}")
            writer.put_document(document(f"{number}.md", texts, tags=tags, lang=None))
        writer.checkpoint()
    return get_database_path(tmp_path)


def read(path):
    pages = DatabasePages(path)
    roots = pages.read_roots()
    rows = {
        name: list(pages.read_table(table, roots.get(name)))
        for name, table in read_tables().items()
    }
    for table, adopted in pages.adopt_leaves():
        rows[table.name] += adopted
    return rows, {table.name for table in pages.torn}


def select(path):
    with closing(apsw.Connection(str(path))) as database:
        return {
            name: database.execute(
                f"SELECT {', '.join(chr(34) + column.name + chr(34) for column in table.columns)}"
                f" FROM {name}"
            ).fetchall()
            for name, table in read_tables().items()
        }


def find_pages(path, kind):
    with closing(apsw.Connection(str(path))) as database:
        sql = "SELECT pageno FROM dbstat WHERE name = 'chunks' AND pagetype = ?"
        return [page for (page,) in database.execute(sql, (kind,))]


def overwrite(path, page):
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xff" * PAGE)


def test_the_rows_of_a_sound_file_are_those_of_sqlite(path):
    rows, torn = read(path)

    assert torn == set()
    for name, expected in select(path).items():
        assert sorted(rows[name], key=repr) == sorted(expected, key=repr), name


def test_a_damaged_leaf_costs_its_own_rows(path):
    before = len(select(path)["chunks"])
    overwrite(path, find_pages(path, "leaf")[2])

    rows, torn = read(path)

    assert torn == {"chunks"}
    assert before - 20 < len(rows["chunks"]) < before


def test_leaves_without_their_root_go_to_the_table_that_they_fit(path):
    expected = select(path)["chunks"]
    (root,) = find_pages(path, "internal")
    overwrite(path, root)

    rows, torn = read(path)

    assert torn == {"chunks"}
    assert sorted(rows["chunks"]) == sorted(expected)


def test_committed_pages_of_the_log_are_read_and_torn_ones_are_not(path):
    with closing(apsw.Connection(str(path))) as database:
        database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        for value in ("first", "second"):
            database.execute("INSERT OR REPLACE INTO kv VALUES ('probe', ?)", (value,))
        log = path.with_name(f"{path.name}-wal")
        whole = log.read_bytes()
        copy = path.with_name("copy.sqlite")
        copy.write_bytes(path.read_bytes())

    def find(data):
        copy.with_name("copy.sqlite-wal").write_bytes(data)
        return dict(read(copy)[0]["kv"]).get("probe")

    assert find(whole) == "second"
    assert find(whole[:-100]) == "first"
    assert find(whole[:40] + b"\0" + whole[41:]) is None


@pytest.mark.parametrize("data", [b"", b"x" * 5000, b"SQLite format 3\0" + b"\0" * 9000])
def test_a_file_without_a_table_has_no_rows(path, data):
    path.write_bytes(data)

    assert not any(read(path)[0].values())
