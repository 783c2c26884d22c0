from contextlib import closing

import apsw
import pytest

from kebab.errors.catalog import StoreCorrupt
from kebab.store.sqlite.connection import get_database_path
from kebab.store.sqlite.copies import (
    adopt_copy,
    copy_database,
    find_contents,
    move_aside,
    read_contents,
)
from tests.fakes.rows import document


def test_a_copy_is_whole_while_a_writer_is_at_work(writer, tmp_path):
    target = tmp_path / "copy.sqlite"

    copy_database(get_database_path(tmp_path), target)
    writer.put_document(document("b.md", ["snow"]))

    assert read_contents(target)[2:] == (1, 1, 0, 0)


def test_a_damaged_database_tells_nothing(tmp_path):
    path = tmp_path / "kebab.sqlite"
    path.write_bytes(b"no database" * 100)

    assert find_contents(path) is None
    with pytest.raises(StoreCorrupt):
        adopt_copy(path)


@pytest.mark.parametrize(
    "sql", ["PRAGMA user_version = 0", "CREATE TRIGGER t AFTER INSERT ON kv BEGIN SELECT 1; END"]
)
def test_a_database_that_kebab_did_not_write_is_refused(stored, tmp_path, sql):
    stored.database.close()
    path = get_database_path(tmp_path)
    adopt_copy(path)
    with closing(apsw.Connection(str(path))) as database:
        database.execute(sql)

    with pytest.raises(StoreCorrupt):
        adopt_copy(path)


def test_a_database_moves_aside_with_its_log_and_replaces_nothing(tmp_path):
    path, moved = tmp_path / "kebab.sqlite", []
    for text in ("first", "second"):
        for end in ("", "-wal"):
            (tmp_path / f"kebab.sqlite{end}").write_text(text)
        moved.append(move_aside(path, 0.0))

    assert [one.read_text() for one in moved] == ["first", "second"]
    assert [one.with_name(f"{one.name}-wal").read_text() for one in moved] == ["first", "second"]
    assert moved[0].name == "kebab.sqlite.damaged-19700101T000000Z"
    assert not path.exists()
