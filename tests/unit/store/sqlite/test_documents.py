import apsw
import pytest
from msgspec.structs import replace

from kebab.core.chunks import make_doc_id
from kebab.core.documents import FileCounts, Source, SourcePlan, UnreadFile
from kebab.store.sqlite import connection, documents
from kebab.store.sqlite.reader import KnownFiles, SqliteReader
from tests.fakes.rows import NOTES, document


def assets(database):
    return database.execute("SELECT count(*) FROM assets").get


def test_equal_files_share_one_asset_until_the_last_is_removed(stored):
    stored.put_document(document("a.md", ["same"]))
    stored.put_document(document("b.md", ["same"]))
    assert assets(stored.database) == 1
    documents.remove_documents(stored.database, [make_doc_id("notes", "a.md")])
    assert assets(stored.database) == 1
    documents.remove_documents(stored.database, [make_doc_id("notes", "b.md")])
    assert assets(stored.database) == 0


def test_absurd_stamps_are_clamped(stored):
    row = document("a.md")
    wild = replace(row, stamp=replace(row.stamp, mtime_ns=2**80, inode=2**64 - 1))
    stored.put_document(wild)
    assert documents.load_known_documents(stored.database, "notes")["a.md"].inode == 2**64 - 1


def test_a_sample_of_files_is_spread_over_all_documents(stored):
    for number in range(40):
        stored.put_document(document(f"{number}.md", [f"text {number}"]))

    few, every = (
        documents.sample_files(stored.database, 10),
        documents.sample_files(stored.database, 99),
    )

    assert [file.path for file in few] == [f"{number}.md" for number in range(0, 40, 4)]
    assert len(every) == 40


def plan(*paths, below="", files=None, folders=None, **fields):
    unread = [UnreadFile(path, **fields) for path in paths]
    found = {"": 1} if folders is None else folders
    return SourcePlan(
        source=NOTES.name, below=below, files=files, unread=unread, folders=found, rules="r"
    )


def read(tmp_path, below=""):
    with SqliteReader(tmp_path) as reader:
        known = KnownFiles(reader)
        extent = known.list_extents()[0]._replace(below=below)
        return known.count_files(extent), known.list_unread(extent), known.list_folders(extent)


@pytest.fixture
def empty(writer, tmp_path):
    """A library of one document."""
    return writer, tmp_path


def test_a_document_leaves_the_plan_when_it_is_stored(empty):
    writer, folder = empty
    writer.store_plans([plan("b.md", "c.md", indexed=False)])

    writer.put_document(document("b.md", ["sun"]))

    counts, unread, _ = read(folder)
    assert unread == {"c.md": None}
    assert counts == FileCounts(documents=2, unread=1)
    assert counts.files == 3


def test_a_failed_file_has_its_reason_until_the_next_plan(empty):
    writer, folder = empty
    writer.store_plans([plan("b.md", indexed=False)])
    writer.mark_failed(NOTES.name, "b.md", "broken")
    assert read(folder)[:2] == (FileCounts(documents=1, failed=1), {"b.md": "broken"})

    writer.store_plans([plan()])

    assert read(folder)[1] == {}


def test_only_a_plan_of_a_whole_source_is_its_listing(empty):
    writer, folder = empty

    def rules():
        with SqliteReader(folder) as reader:
            return KnownFiles(reader).list_extents()[0].rules

    writer.store_plans([plan(below="x"), plan(files=("y",))])
    assert rules() is None

    writer.store_plans([plan()])
    assert rules() == "r"


def test_the_folders_that_left_files_to_a_removed_source_are_listed_again(empty):
    writer, folder = empty
    writer.add_source(Source(name="inner", root=f"{NOTES.root}/x/inner", kind="folder"))
    listed = plan()
    writer.store_plans([replace(listed, folders={"": 5, "x": 6, "x/innermost": 7})])

    writer.remove_source("inner")

    with SqliteReader(folder) as reader:
        known = KnownFiles(reader)
        (extent,) = known.list_extents()
        assert known.list_folders(extent) == {"": 5, "x": 0, "x/innermost": 7}


def test_documents_of_which_a_part_is_searched_are_listed(empty):
    writer, folder = empty
    cut = document("cut.json", ["sun"], warnings=("only the first 10 lines are searched",))
    writer.put_document(cut)
    writer.put_document(document("odd.md", ["sky"], warnings=("sheet `x` is hidden",)))

    with SqliteReader(folder) as reader:
        known = KnownFiles(reader)
        assert known.list_partial(known.list_extents()[0]) == [("cut.json", *cut.warnings)]


def test_the_files_directly_in_a_folder_are_listed(empty):
    writer, folder = empty
    for path in ("x/b.md", "x/y/c.md", "x.md"):
        writer.put_document(document(path, ["sun"]))
    writer.store_plans([plan("x/b.md", "x/d.md", "x/y/e.md", indexed=False)])

    with SqliteReader(folder) as reader:
        known = KnownFiles(reader)
        extent = known.list_extents()[0]._replace(below="x")
        assert known.list_in("documents", extent, "x") == {"x/b.md"}
        assert known.list_in("unread_files", extent, "x") == {"x/b.md", "x/d.md"}
        assert known.list_in("documents", extent, "") == {"x.md", "a.md"}
        assert [path for path, _, _ in known.iterate_documents(extent)] == ["x/y/c.md"]


def test_pending_vectors_of_a_folder_are_counted(empty):
    writer, folder = empty
    writer.put_document(document("x/b.md", ["sun", "moon"]))

    with SqliteReader(folder) as reader:
        known = KnownFiles(reader)
        whole = known.list_extents()[0]
        counts = [known.count_pending([one]) for one in (whole, whole._replace(below="x"))]

    assert counts == [3, 2]


def test_an_older_index_is_migrated_without_a_new_reading(tmp_path):
    path = connection.get_database_path(tmp_path)
    database = apsw.Connection(str(path))
    for version in range(1, 7):
        database.execute(connection.read_migrations()[version].read_text(encoding="utf-8"))
    database.execute("PRAGMA user_version = 6")
    database.execute("INSERT INTO assets VALUES (1, 'h', 1)")
    database.execute("INSERT INTO sources VALUES (1, '/n', '/n', 'folder')")
    database.execute(
        "INSERT INTO documents (doc_id, source, path, asset, title, media, size, mtime_ns, inode,"
        " recipe, parser_version, chunker_version, indexed_at, warnings) VALUES ('d', 1, 'a', 1,"
        " 't', 'm', 1, 1, 1, 'r', 'p', 'c', 1.0, '[\"only the first 5 lines are searched\"]')"
    )
    database.close()

    connection.open_writer(tmp_path).close()

    with SqliteReader(tmp_path) as reader:
        known = KnownFiles(reader)
        extent = known.list_extents()[0]
        assert extent.rules is None
        assert [path for path, _ in known.list_partial(extent)] == ["a"]
        assert known.list_folders(extent) == {}
