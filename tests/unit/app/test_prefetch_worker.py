import os
from multiprocessing.connection import Connection

import pytest

from kebab.app import prefetch_worker
from kebab.core.documents import Source
from kebab.core.files import FileEntry
from kebab.core.ids import DocId
from kebab.ingest.build import compute_recipes
from kebab.ingest.prefetch import BuilderSettings, BuildTask
from kebab.parse.registry import PARSERS

TERMS = BuilderSettings(254, "c", compute_recipes(PARSERS, "c"), 30.0)


def task(path, media="text/markdown"):
    source = Source(name=str(path.parent), root=str(path.parent), kind="folder")
    return BuildTask(source, FileEntry(path.name, str(path), 1, 1, 1, media), DocId("d"))


def test_it_answers_until_there_is_nobody_to_ask(tmp_path):
    (tmp_path / "a.md").write_text("# A")
    asked, answers = os.pipe(), os.pipe()
    to, back = Connection(asked[1], readable=False), Connection(answers[0], writable=False)
    to.send(TERMS)
    to.send([task(tmp_path / "a.md"), task(tmp_path / "b.md")])
    to.close()

    prefetch_worker.main(str(asked[0]), str(answers[1]))

    found = back.recv()
    assert [one.row.title if one else None for one in found] == ["A", None]
    with pytest.raises(EOFError):
        back.recv()
