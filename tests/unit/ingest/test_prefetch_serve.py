import os
from multiprocessing.connection import Connection

import pytest

from kebab.chunk.budget import Budget
from kebab.core.documents import Source
from kebab.core.files import FileEntry
from kebab.core.ids import DocId
from kebab.ingest import prefetch
from kebab.ingest.build import DocumentBuilder, compute_recipes
from kebab.ingest.prefetch import BuildTask
from kebab.parse.registry import PARSERS, guard_parser

BUILDER = DocumentBuilder(
    parsers=PARSERS,
    guard=guard_parser,
    budget=Budget(),
    chunker="c",
    recipes=compute_recipes(PARSERS, "c"),
    deadline_s=30.0,
)


def task(path, media="text/markdown"):
    source = Source(name=str(path.parent), root=str(path.parent), kind="folder")
    return BuildTask(source, FileEntry(path.name, str(path), 1, 1, 1, media), DocId("d"))


def test_a_file_becomes_a_row(tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nText.")

    found = prefetch.build_document(BUILDER, task(tmp_path / "a.md"))

    assert found is not None
    assert (found.row.title, found.row.doc_id, len(found.row.chunks)) == ("A", "d", 1)
    assert found.duration_ms > 0


@pytest.mark.parametrize(
    ("data", "media"),
    [(None, "text/markdown"), (bytes(100), "text/markdown"), (b"text", "application/pdf")],
)
def test_a_file_with_an_error_is_left_to_the_caller(tmp_path, data, media):
    if data is not None:
        (tmp_path / "a").write_bytes(data)

    assert prefetch.build_document(BUILDER, task(tmp_path / "a", media)) is None


def test_the_worker_answers_until_the_caller_closes(tmp_path):
    (tmp_path / "a.md").write_text("# A")
    asked, answers = os.pipe(), os.pipe()
    to, back = Connection(asked[1], readable=False), Connection(answers[0], writable=False)
    to.send(BUILDER)
    to.send([task(tmp_path / "a.md"), task(tmp_path / "b.md")])
    to.close()

    prefetch.serve(asked[0], answers[1])

    found = back.recv()
    assert [one.row.title if one else None for one in found] == ["A", None]
    with pytest.raises(EOFError):
        back.recv()
