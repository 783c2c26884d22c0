"""The forms of filters, and what filters without documents are answered with."""

import os
from datetime import UTC, datetime

import pytest

from kebab.app.library import list_documents
from kebab.app.related import find_related
from kebab.errors.catalog import InvalidInput
from kebab.wire.library import ListRequest
from kebab.wire.related import RelatedDocs, RelatedRequest


@pytest.fixture
def kitchen(desk, monkeypatch):
    desk.write("recipes/sourdough.md", "---\ntags: [Cooking]\n---\n# Sour\n\nthe bread rests\n")
    desk.write("docs/recipes2/cake.md", "# Cake\n\nthe bread is sweet\n")
    desk.write("docs/backup.txt", "the bread of the server\n")
    other = desk.folder / "other"
    other.mkdir()
    (other / "recipes").mkdir()
    (other / "recipes" / "soup.md").write_text("---\ntags: [ops]\n---\n# Soup\n\nbread in soup\n")
    desk.ingest(desk.notes, other)
    noon = datetime(2024, 5, 2, 12, tzinfo=UTC).timestamp()
    monkeypatch.chdir(desk.folder)
    for days, path in enumerate(sorted(desk.notes.rglob("*.*"))):
        os.utime(path, (noon, noon + days * 86_400))
    os.utime(other / "recipes" / "soup.md", (noon, noon))
    desk.ingest(desk.notes, other)
    return desk


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
    "Recipes2/": {CAKE},
    "backup.txt": {TEXT},
    "*sour*": {SOUR},
    "*.md": {SOUR, CAKE, SOUP},
    "docs/*.md": set(),
    "docs/**": {CAKE, TEXT},
    "notes/docs": {CAKE, TEXT},
    "./notes/*/b*": {TEXT},
    "{notes}/recipes": {SOUR},
    "{notes}": {SOUR, CAKE, TEXT},
    "{notes}/*/sour*": {SOUR},
    "nowhere": set(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_every_form_finds_what_a_scan_of_everything_would(kitchen, form, mode):
    pattern = form.format(notes=kitchen.notes)
    found = kitchen.search("bread", path_glob=pattern, mode=mode)

    assert {hit.doc_path for hit in found.hits} == FORMS[form]
    assert set(names(kitchen, path_glob=pattern)) == FORMS[form]


@pytest.mark.parametrize("form", ["other", "{folder}/other", "./other/", "OTHER"])
def test_a_source_is_named_by_its_folder(kitchen, form):
    assert names(kitchen, source=[form.format(folder=kitchen.folder)]) == [SOUP]


@pytest.mark.parametrize("name", ["other", "othr"])
def test_a_source_is_compared_in_a_folder_that_was_deleted(kitchen, tmp_path, monkeypatch, name):
    place = tmp_path / "deleted"
    place.mkdir()
    monkeypatch.chdir(place)
    place.rmdir()

    assert names(kitchen, source=[name]) == ([SOUP] if name == "other" else [])


def test_a_reading_that_exists_in_the_named_source_is_chosen(kitchen):
    assert names(kitchen, path_glob="recipes", source=["other"]) == [SOUP]


def test_a_document_is_named_by_a_prefix_of_its_id_or_its_path(kitchen):
    doc_id = kitchen.documents()[CAKE].doc_id

    assert names(kitchen, doc_id=doc_id[:8]) == names(kitchen, doc_id=CAKE) == [CAKE]


@pytest.mark.parametrize(
    ("fields", "entries", "hint"),
    [
        (
            {"path_glob": "recipes2/**"},
            [("path_glob", "recipes2/**", 0, ["docs/recipes2/**"])],
            "--path 'docs/recipes2/**'",
        ),
        ({"tag": ["cook"]}, [("tag", "cook", 0, ["Cooking"])], "--tag Cooking"),
        ({"tag": ["zzz"]}, [("tag", "zzz", 0, ["Cooking", "ops"])], "--tag Cooking"),
        ({"media": ["mark"]}, [("media", "mark", 0, ["md"])], "--type md"),
        ({"since": "2031-01-01"}, [("since", "2031-01-01", 0, ["2024-05-04"])], "2024-05-04"),
        ({"until": "2001-01-01"}, [("until", "2001-01-01", 0, ["2024-05-03"])], "2024-05-03"),
        ({"doc_id": "backup.tx"}, [("doc_id", "backup.tx", 0, [TEXT])], TEXT),
        (
            {"tag": ["ops"], "media": ["text/plain"], "until": "2030-01-01"},
            [("tag", "ops", 1, []), ("media", "text/plain", 1, [])],
            "--until 2030-01-01 --tag ops",
        ),
    ],
)
def test_filters_without_documents_are_explained(kitchen, fields, entries, hint):
    for reply in (listed(kitchen, **fields), kitchen.search("bread", **fields)):
        told = [
            (one.filter, one.value, one.documents, one.nearest) for one in reply.unmatched_filters
        ]
        assert told == entries
        assert hint in reply.hint


def test_the_hint_finds_something(kitchen):
    hint = listed(kitchen, path_glob="recipes2/**").hint

    assert hint == "kebab list --path 'docs/recipes2/**'"
    assert names(kitchen, path_glob="docs/recipes2/**") == [CAKE]


def test_an_unknown_source_is_explained_with_the_nearest_folder(kitchen):
    (told,) = listed(kitchen, source=["othr"]).unmatched_filters

    assert told.nearest == [str(kitchen.folder / "other")]


def test_a_folder_below_a_source_names_the_source(kitchen):
    (told,) = listed(kitchen, source=[f"{kitchen.notes}/docs"]).unmatched_filters

    assert told.nearest[0] == str(kitchen.notes)


def test_only_the_value_that_matches_nothing_is_replaced(kitchen):
    reply = kitchen.search("bread", tag=["cook"], lang=[], source=["other"])

    assert [one.filter for one in reply.unmatched_filters] == ["tag"]
    assert reply.hint == "kebab search --tag Cooking --source other bread"


def test_a_filter_in_the_text_of_the_query_is_explained_without_a_hint(kitchen):
    reply = kitchen.search("bread tag:zzz")

    assert [(one.filter, one.value) for one in reply.unmatched_filters] == [("tag", "zzz")]
    assert reply.hint is None


def test_hits_and_queries_without_filters_have_no_explanation(kitchen):
    for reply in (
        kitchen.search("bread", tag=["ops"]),
        kitchen.search("qqqq", mode="lexical"),
        kitchen.search("qqqq", mode="lexical", tag=["ops"]),
        listed(kitchen),
    ):
        assert (reply.unmatched_filters, reply.hint) == ([], None)


def test_related_documents_explain_their_filters(kitchen):
    reply = find_related(kitchen.context(), RelatedRequest(name=CAKE, tag=["cook"]))

    assert isinstance(reply, RelatedDocs)
    assert [one.nearest for one in reply.unmatched_filters] == [["Cooking"]]


def test_a_deleted_working_folder_is_no_obstacle(kitchen, monkeypatch):
    gone = kitchen.folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert names(kitchen, path_glob="*sour*") == [SOUR]


def test_a_folder_limits_a_search_to_its_files_in_any_source(kitchen):
    found = {
        place: names(kitchen, folder=place.format(desk=kitchen.folder))
        for place in ("{desk}/notes/docs", "{desk}", "{desk}/other/", "{desk}/notes/rec")
    }

    assert found == {
        "{desk}/notes/docs": [TEXT, CAKE],
        "{desk}": sorted([SOUR, CAKE, TEXT, SOUP]),
        "{desk}/other/": [SOUP],
        "{desk}/notes/rec": [],
    }


def test_a_folder_and_a_path_hold_together(kitchen):
    assert names(kitchen, folder="notes", path_glob="*.md") == sorted([SOUR, CAKE])


@pytest.mark.parametrize("folder", ["", "a\0b"])
def test_a_folder_that_is_no_path_is_refused(kitchen, folder):
    with pytest.raises(InvalidInput) as caught:
        listed(kitchen, folder=folder)

    assert caught.value.field == "$.folder"


@pytest.mark.parametrize("value", ["markdwn", "mdd", "markdown2"])
def test_a_misspelled_type_gets_one_that_exists(kitchen, value):
    (entry,) = listed(kitchen, media=[value]).unmatched_filters

    assert entry.nearest[0] == "md"
    assert names(kitchen, media=entry.nearest[:1])
