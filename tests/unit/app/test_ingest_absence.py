import pytest

from kebab.app.library import inspect_doc
from kebab.wire.library import InspectDocRequest
from kebab.wire.record import NotFound
from tests.fakes.placed import register_formats


@pytest.fixture
def shelf(desk, monkeypatch):
    register_formats(monkeypatch)
    desk.write("a.md", "# Garden\n\nRoses.\n")
    desk.ingest()
    desk.write(".gitignore", "*.ign\n")
    for name in ("b.ign", "c.one", "node_modules/d.md", ".hidden.md", ".env", "scan.png", "new.md"):
        desk.write(name, "A=1")
    (desk.folder / "elsewhere.md").write_text("x")
    (desk.notes / "outside.md").symlink_to(desk.folder / "elsewhere.md")
    return desk


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("b.ign", "an ignore file names it"),
        ("c.one", "kebab does not read"),
        ("node_modules/d.md", "the settings or the built-in rules exclude it"),
        (".hidden.md", "hidden files are left out"),
        (".env", "see `ingest.secret_files`"),
        ("scan.png", "see `ingest.ocr`"),
        ("outside.md", "it is a link"),
        ("../elsewhere.md", "no folder that kebab reads contains it"),
        ("new.md", "no ingest has read it yet"),
    ],
)
def test_a_file_that_is_not_in_the_index_is_explained(shelf, name, reason):
    reply = inspect_doc(shelf.context(), InspectDocRequest(name=str(shelf.notes / name)))

    assert isinstance(reply, NotFound)
    assert reason in reply.error.message
    assert reply.error.message.startswith("not in the index: ")


def test_a_file_that_does_not_exist_is_not_found(shelf):
    reply = inspect_doc(shelf.context(), InspectDocRequest(name=str(shelf.notes / "none.md")))

    assert isinstance(reply, NotFound)
    assert reply.error.message.startswith("no such document")
