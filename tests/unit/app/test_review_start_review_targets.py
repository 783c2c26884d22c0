import pytest

from kebab.app.review_start import ReviewLibrary, find_targets
from kebab.errors.catalog import IoError, UnsupportedMedia
from kebab.wire.record import NotFound


def find(desk, *names):
    context = desk.context()
    found = find_targets(context, ReviewLibrary(context), [str(name) for name in names])
    return (
        found
        if isinstance(found, NotFound)
        else [str(path)[len(str(desk.notes)) + 1 :] for path in found]
    )


@pytest.fixture
def folder(desk, monkeypatch):
    """Return a desk with a folder of notes, code and ignored files, which is the working one."""
    for name in ("a.md", "b.txt", "c.py", "deep/d.md", "deep/e.rst", "skip/f.md", "data.json"):
        desk.write(name, "text\n")
    desk.write(".kebabignore", "skip/\n")
    monkeypatch.chdir(desk.notes)
    return desk


def test_a_folder_means_its_prose_by_the_ignore_rules(folder):
    assert find(folder, folder.notes) == ["a.md", "b.txt", "deep/d.md", "deep/e.rst"]


def test_a_file_is_found_from_the_working_folder_even_when_it_is_ignored(folder):
    assert find(folder, "skip/f.md", "./a.md", "deep/../a.md") == ["skip/f.md", "a.md"]


def test_names_are_worked_on_in_order_each_file_once(folder):
    assert find(folder, "deep", "a.md", "deep/d.md") == ["deep/d.md", "deep/e.rst", "a.md"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.md", ["a.md"]),
        ("**/*.md", ["a.md", "deep/d.md"]),
        ("deep/*", ["deep/d.md", "deep/e.rst"]),
        ("*", ["a.md", "b.txt"]),
        ("d*/[de].*", ["deep/d.md", "deep/e.rst"]),
    ],
)
def test_a_pattern_means_the_prose_that_it_matches(folder, pattern, expected):
    assert find(folder, pattern) == expected
    assert find(folder, folder.notes / pattern) == expected


@pytest.mark.parametrize("name", ["c.py", "data.json"])
def test_a_file_that_is_no_prose_is_unsupported_when_it_is_named(folder, name):
    with pytest.raises(UnsupportedMedia):
        find(folder, name)


@pytest.mark.parametrize("name", ["nowhere.md", "*.org", "nowhere/*.md", "nowhere/**/*.md"])
def test_a_name_that_means_nothing_is_not_found(folder, name):
    assert isinstance(find(folder, "a.md", name), NotFound)


def test_files_with_nearly_the_same_name_are_suggested(folder):
    assert find(folder, "deep/dd.md").error.candidates == ["deep/d.md"]


@pytest.mark.parametrize("name", ["a\0.md", "a\udce9.md"])
def test_a_name_that_is_no_path_is_an_io_error(folder, name):
    with pytest.raises(IoError):
        find(folder, name)


def test_a_broken_link_is_an_io_error(folder):
    (folder.notes / "link.md").symlink_to("nowhere.md")

    with pytest.raises(IoError):
        find(folder, "link.md")


def test_documents_of_the_index_are_found_by_their_names(lab, monkeypatch):
    for name in ("sub/one.md", "sub/two.md"):
        lab.write(name, f"the {name} sleeps\n")
    lab.ingest()
    monkeypatch.chdir("/")

    assert find(lab, "one.md") == ["sub/one.md"]
    assert find(lab, "sub/*.md") == ["sub/one.md", "sub/two.md"]
    assert find(lab, "on.md").error.candidates == ["sub/one.md"]
