from kebab.core.queries import Filters
from kebab.store.sqlite import names
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.rows import document


def find(database, *tokens, filters=Filters(), limit=9):  # noqa: B008 - immutable
    found = names.find_named_documents(database, tokens, filters, limit)
    return [one.path for one in found]


def test_documents_are_found_by_the_rarest_words_first(stored):
    plan = document("tides/plan.md", title="Plan")
    stored.put_document(plan)
    stored.put_document(document("tides/boats.md", title="Boats", aliases=("Ships",)))

    assert find(stored.database, "tide", "boat") == ["tides/boats.md", "tides/plan.md"]
    assert find(stored.database, "ship") == ["tides/boats.md"]
    assert find(stored.database, "tide", filters=Filters(doc_id=plan.doc_id)) == ["tides/plan.md"]
    assert find(stored.database, "rain") == []


def test_a_document_that_moved_has_its_new_name_only(stored):
    row = document("tides.md", title="Tides")
    stored.put_document(row)
    stored.put_document(document("boats.md", doc=row.doc_id, title="Boats"))

    assert find(stored.database, "boat", "tide") == ["boats.md"]
    assert find(stored.database, "tide") == []


def test_words_that_differ_in_one_place_are_among_the_similar(stored):
    stored.put_document(document("quarterly.md", title="Plan"))

    for mistyped in ("quaterly", "quartrely", "quarterlyy", "xuarterly"):
        assert names.list_similar_words(stored.database, mistyped) == ["quarterly"]
    assert names.list_similar_words(stored.database, "boats") == []


def test_the_names_that_an_earlier_version_lacks_are_added(writer, tmp_path):
    with writer:
        writer._database.execute("DELETE FROM document_names")

    with SqliteWriter(tmp_path, str.split) as again:
        assert find(again._database, "titl") == ["a.md"]
