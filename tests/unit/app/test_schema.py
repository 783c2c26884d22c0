from kebab.app import schema
from kebab.app.library import remove_documents
from kebab.app.schema import describe_build
from kebab.core.documents import check_freshness
from kebab.wire.health import SchemaRequest
from kebab.wire.library import RmRequest
from tests.fakes.review_store import make_finished, make_planned, make_run


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


def test_the_rates_of_stored_reviews_are_those_of_the_units_that_a_model_was_asked_about(desk):
    desk.write("a.md", "the cat\n")
    desk.ingest()
    with desk.context().open_review_store() as store:
        store.add_run(make_run())
        store.add_document("r1", make_planned(units=3))
        store.add_unit("r1", make_finished(0, requests=1))
        store.add_unit("r1", make_finished(1, requests=3, truncated=True, unanswered=True))
        store.add_unit("r1", make_finished(2, requests=2))

    work = _told(desk).reviews

    assert (work.asked, work.truncated_rate) == (3, 1 / 3)
    assert (work.followed_up, work.followup_success_rate) == (2, 0.5)
