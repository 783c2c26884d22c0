import pytest

from kebab.core.documents import STDIN, Source
from kebab.core.files import is_below
from kebab.errors.catalog import IoError
from kebab.ingest.job import IngestJob
from kebab.ingest.scopes import EmptyLibrary, Scope, choose_scopes
from kebab.source.walk import FolderScanner
from tests.fakes.library import MemoryLibrary


@pytest.fixture
def tree(tmp_path):
    for name in ("a.md", "sub/b.md", "sub/deep/c.md", "venv/d.md", "--help.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text", encoding="utf-8")
    return tmp_path


def folder(path):
    return Source(name=str(path), root=str(path), kind="folder")


def files(path):
    return Source(name=str(path), root=str(path), kind="files")


def chosen(paths, *sources, **options):
    library = MemoryLibrary()
    for source in sources:
        library.add_source(source)
    return choose_scopes(
        IngestJob(paths=tuple(map(str, paths)), **options), library, FolderScanner()
    )


def test_an_unknown_folder_becomes_a_source(tree):
    assert chosen([tree]) == [Scope(source=folder(tree))]


def test_an_unknown_file_belongs_to_its_folder(tree):
    assert chosen([tree / "a.md"]) == [Scope(source=files(tree), files=("a.md",), named=True)]


def test_a_folder_below_a_source_is_a_part_of_it(tree):
    scopes = chosen([tree / "sub"], folder(tree))

    assert scopes == [Scope(source=folder(tree), below="sub")]


def test_a_file_below_sources_belongs_to_the_nearest(tree):
    (scope,) = chosen([tree / "sub/deep/c.md"], folder(tree), folder(tree / "sub"))

    assert (scope.source.root, scope.files) == (str(tree / "sub"), ("deep/c.md",))


def test_an_ignored_folder_below_a_source_is_a_source_of_its_own(tree):
    assert chosen([tree / "venv"], folder(tree)) == [Scope(source=folder(tree / "venv"))]


def test_named_files_of_one_source_are_looked_at_together(tree):
    (scope,) = chosen([tree / "a.md", tree / "--help.md", tree / "a.md"])

    assert scope.files == ("a.md", "--help.md")


def test_a_part_that_is_looked_at_anyway_is_not_looked_at_twice(tree):
    assert len(chosen([tree, tree / "sub", tree / "sub/deep"], folder(tree))) == 1


def test_parts_that_begin_alike_are_different_parts(tree):
    (tree / "sub2").mkdir()

    assert len(chosen([tree / "sub", tree / "sub2"], folder(tree))) == 2


def test_a_path_may_be_relative_and_lead_over_links(tree, monkeypatch):
    (tree / "link").symlink_to("sub")
    monkeypatch.chdir(tree)

    (scope,) = chosen(["link/../link"])

    assert scope.source.root == str(tree / "sub")


def test_a_linked_file_keeps_the_name_that_was_given(tree):
    (tree / "link.md").symlink_to("sub/b.md")

    assert chosen([tree / "link.md"])[0].files == ("link.md",)


def test_the_texts_from_standard_input_are_their_own_source(tree):
    source = Source(name=STDIN, root=str(tree), kind="stdin")

    assert chosen([tree / "a.md"], source)[0].source == source


def test_without_a_path_every_source_and_the_workspace_are_looked_at(tree):
    scopes = chosen([], folder(tree / "sub"), workspace=str(tree))

    assert [scope.source.root for scope in scopes] == [str(tree / "sub"), str(tree)]


def test_nothing_named_and_nothing_known_is_nothing_to_look_at():
    assert choose_scopes(IngestJob(), EmptyLibrary(), FolderScanner()) == []


@pytest.mark.parametrize("path", ["missing", "missing/a.md", "null\0byte", "a.md/b.md"])
def test_a_path_that_is_not_there_is_refused(tree, path):
    with pytest.raises(IoError):
        chosen([f"{tree}/{path}"])


def test_no_name_at_all_is_not_the_folder_from_here(tree, monkeypatch):
    monkeypatch.chdir(tree)
    with pytest.raises(IoError):
        chosen([""])


def test_a_root_whose_name_is_not_utf8_is_refused_readably(tree):
    (tree / "caf\udce9").mkdir()

    with pytest.raises(IoError) as caught:
        chosen([tree / "caf\udce9"])

    assert caught.value.path.endswith("caf\\xe9")


def test_a_missing_source_can_be_swept_by_force(tree):
    gone = tree / "gone"

    assert chosen([gone], folder(gone), force=True) == [Scope(source=folder(gone))]


def test_everything_lies_below_the_root_of_the_file_system():
    assert is_below("/a", "/")
    assert not is_below("/ab", "/a")
    assert not is_below("/a", "/a")


def test_a_scope_has_a_location(tree):
    source = folder(tree)

    assert Scope(source=source).location == str(tree)
    assert Scope(source=source, below="sub").location == str(tree / "sub")
    assert Scope(source=source, files=("a.md",), named=True).location == str(tree / "a.md")
