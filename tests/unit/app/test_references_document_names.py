import os
import unicodedata

import pytest

from kebab.app.references import DocumentNames, fold_name, join_path, make_absolute
from kebab.core.documents import DocumentName
from kebab.core.ids import DocId

KOREAN = unicodedata.normalize("NFD", "한글/메모.md")
PATHS = ["runbooks/backup.md", "docs/backup.md", "docs/restore.md", "line\nbreak.md", KOREAN]


@pytest.fixture
def names():
    found = [
        DocumentName(DocId(f"{number:032x}"), "/n", "/n", path) for number, path in enumerate(PATHS)
    ]
    return DocumentNames(
        [*found, DocumentName(DocId("f" * 32), "/other", "/other/", "docs/restore.md")]
    )


def paths(found):
    return [join_path(one) for one in found]


def test_a_whole_path_is_found_below_its_source_and_on_disk(names):
    assert paths(names.find_exact("docs/backup.md")) == ["/n/docs/backup.md"]
    assert paths(names.find_exact("/n/docs/backup.md")) == ["/n/docs/backup.md"]
    assert paths(names.find_exact("./docs/../docs/backup.md")) == ["/n/docs/backup.md"]
    assert len(names.find_exact("docs/restore.md")) == 2
    assert names.find_exact("backup.md") == names.find_exact("") == []


def test_a_path_below_its_source_wins_over_one_in_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    near = DocumentName(DocId("a"), "s", os.path.realpath(tmp_path), "x.md")
    names = DocumentNames([near, DocumentName(DocId("b"), "t", "/t", "deep/x.md")])

    assert names.find_exact("x.md") == [near]
    assert names.find_exact("./x.md") == [near]


@pytest.mark.parametrize("name", ["한글/메모.md", "/n/한글/메모.md", "line break.md"])
def test_unicode_form_and_blanks_do_not_matter(names, name):
    assert len(names.find_folded(name)) == 1
    assert names.find_exact(name) == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("메모.md", 1),
        ("backup.md", 2),
        ("runbooks/backup.md", 1),
        ("n/runbooks/backup.md", 1),
        ("other/docs/restore.md", 1),
        ("ackup.md", 0),
        ("backup", 0),
        ("BACKUP.md", 0),
        ("…books/backup.md", 1),
        ("run…kup.md", 1),
        ("run…", 0),
        ("", 0),
    ],
)
def test_the_end_of_a_path_is_found_at_a_folder(names, name, found):
    assert len(names.find_ending(name)) == found


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("bakup.md", "docs/backup.md"),
        ("runbooks/bakcup.md", "runbooks/backup.md"),
        ("Docs/Backup.MD", "docs/backup.md"),
        ("wrong/backup.md", "docs/backup.md"),
        ("backup", "docs/backup.md"),
    ],
)
def test_similar_names_are_suggested_the_nearest_first(names, name, first):
    assert names.suggest(name)[0].path == first


@pytest.mark.parametrize("name", ["", "/", "quantum.txt"])
def test_nothing_is_suggested_for_a_name_like_no_other(names, name):
    assert names.suggest(name) == []


def test_a_folder_is_known_by_its_documents(names):
    assert len(names.list_folder("docs")) == len(names.list_folder("docs/")) == 3
    assert len(names.list_folder("/n/docs")) == 2
    assert names.list_folder("doc") == names.list_folder("") == []


def test_the_shortest_name_is_unambiguous(names):
    one, other = names.find_exact("docs/restore.md")

    assert [names.format(one), names.format(other)] == [
        "/n/docs/restore.md",
        "/other/docs/restore.md",
    ]
    assert names.format(names.find_exact("docs/backup.md")[0]) == "docs/backup.md"


def test_a_name_has_no_real_path_in_a_deleted_directory(tmp_path, monkeypatch):
    (tmp_path / "x").mkdir()
    monkeypatch.chdir(tmp_path / "x")
    (tmp_path / "x").rmdir()

    assert make_absolute("a.md") == "a.md"


def test_invisible_characters_fold_to_blanks():
    assert fold_name("a\nb\u200bc\ufffd") == "a b c "
