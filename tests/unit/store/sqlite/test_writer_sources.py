from kebab.core.documents import Source, build_named_files_key
from kebab.store.sqlite.lock import SOURCES
from kebab.store.sqlite.writer import SqliteWriter, load_sources
from tests.fakes.rows import NOTES, document

FILES = Source(name="/other", root="/other", kind="files")


def fill(folder):
    with SqliteWriter(folder, str) as library:
        library.add_source(NOTES)
        library.add_source(FILES)
        library.put_document(document("a.md", ["rain"]))
        library.put_document(document("b.md", ["snow"], source=FILES.name))
        library.set_value(build_named_files_key(NOTES.name), '["log.txt"]')


def lose_database(folder):
    for path in folder.glob("kebab.sqlite*"):
        path.unlink()


def test_every_change_of_the_sources_is_in_the_file(tmp_path):
    with SqliteWriter(tmp_path, str) as library:
        library.add_source(NOTES)
        library.add_source(FILES)
        assert [one.name for one in load_sources(tmp_path)] == [NOTES.name, FILES.name]
        library.remove_source(NOTES.name)
        assert [one.name for one in load_sources(tmp_path)] == [FILES.name]


def test_a_new_database_starts_with_the_sources_and_their_single_files(tmp_path):
    fill(tmp_path)
    lose_database(tmp_path)

    with SqliteWriter(tmp_path, str) as library:
        assert library.list_sources() == [FILES, NOTES]
        assert library.list_children(FILES.name, "") == {"b.md"}
        assert library.get_value(build_named_files_key(NOTES.name)) == '["log.txt"]'
    assert [one.name for one in load_sources(tmp_path)] == [NOTES.name, FILES.name]


def test_a_file_that_cannot_be_read_names_no_source(tmp_path):
    fill(tmp_path)
    lose_database(tmp_path)
    (tmp_path / SOURCES).write_bytes(b'[{"name": 1}]')

    with SqliteWriter(tmp_path, str) as library:
        assert library.list_sources() == []
