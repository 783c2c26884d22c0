import pytest

from kebab.app.library import inspect_doc, list_documents
from kebab.app.related import find_related
from kebab.core.queries import Filters
from kebab.wire.library import DocInspection, InspectDocRequest, ListRequest
from kebab.wire.related import RelatedDocs, RelatedRequest
from tests.fakes.rows import NOTES, document

VAULT = (
    document("index.md", ["start here"], title="Home", links=("plans/q3.md", "Weekly", "gone.md")),
    document("plans/q3.md", ["the plan"], title="Quarter", aliases=("Q3",), links=("../index.md",)),
    document("weekly.md", ["a review"], title="Weekly review", aliases=("Weekly",), links=("Q3",)),
)


@pytest.fixture
def vault(desk):
    with desk.context().open_writer("ingest") as writer:
        writer.add_source(NOTES)
        for row in VAULT:
            writer.put_document(row)
    return desk.context()


def inspect(context, name):
    found = inspect_doc(context, InspectDocRequest(name=name))
    assert isinstance(found, DocInspection)
    return found


def paths(links):
    return [link.doc_path for link in links]


def test_an_inspection_shows_links_in_both_directions(vault):
    found = inspect(vault, "plans/q3.md")
    assert paths(found.links) == ["index.md"]
    assert paths(found.backlinks) == ["index.md", "weekly.md"]


def test_a_link_to_a_file_that_is_not_indexed_keeps_its_text(vault):
    found = inspect(vault, "index.md")
    assert [(link.target, link.doc_path) for link in found.links] == [
        ("Weekly", "weekly.md"),
        ("gone.md", None),
        ("plans/q3.md", "plans/q3.md"),
    ]


def test_related_shows_the_links_of_the_document(vault):
    found = find_related(vault, RelatedRequest(name="index.md"))
    assert isinstance(found, RelatedDocs)
    assert paths(found.backlinks) == ["plans/q3.md"]


@pytest.mark.parametrize("name", ["plans/q3.md", "quarter", "Q3"])
def test_documents_that_link_to_one_are_listed(vault, name):
    found = list_documents(vault, ListRequest(links_to=name))
    assert [one.doc_path for one in found.documents] == ["index.md", "weekly.md"]


def test_a_document_that_nothing_links_to_is_explained(vault):
    with vault.open_writer("ingest") as writer:
        writer.put_document(document("lonely.md", ["alone"]))
    found = list_documents(vault, ListRequest(links_to="lonely.md"))
    assert found.documents == []
    assert [(one.filter, one.value) for one in found.unmatched_filters] == [
        ("links_to", "lonely.md")
    ]


def test_links_to_an_unknown_document_match_nothing(vault):
    found = list_documents(vault, ListRequest(links_to="plans/q4.md"))
    assert found.documents == []
    assert "plans/q3.md" in found.unmatched_filters[0].nearest


def test_an_alias_is_searched_like_a_title(vault):
    with vault.open_reader() as reader:
        assert len(reader.search_lexical('"q3"', Filters(), 9)) == 1
