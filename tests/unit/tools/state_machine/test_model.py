"""The model chooses scopes, finds files and tells moves as the documentation says."""

import pytest

from tools.state_machine.model import Files, Index, Key, Scope, is_ignored

A, B = Key("work", "work/a.md"), Key("work", "work/b.md")


@pytest.fixture
def files(tmp_path):
    made = Files(tmp_path)
    made.write(A.path, "one1")
    return made


@pytest.fixture
def index(files):
    made = Index(files)
    made.apply([Scope("work", "work")])
    for number, document in enumerate(made.documents.values()):
        document.doc_id = f"id{number}"
    return made


def ingest(index):
    return index.apply([Scope("work", "work")])


def test_files_are_in_memory_and_on_disk(files, tmp_path):
    files.write("work/sub/c.md", "three3")
    files.swap(A.path, "work/sub/c.md")
    files.link("work/l.md", A.path)
    files.move_folder("work/sub", "work/moved")
    files.delete("nothing.md")

    assert files.texts == {"work/a.md": "three3", "work/moved/c.md": "one1"}
    assert (tmp_path / "work/l.md").read_text() == files.read("work/l.md") == "three3"
    assert (tmp_path / "work/moved/c.md").read_text() == "one1"


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        pytest.param(lambda files: None, {"unchanged": 1}, id="nothing"),
        pytest.param(lambda files: files.write(A.path, "two2"), {"updated": 1}, id="edit"),
        pytest.param(lambda files: files.move(A.path, B.path), {"moved": 1}, id="move"),
        pytest.param(
            lambda files: (files.move(A.path, B.path), files.write("work/c.md", "one1")),
            {"moved": 1, "new": 1},
            id="move_and_twin",
        ),
        pytest.param(lambda files: files.delete(A.path), {"removed": 1}, id="delete"),
        pytest.param(
            lambda files: files.write("work/.kebabignore", "*.md\n"), {"removed": 1}, id="ignore"
        ),
        pytest.param(
            lambda files: files.link("work/l.md", A.path), {"unchanged": 1}, id="link_to_document"
        ),
        pytest.param(lambda files: files.write("work/x.bin", ""), {"unchanged": 1}, id="binary"),
    ],
)
def test_an_ingest_counts_what_changed(files, index, change, counts):
    change(files)
    found = ingest(index).counts

    assert {name: count for name, count in found.items() if count} == counts


def test_a_moved_document_may_have_the_id_of_each_missing_one_with_its_text(files, index):
    files.move(A.path, B.path)

    assert ingest(index).moved == {B: {"id0"}}


def test_a_file_that_is_written_again_is_touched(files, index):
    files.write(A.path, "one1")
    changes = ingest(index)

    assert (changes.unchanged, changes.touched, changes.is_empty) == (1, 1, False)


def test_a_link_to_a_file_that_rules_leave_out_is_found(files, index):
    files.write("work/.hidden.md", "secret1")
    files.link("work/l.md", "work/.hidden.md")

    assert index.list_found(Scope("work", "work")) == {A.path: "one1", "work/l.md": "secret1"}


def test_a_named_file_stays_although_rules_leave_it_out(files, index):
    files.write("work/.hidden.md", "secret1")
    index.apply([Scope("work", "work", named=("work/.hidden.md",))])
    files.write("work/.kebabignore", "a.md\n")
    ingest(index)

    assert [key.path for key in index.documents] == ["work/.hidden.md"]


def test_a_source_below_has_its_own_files(files, index):
    files.write("work/sub/c.md", "three3")
    files.write("work/.kebabignore", "sub/\n")
    inner = index.choose_scope("work/sub")
    index.apply([inner])
    files.write("work/.kebabignore", "")

    assert inner == Scope("work/sub", "work/sub")
    assert ingest(index).counts["new"] == 0
    assert index.choose_scope("work/other") == Scope("work", "work/other")


def test_changed_paths_are_scopes_and_rules_are_whole_sources(files, index):
    (some,) = index.choose_changed([A.path, "elsewhere/x.md"])
    (whole,) = index.choose_changed([A.path, "work/.kebabignore"])

    assert (some.changed, whole) == ((A.path,), Scope("work", "work"))


def test_gaps_are_files_that_differ_from_their_documents(files, index):
    files.write(A.path, "two2")
    files.write(B.path, "three3")
    index.documents[Key("work", "work/gone.md")] = index.documents[A]

    assert index.find_gaps() == ({B}, {A}, {Key("work", "work/gone.md")})


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        pytest.param("a.md", "work/sub/a.md", True, id="name"),
        pytest.param("sub/", "work/sub/a.md", True, id="folder"),
        pytest.param("sub/", "work/sub", False, id="file_named_as_the_folder"),
        pytest.param("*.txt", "work/a.md", False, id="suffix"),
        pytest.param("", "work/.git/a.md", True, id="hidden"),
    ],
)
def test_patterns_leave_out_names_folders_and_suffixes(files, pattern, path, expected):
    files.write("work/.kebabignore", f"{pattern}\n")

    assert is_ignored(path, "work", files) is expected
