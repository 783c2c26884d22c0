from dataclasses import replace

from kebab.core.ids import make_doc_id
from kebab.store.sqlite import documents
from tests.fakes.rows import document


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


def test_the_old_content_of_an_edited_file_is_deleted(stored):
    stored.put_document(document("a.md", ["old"]))
    stored.put_document(document("a.md", ["new"]))
    assert assets(stored.database) == 1


def test_tags_follow_the_latest_version(stored):
    stored.put_document(document("a.md", tags=("x", "y", "x")))
    stored.put_document(document("a.md", tags=("y", "z")))
    rows = stored.database.execute("SELECT tag FROM document_tags ORDER BY tag").fetchall()
    assert rows == [("y",), ("z",)]


def test_saving_reports_a_new_title(stored):
    row = document("a.md", title="Old")
    assert not documents.save_document(stored.database, row, 1.0).title_changed
    assert documents.save_document(stored.database, replace(row, title="New"), 1.0).title_changed


def test_an_id_exists_while_a_document_has_it(stored):
    stored.put_document(document("a.md"))

    assert documents.has_document(stored.database, make_doc_id("notes", "a.md")) is True
    assert documents.has_document(stored.database, make_doc_id("notes", "b.md")) is False


def test_a_document_is_found_by_its_path(stored):
    stored.put_document(document("a.md"))
    assert documents.find_document_at(stored.database, "notes", "a.md") == make_doc_id(
        "notes", "a.md"
    )
    assert documents.find_document_at(stored.database, "notes", "b.md") is None


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


def test_an_empty_library_has_no_sample(stored):
    assert documents.sample_files(stored.database, 10) == []
