import os
from contextlib import closing
from pathlib import Path

import pytest

from kebab.errors.catalog import Locked
from kebab.store.sqlite import connection, lock
from kebab.store.sqlite.connection import open_reader, open_writer
from kebab.store.sqlite.lock import WriterLock

EXTRA = "stdin/text.md"


class Killed(BaseException):
    """The process ended here."""


def build(folder, name):
    """Write a knowledge base that knows its name, in the database and in a file beside it."""
    with closing(open_writer(folder)) as database:
        connection.set_value(database, "name", name)
    (folder / "stdin").mkdir()
    (folder / EXTRA).write_text(name)


def read(folder):
    with closing(open_reader(folder)) as database:
        return connection.get_value(database, "name"), (folder / EXTRA).read_text()


def replace(data):
    with WriterLock(data):
        build(lock.get_staging_folder(data), "new")
        lock.decide_replacement(data)
        lock.complete_replacement(data)


@pytest.mark.parametrize("call", [(Path, "rename"), (Path, "unlink"), (os, "fsync")])
def test_a_kill_at_any_step_leaves_the_old_or_the_new_base(tmp_path, monkeypatch, call):
    real = getattr(*call)
    states, data = [], tmp_path
    for step in range(100):
        data = tmp_path / str(step)
        build(data, "old")
        left = [step]

        def count(*args, left=left, **kwargs):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(*args, **kwargs)

        monkeypatch.setattr(*call, count)
        try:
            replace(data)
        except Killed:
            monkeypatch.setattr(*call, real)
            states.append(read(data))
            with WriterLock(data):
                assert not (data / lock.FOLDER).exists()
            assert read(data) == states[-1]
            continue
        monkeypatch.undo()
        break
    assert read(data) == ("new", "new")
    assert {*states} <= {("old", "old"), ("new", "new")}
    assert step > 0
    assert states == sorted(states, reverse=True), "once it is decided, it stays"
    assert len({*states}) == 2


def test_a_reader_waits_for_the_process_that_replaces(tmp_path, monkeypatch):
    build(tmp_path, "old")
    monkeypatch.setattr(lock, "_WAIT_S", 0.0)
    with WriterLock(tmp_path):
        build(lock.get_staging_folder(tmp_path), "new")
        lock.decide_replacement(tmp_path)
        with pytest.raises(Locked):
            open_reader(tmp_path)
    assert read(tmp_path) == ("new", "new")
