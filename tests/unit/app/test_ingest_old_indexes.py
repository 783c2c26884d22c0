"""What earlier versions of kebab wrote goes on working."""

from contextlib import closing

import apsw
import pytest

from kebab.app.ingest import ingest
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import NotIndexed
from kebab.wire.ingest import IngestRequest
from tests.fakes.old_indexes import FOLDER, unpack, write_notes

SCHEMAS = {path.stem: int(path.stem.split("-")[1]) for path in sorted(FOLDER.iterdir())}


@pytest.fixture
def old(lab):
    """Unpack an index into the data folder of the desk, over the notes that it has read."""

    def install(name):
        write_notes(lab.notes)
        lab.data.mkdir()
        unpack(name, lab.data, lab.notes)
        return lab

    return install


def find(desk):
    """Return what a search by words says, without ids, which depend on the folder."""
    reply = desk.search("restore snapshot garden night", mode="lexical")
    return [
        (hit.doc_path, hit.title, hit.heading_path, hit.citation.uri, hit.tags, hit.score)
        for hit in reply.hits
    ]


@pytest.mark.parametrize("name", SCHEMAS)
def test_an_old_index_is_migrated_and_nothing_is_embedded_again(old, name, tmp_path):
    desk = old(name)
    with pytest.raises(NotIndexed) as caught:
        desk.search("snapshot")
    assert caught.value.found == SCHEMAS[name]
    with closing(apsw.Connection(str(desk.data / "kebab.sqlite"))) as database:
        rows = database.execute("SELECT path, doc_id FROM documents")
        ids = {str(path): str(doc_id) for path, doc_id in rows}
        vectors = database.execute("SELECT count(*) FROM vectors WHERE state = 'committed'").get

    report = ingest(desk.context(), IngestRequest(), ignore_progress, Cancel())

    assert (report.errors, report.removed, report.new, report.embedding.lost) == (0, 0, 0, 0)
    # The front matter of `a.md` is a passage that they do not have.
    assert report.embedding.embedded == (1 if vectors else 5)
    assert {path: one.doc_id for path, one in desk.documents().items()} == ids
    turns = desk.context().session_store.list_turns("talk")
    assert [turn.question for turn in turns] == ["How do I restore a snapshot?"] * (
        SCHEMAS[name] > 3
    )
    migrated = find(desk)
    assert desk.again().unchanged == 3
    desk.flags["data_dir"] = str(tmp_path / "fresh")
    desk.ingest()
    assert find(desk) == migrated != []
