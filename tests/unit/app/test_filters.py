"""The forms of filters, and what filters without documents are answered with."""

import os
from contextlib import suppress
from datetime import UTC, datetime

import msgspec
import pytest

from kebab.app.facade import convert_operation_request
from kebab.app.library import inspect_doc, list_documents
from kebab.app.search import search_all
from kebab.config.settings import Settings
from kebab.core.queries import FILTERS
from kebab.errors.catalog import InvalidInput
from kebab.wire.library import DocInspection, InspectDocRequest, ListRequest
from kebab.wire.search import SearchRequest, SearchResponse
from tests.fakes.rows import NOTES, document


@pytest.fixture(scope="module")
def pantry(tmp_path_factory, make_desk):
    """Documents of two sources in several folders; not to be changed."""
    desk = make_desk(tmp_path_factory.mktemp("desk"))
    desk.write("recipes/sourdough.md", "---\ntags: [Cooking]\n---\n# Sour\n\nthe bread rests\n")
    desk.write("docs/recipes2/cake.md", "# Cake\n\nthe bread is sweet\n")
    desk.write("docs/backup.txt", "the bread of the server\n")
    other = desk.folder / "other"
    other.mkdir()
    (other / "recipes").mkdir()
    (other / "recipes" / "soup.md").write_text("---\ntags: [ops]\n---\n# Soup\n\nbread in soup\n")
    desk.ingest(desk.notes, other)
    noon = datetime(2024, 5, 2, 12, tzinfo=UTC).timestamp()
    for days, path in enumerate(sorted(desk.notes.rglob("*.*"))):
        os.utime(path, (noon, noon + days * 86_400))
    os.utime(other / "recipes" / "soup.md", (noon, noon))
    desk.ingest(desk.notes, other)
    yield desk
    desk.close()


@pytest.fixture
def kitchen(pantry, monkeypatch):
    """The same, looked at from the folder above the sources."""
    monkeypatch.chdir(pantry.folder)
    return pantry


def listed(desk, **fields):
    return list_documents(desk.context(), ListRequest(**fields))


def names(desk, **fields):
    return sorted(one.doc_path for one in listed(desk, **fields).documents)


SOUR, CAKE, TEXT, SOUP = (
    "recipes/sourdough.md",
    "docs/recipes2/cake.md",
    "docs/backup.txt",
    "recipes/soup.md",
)

FORMS = {
    "recipes": {SOUR, SOUP},
    "recipes/": {SOUR, SOUP},
    "recipes2": {CAKE},
    "backup.txt": {TEXT},
    "*sour*": {SOUR},
    "*.md": {SOUR, CAKE, SOUP},
    "docs/*.md": set(),
    "docs/**": {CAKE, TEXT},
    "notes/docs": {CAKE, TEXT},
    "notes/docs/*.txt": {TEXT},
    "./notes/*/b*": {TEXT},
    "{notes}/recipes": {SOUR},
    "{notes}": {SOUR, CAKE, TEXT},
    "{notes}/*/sour*": {SOUR},
    "nowhere": set(),
    "": {SOUR, CAKE, TEXT, SOUP},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_finds_what_a_scan_of_everything_would(kitchen, form):
    pattern = form.format(notes=kitchen.notes)
    found = kitchen.search("bread", path_glob=pattern, mode="lexical")

    assert {hit.doc_path for hit in found.hits} == FORMS[form]
    assert set(names(kitchen, path_glob=pattern)) == FORMS[form]


@pytest.mark.parametrize(
    ("fields", "entries"),
    [
        (
            {"path_glob": "recipes2/**"},
            [("path_glob", "recipes2/**", 0, ["**/recipes2/**"])],
        ),
        ({"tag": ["cook"]}, [("tag", "cook", 0, ["Cooking"])]),
        ({"tag": ["zzz"]}, [("tag", "zzz", 0, ["Cooking", "ops"])]),
        ({"media": ["mark"]}, [("media", "mark", 0, ["md"])]),
        ({"since": "2031-01-01"}, [("since", "2031-01-01", 0, ["2024-05-04"])]),
        ({"until": "2001-01-01"}, [("until", "2001-01-01", 0, ["2024-05-03"])]),
        ({"doc_id": "backup.tx"}, [("doc_id", "backup.tx", 0, [TEXT])]),
        (
            {"tag": ["ops"], "media": ["text/plain"], "until": "2030-01-01"},
            [("tag", "ops", 1, []), ("media", "text/plain", 1, []), ("until", "2030-01-01", 4, [])],
        ),
    ],
)
def test_filters_without_documents_are_explained(kitchen, fields, entries):
    for reply in (listed(kitchen, **fields), kitchen.search("bread", **fields)):
        told = [
            (one.filter, one.value, one.documents, one.nearest) for one in reply.unmatched_filters
        ]
        assert told == entries


VALUES = ["zzz"], "zzz", "/zzz", "2999-01-01", "1970-01-01", 0, 1_000_000
"""Values of all types of which no document of the kitchen passes one."""


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter_that_no_document_passes_is_named_with_the_call_without_it(kitchen, name):
    replies = []
    for value in VALUES:
        with suppress(InvalidInput):  # a value of another type
            fields = {"query": "bread", name: value}
            request = convert_operation_request("search", fields, Settings())
            assert isinstance(request, SearchRequest)
            replies.append(search_all(kitchen.context(), request))
    reply = next(one for one in replies if not one.hits)

    assert [one.filter for one in reply.unmatched_filters] == [name]
    assert reply.hint is not None
    assert reply.hint.startswith("kebab search bread")
    assert msgspec.convert(msgspec.to_builtins(reply), SearchResponse) == reply


def test_a_filter_in_the_text_of_the_query_is_explained(kitchen):
    reply = kitchen.search("bread tag:zzz")

    assert [(one.filter, one.value) for one in reply.unmatched_filters] == [("tag", "zzz")]


def test_a_deleted_working_folder_is_no_obstacle(kitchen, monkeypatch):
    gone = kitchen.folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert names(kitchen, path_glob="*sour*") == [SOUR]


def test_a_folder_that_is_no_path_is_refused(kitchen):
    with pytest.raises(InvalidInput) as caught:
        listed(kitchen, folder="a\0b")

    assert caught.value.field == "$.folder"


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
