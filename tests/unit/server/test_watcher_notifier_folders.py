import pytest

from kebab.server.watcher import find_watched_folders
from tests.unit.app import conftest as app

desk = app.desk


def find(desk, *paths):
    return find_watched_folders(desk.context(), list(map(str, paths)))


@pytest.fixture
def notes(desk):
    desk.write("a.md", "# A\n")
    desk.write("sub/b.md", "# B\n")
    desk.write("venv/c.md", "# C\n")
    desk.write(".gitignore", "*.tmp.md\n")
    desk.ingest()
    return desk


@pytest.mark.parametrize(
    ("name", "matters"),
    [
        ("a.md", True),
        ("sub/new.md", True),
        ("sub", True),
        ("", True),
        (".gitignore", True),
        ("x.tmp.md", False),
        (".hidden.md", False),
        ("venv/c.md", False),
        ("../elsewhere.md", False),
    ],
)
def test_what_rules_leave_out_does_not_matter(notes, name, matters):
    (folder,) = find(notes)
    path = f"{notes.notes}/{name}" if name else str(notes.notes)

    assert folder.is_relevant(path.replace("/notes/..", "")) is matters


def test_a_source_below_another_is_watched_by_itself(notes):
    own = notes.notes / "own"
    own.mkdir()
    (own / "d.md").write_text("# D\n", encoding="utf-8")
    other = notes.folder / "other"
    other.mkdir()
    notes.ingest(own, notes.notes / "venv")

    outer, inner = sorted(find(notes), key=lambda folder: folder.location)
    assert (outer.root, inner.root) == (str(notes.notes), str(notes.notes / "venv"))
    assert not outer.is_relevant(str(notes.notes / "venv/c.md"))
    assert inner.is_relevant(str(notes.notes / "venv/c.md"))


def test_a_folder_below_a_source_is_watched_alone(notes):
    (folder,) = find(notes, notes.notes / "sub")

    assert (folder.root, folder.below) == (str(notes.notes), "sub")
    assert folder.is_relevant(f"{notes.notes}/sub/b.md")
    assert not folder.is_relevant(f"{notes.notes}/a.md")


def test_a_source_of_named_files_matters_in_these_files(desk):
    first, other = desk.write("a.md", "# A\n"), desk.write("b.md", "# B\n")
    desk.ingest(first)

    (folder,) = find(desk)
    assert folder.is_relevant(str(first))
    assert not folder.is_relevant(str(other))


def test_a_named_file_is_watched_in_its_folder_and_a_link_by_its_own_name(notes):
    (notes.notes / "link.md").symlink_to(notes.notes / "a.md")

    for name in ("a.md", "link.md"):
        (folder,) = find(notes, notes.notes / name)
        assert folder.only_named
        assert folder.is_relevant(f"{notes.notes}/{name}")
        assert not folder.is_relevant(f"{notes.notes}/sub/b.md")
    assert find(notes, notes.folder / "nowhere") == []
