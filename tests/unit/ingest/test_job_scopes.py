import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab.core.documents import Source
from kebab.errors.catalog import IoError
from kebab.ingest.job import IngestJob, Scope, choose_scopes
from kebab.source.walk import FolderScanner
from tests.unit.ingest.conftest import Desk, StoredLibrary


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


@pytest.fixture
def chosen(tmp_path_factory):
    """Choose the scopes of some paths where some sources are registered."""

    def choose(paths, *sources, **options):
        job = IngestJob(paths=tuple(map(str, paths)), **options)
        with StoredLibrary(tmp_path_factory.mktemp("data")) as library:
            for source in sources:
                library.add_source(source)
            return choose_scopes(job, library, FolderScanner())

    return choose


def test_an_unknown_file_belongs_to_its_folder(tree, chosen):
    assert chosen([tree / "a.md"]) == [Scope(source=files(tree), files=("a.md",), named=True)]


def test_a_file_below_sources_belongs_to_the_nearest(tree, chosen):
    (scope,) = chosen([tree / "sub/deep/c.md"], folder(tree), folder(tree / "sub"))

    assert (scope.source.root, scope.files) == (str(tree / "sub"), ("deep/c.md",))


def test_named_files_of_one_source_are_looked_at_together(tree, chosen):
    (scope,) = chosen([tree / "a.md", tree / "--help.md", tree / "a.md"])

    assert scope.files == ("a.md", "--help.md")


def test_a_path_may_be_relative_and_lead_over_links(tree, monkeypatch, chosen):
    (tree / "link").symlink_to("sub")
    monkeypatch.chdir(tree)

    (scope,) = chosen(["link/../link"])

    assert scope.source.root == str(tree / "sub")


def test_a_root_whose_name_is_not_utf8_is_refused_readably(tree, chosen):
    (tree / "caf\udce9").mkdir()

    with pytest.raises(IoError) as caught:
        chosen([tree / "caf\udce9"])

    assert caught.value.path.endswith("caf\\xe9")


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


def test_a_folder_in_the_place_of_a_file_replaces_its_document(notes):
    (notes.root / "a.md").unlink()
    notes.write("a.md/inner.md", "# Inner\n")

    assert kinds(change(notes, "a.md")) == [("new", "a.md/inner.md"), ("removed", "a.md")]


def test_a_named_file_stays_a_document_although_rules_ignore_it(notes):
    notes.write("venv/kept.md", "# Kept\n")
    notes.ingest("venv/kept.md")
    notes.write("venv/kept.md", "# Kept again\n")

    assert kinds(change(notes, "venv/kept.md")) == [("updated", "venv/kept.md")]


def test_a_path_in_no_source_is_left_out_until_it_is_named(notes, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "c.md"
    other.write_text("# C\n", encoding="utf-8")

    outcome = change(notes, other)

    assert (kinds(outcome), outcome.scope) == ([], [])
    assert len(notes.library.list_sources()) == 1
    notes.ingest(other)
    other.write_text("# C again\n", encoding="utf-8")
    assert kinds(change(notes, other)) == [("updated", "c.md")]


def test_the_private_folder_of_kebab_is_left_out(notes):
    notes.write("data/x.md", "# X\n")
    private = (str(notes.root / "data"),)
    paths = (str(notes.root / "data/x.md"),)

    assert kinds(notes.run(IngestJob(paths=paths, changed=True, private=private))) == []


def test_a_path_through_a_link_adds_no_second_document(notes):
    (notes.root / "alias").symlink_to(notes.root / "sub")

    assert kinds(change(notes, "alias/b.md")) == []


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    for each in (desk, fresh):
        each.library.close()


def _texts(desk):
    library = desk.library
    keys = [*library.list_committed_keys()]
    return sorted((chunk.path, chunk.ordinal, chunk.text) for chunk in library.load_chunks(keys))
