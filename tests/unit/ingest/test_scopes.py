import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab.core.documents import STDIN, Source
from kebab.core.files import ScanRules, is_below
from kebab.errors.catalog import IoError
from kebab.ingest.job import IngestJob
from kebab.ingest.scopes import EmptyLibrary, Scope, choose_scopes
from kebab.source.walk import FolderScanner
from tests.fakes.library import MemoryLibrary
from tests.unit.ingest.conftest import Desk


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


def change(desk, *names):
    """Run over what changed below the root."""
    paths = tuple(str(desk.root / name) for name in names)
    return desk.run(IngestJob(paths=paths, changed=True))


def kinds(outcome):
    return sorted((item.kind, item.doc_path) for item in outcome.items)


@pytest.fixture
def notes(desk):
    """A desk with two notes in the index."""
    desk.write("a.md", "# A\n\nalpha\n")
    desk.write("sub/b.md", "# B\n\nbeta\n")
    desk.ingest()
    return desk


def test_an_edited_file_is_updated_and_no_other_is_scanned(notes):
    notes.write("a.md", "# A\n\ngamma\n")

    outcome = change(notes, "a.md")

    assert kinds(outcome) == [("updated", "a.md")]
    assert outcome.scanned == 1


def test_a_new_file_belongs_to_the_source(notes):
    notes.write("new.md", "# New\n")

    assert kinds(change(notes, "new.md")) == [("new", "new.md")]
    assert [source.kind for source in notes.library.list_sources()] == ["folder"]


def test_a_path_that_is_gone_removes_its_document(notes):
    (notes.root / "a.md").unlink()

    assert kinds(change(notes, "a.md")) == [("removed", "a.md")]


def test_a_folder_that_is_gone_removes_the_documents_below_it(notes):
    notes.write("sub.md", "# Beside\n")
    change(notes, "sub.md")
    shutil.rmtree(notes.root / "sub")

    assert kinds(change(notes, "sub")) == [("removed", "sub/b.md")]


def test_a_new_folder_is_scanned(notes):
    notes.write("more/deep/c.md", "# C\n")

    assert kinds(change(notes, "more")) == [("new", "more/deep/c.md")]


def test_a_renamed_file_keeps_its_document(notes):
    before = notes.ids()["a.md"]
    (notes.root / "a.md").rename(notes.root / "z.md")

    assert kinds(change(notes, "a.md", "z.md")) == [("moved", "z.md")]
    assert notes.ids()["z.md"] == before


def test_a_folder_in_the_place_of_a_file_replaces_its_document(notes):
    (notes.root / "a.md").unlink()
    notes.write("a.md/inner.md", "# Inner\n")

    assert kinds(change(notes, "a.md")) == [("new", "a.md/inner.md"), ("removed", "a.md")]


def test_a_file_in_the_place_of_a_folder_replaces_its_documents(notes):
    shutil.rmtree(notes.root / "sub")
    notes.write("sub.d", "")
    (notes.root / "sub.d").rename(notes.root / "sub")

    assert ("removed", "sub/b.md") in kinds(change(notes, "sub"))


def test_an_ignored_file_is_left_out(notes):
    notes.write(".gitignore", "*.tmp.md\n")
    change(notes, ".gitignore")
    notes.write("x.tmp.md", "# X\n")
    notes.write(".hidden.md", "# H\n")
    notes.write("venv/lib.md", "# Lib\n")

    assert kinds(change(notes, "x.tmp.md", ".hidden.md", "venv", "venv/lib.md")) == []


def test_a_changed_ignore_file_is_applied_to_its_folder(notes):
    notes.write("sub/.kebabignore", "b.md\n")

    assert kinds(change(notes, "sub/.kebabignore")) == [("removed", "sub/b.md")]


def test_a_named_file_stays_a_document_although_rules_ignore_it(notes):
    notes.write("venv/kept.md", "# Kept\n")
    notes.ingest("venv/kept.md")
    notes.write("venv/kept.md", "# Kept again\n")

    assert kinds(change(notes, "venv/kept.md")) == [("updated", "venv/kept.md")]


def test_a_path_in_no_source_is_left_out(notes, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "c.md"
    other.write_text("# C\n", encoding="utf-8")

    outcome = notes.run(IngestJob(paths=(str(other),), changed=True))

    assert (kinds(outcome), outcome.scope) == ([], [])
    assert len(notes.library.list_sources()) == 1


def test_without_a_path_nothing_changed(notes):
    notes.write("a.md", "# A\n\ngamma\n")

    assert kinds(notes.run(IngestJob(changed=True))) == []


@pytest.mark.parametrize("path", ["", "\0", "notes/\udcff.md", "x" * 5_000])
def test_a_name_that_no_scan_finds_is_left_out(notes, path):
    paths = (path and str(notes.root / path),)

    assert notes.run(IngestJob(paths=paths, changed=True)).items == []


def test_the_file_of_another_source_belongs_to_that_source(notes):
    notes.ingest("sub/b.md")
    notes.write("own/c.md", "# C\n")
    notes.run(IngestJob(paths=(str(notes.root / "own"),)))
    notes.library.add_source(Source(name="own", root=str(notes.root / "own"), kind="folder"))
    notes.write("own/d.md", "# D\n")

    outcome = change(notes, "own/d.md")

    assert [(item.source, item.doc_path) for item in outcome.items] == [("own", "d.md")]


def test_a_named_file_of_its_own_source_is_followed(desk):
    desk.write("only.md", "# Only\n")
    desk.write("other.md", "# Other\n")
    desk.ingest("only.md")
    desk.write("only.md", "# Only changed\n")
    desk.write("other.md", "# Other changed\n")

    assert kinds(change(desk, "only.md", "other.md")) == [("updated", "only.md")]

    (desk.root / "only.md").unlink()
    assert kinds(change(desk, "only.md")) == [("removed", "only.md")]


def test_the_private_folder_of_kebab_is_left_out(notes):
    notes.write("data/x.md", "# X\n")
    private = (str(notes.root / "data"),)
    paths = (str(notes.root / "data/x.md"),)

    outcome = notes.run(IngestJob(paths=paths, changed=True, private=private))

    assert kinds(outcome) == []


def test_a_folder_above_a_source_changes_all_of_it(notes):
    notes.write("c.md", "# C\n")

    outcome = notes.run(IngestJob(paths=(str(notes.root.parent),), changed=True))

    assert kinds(outcome) == [("new", "c.md")]


def test_a_changed_link_scans_the_source(notes):
    notes.write("venv/target.md", "# Target\n")
    (notes.root / "link.md").symlink_to(notes.root / "venv/target.md")

    assert kinds(change(notes, "link.md")) == [("new", "link.md")]


def test_a_path_through_a_link_adds_no_second_document(notes):
    (notes.root / "alias").symlink_to(notes.root / "sub")

    assert kinds(change(notes, "alias/b.md")) == []


def test_a_damaged_file_is_an_item_and_not_the_end_of_the_run(notes):
    notes.write("a.md", "x" * 100)

    outcome = notes.run(
        IngestJob(
            paths=(str(notes.root / "a.md"),), changed=True, rules=ScanRules(max_file_bytes=9)
        )
    )

    assert outcome.skipped_by_reason == {"over_limit": 1}


def test_a_file_with_the_same_content_opens_no_table_of_vectors(notes):
    tables, models = notes.tables_opened, notes.models_loaded

    outcome = change(notes, "a.md")

    assert (outcome.unchanged, outcome.items) == (1, [])
    assert (notes.tables_opened, notes.models_loaded) == (tables, models)


NAMES = ("a.md", "b.md", "sub/c.md", "sub/deep/d.md", "venv/e.md", ".f.md", "x.tmp.md")
FOLDERS = ("sub", "sub/deep", "venv", "new")
OPERATIONS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.integers(0, 3)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES + FOLDERS)),
    st.tuples(
        st.just("rename"), st.sampled_from(NAMES + FOLDERS), st.sampled_from(NAMES + FOLDERS)
    ),
    st.tuples(st.just("ignore"), st.sampled_from(("", "sub/")), st.sampled_from(("", "*.md"))),
)


def apply(root, operation):
    """Do one operation on files, and return the paths that a watcher reports."""
    kind, name, *rest = operation
    path = root / name
    if kind == "write" and not path.is_dir() and not any(p.is_file() for p in path.parents):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note\n\nversion {rest[0]}\n", encoding="utf-8")
        parts = name.split("/")
        return ["/".join(parts[: count + 1]) for count in range(len(parts))]
    if kind == "delete" and path.exists():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        return [name]
    if kind == "rename" and path.exists():
        target = root / rest[0]
        is_free = target.parent.is_dir() and not target.exists()
        if is_free and path not in target.parents:
            path.rename(target)
            return [name, rest[0]]
    if kind == "ignore" and path.is_dir():
        (path / ".gitignore").write_text(f"*.tmp.md\n{rest[0]}\n", encoding="utf-8")
        return [f"{name}.gitignore"]
    return []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(OPERATIONS, max_size=4), max_size=6))
def test_runs_over_changes_end_where_a_fresh_ingest_ends(tmp_path_factory, batches):
    desk = Desk(tmp_path_factory.mktemp("desk"))
    desk.write("seed.md", "# Seed\n")
    desk.ingest()
    for operations in batches:
        changed = [name for operation in operations for name in apply(desk.root, operation)]
        desk.clock.ahead += 10
        change(desk, *changed)

    fresh = Desk(tmp_path_factory.mktemp("fresh"))
    fresh.root = desk.root
    fresh.ingest()

    assert _texts(desk) == _texts(fresh)


def _texts(desk):
    rows = desk.library._documents.values()
    return {row.path: [chunk.text_hash for chunk in row.chunks] for row in rows}
