from kebab.app import schema
from kebab.app.library import remove_documents
from kebab.app.schema import describe_build
from kebab.core.documents import check_freshness
from kebab.wire.health import SchemaRequest
from kebab.wire.library import RmRequest


def _told(desk):
    return describe_build(desk.context(), SchemaRequest())


def test_last_ingest_is_the_last_change(desk):
    desk.write("a.md", "the cat\n")
    desk.ingest()
    first = _told(desk)
    desk.ingest()
    again = _told(desk)
    remove_documents(desk.context(), RmRequest(names=["a.md"]))
    emptied = _told(desk)

    assert first.stats.last_ingest_at == again.stats.last_ingest_at
    assert first.models.corpus_revision == again.models.corpus_revision
    assert emptied.stats.last_ingest_at is None
    assert emptied.models.corpus_revision > first.models.corpus_revision


def test_stale_documents_of_a_large_base_are_estimated_from_a_sample(desk, monkeypatch):
    for number in range(12):
        desk.write(f"{number:02}.md", f"the cat {number}\n")
    desk.ingest()
    for number in range(12):
        desk.write(f"{number:02}.md", "the cat was changed\n")
    seen: list[str] = []

    def check(file):
        seen.append(file.path)
        return check_freshness(file)

    monkeypatch.setattr(schema, "_SAMPLE", 4)
    monkeypatch.setattr(schema, "check_freshness", check)

    assert _told(desk).stats.stale_doc_count == 12
    assert len(seen) <= 4
