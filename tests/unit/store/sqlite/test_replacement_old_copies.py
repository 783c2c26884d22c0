from contextlib import closing

import apsw
import pytest

from kebab.store.sqlite.replacement import keep_old_copy, list_old_copies


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.sqlite"
    with closing(apsw.Connection(str(path))) as database:
        database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    return path


def test_a_copy_replaces_those_of_earlier_schemas(path):
    path.with_name("x.sqlite.V001").write_text("earlier")
    path.with_name("x.sqlite.V003.draft").write_text("interrupted")
    with closing(apsw.Connection(str(path))) as database:
        copy = keep_old_copy(database, 3)
    assert list_old_copies(path) == [copy]
    with closing(apsw.Connection(str(copy))) as database:
        assert database.execute("SELECT a FROM t").get == 1


def test_without_room_nothing_changes(path):
    path.with_name("x.sqlite.V001").write_text("earlier")
    path.with_name("x.sqlite.V003.draft").mkdir()
    with closing(apsw.Connection(str(path))) as database, pytest.raises(OSError):  # noqa: PT011
        keep_old_copy(database, 3)
    assert path.with_name("x.sqlite.V001").exists()
