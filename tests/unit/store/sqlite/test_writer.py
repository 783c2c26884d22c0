import pytest

from kebab.core.chunks import make_doc_id
from kebab.store.sqlite.catalogue import Catalogue
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.rows import NOTES, document


@pytest.fixture
def writer(tmp_path):
    with SqliteWriter(tmp_path, str) as made:
        made.add_source(NOTES)
        yield made


def test_a_checkpoint_empties_the_log(writer, tmp_path):
    writer.put_document(document("a.md"))
    writer.checkpoint()
    assert (tmp_path / "kebab.sqlite-wal").stat().st_size == 0


def test_a_checkpoint_waits_for_no_reader(writer, tmp_path):
    writer.put_document(document("a.md"))
    with SqliteReader(tmp_path) as reader:
        reader.get_revision()
        writer.put_document(document("b.md"))
        writer.database.set_busy_timeout(10**9)
        writer.checkpoint()
        assert reader.count_chunks() == 1


@pytest.mark.processor_s(30)
def test_many_documents_are_written_moved_and_removed_in_linear_time(writer):
    paths = [f"{number}.md" for number in range(400)]
    ids = [make_doc_id("notes", path) for path in paths]
    with writer.batch():
        for path in paths:
            writer.put_document(document(path, [f"words of {path}"]))
    with writer.batch():
        for path, ident in zip(paths, ids, strict=True):
            writer.put_document(document(f"moved/{path}", [f"words of {path}"], doc=ident))
    assert writer.remove_documents(ids) == 400
    assert writer.load_known_documents("notes") == {}


def test_words_that_an_earlier_version_cut_are_written_again(tmp_path):
    texts = ["10⁵ lumen", "105 lumen"]
    with SqliteWriter(tmp_path, lambda text: text.replace("⁵", "5")) as old:
        old.add_source(NOTES)
        old.put_document(document("a.md", texts, title="lamps"))
        old.put_document(document("b.md", ["x"], title="lamps", aliases=("10⁵",)))
        old.set_value("word_rule", None)
    for _ in range(2):
        with SqliteWriter(tmp_path, lambda text: text.replace("⁵", " 5")):
            pass
        with SqliteReader(tmp_path) as reader:
            fault = Catalogue(reader).find_word_fault(lambda text: text.replace("⁵", " 5"))

        assert fault is None


def test_what_was_written_a_second_ago_is_committed_before_a_wait(writer, monkeypatch):
    now = iter([0.0, 0.5, 0.9, 1.5])
    monkeypatch.setattr(writer._transactions, "_monotonic", lambda: next(now))
    with writer.batch():
        writer.set_value("a", "1")
        writer.commit_when_due()
        assert writer.database.in_transaction
        writer.commit_when_due()
        assert not writer.database.in_transaction
        writer.commit_when_due()


def test_the_last_run_that_changed_anything_is_known(writer, tmp_path):
    for finished, changed in ((2.0, 3), (3.0, 1), (4.0, 0)):
        writer.record_run("all", 1.0, finished, changed)
    with SqliteReader(tmp_path) as reader:
        assert Catalogue(reader).count_contents().last_change == 3.0
