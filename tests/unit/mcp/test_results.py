"""Structured results hold references, counts and verdicts."""

import pytest
from msgspec.structs import replace

from kebab.app.reference_syntax import read_reference
from kebab.mcp.results import (
    build_grep_result,
    build_hit_links,
    build_outline_result,
    build_read_result,
    build_search_result,
    build_status_result,
    format_resource_uri,
)
from kebab.wire.fetch import FetchRequest, GrepRequest, OutlineRequest
from kebab.wire.search import SearchRequest
from tests.fakes import replies


@pytest.fixture
def run(caller):
    return lambda request: caller.run(lambda kebab: kebab.run(request))


def test_hits_have_references_and_rounded_scores(run):
    result = build_search_result(run(SearchRequest(query="sourdough starter")))

    assert result.convincing
    assert result.hits[0].ref == "bread.md#L1-L5"
    assert result.hits[0].score == round(result.hits[0].score, 2)
    assert result.next_cursor is None


def test_no_hit_is_not_convincing(run):
    result = build_search_result(run(SearchRequest(query="qqqqqqqq")))

    assert (result.hits, result.convincing) == ([], False)


def test_places_name_their_lines_and_what_was_cut_off(run):
    reply = run(FetchRequest(refs=["bread.md", "nowhere.md"], max_tokens=15))
    result = build_read_result(reply)

    assert result.missing == ["nowhere.md"]
    assert result.places[0].first_line == 1
    assert result.places[0].rest is not None


def test_matches_are_counted_by_file(run, notes):
    result = build_grep_result(run(GrepRequest(pattern="flour")))

    assert result.files == {str(notes / "bread.md"): 1}


@pytest.mark.parametrize(("name", "found"), [("bread.md", True), ("nowhere.md", False)])
def test_an_outline_says_whether_there_is_one(run, name, found):
    assert build_outline_result(run(OutlineRequest(name=name))).found is found


def test_the_changed_files_of_a_status_are_those_of_its_coverage():
    reply = replace(replies.introspection(), coverage=replies.coverage(changed=3))

    result = build_status_result(reply)

    assert result.changed == result.coverage["changed"] == 3
    assert build_status_result(replace(reply, coverage=None)).changed == 0


@pytest.fixture
def reply(caller):
    request = SearchRequest(queries=["sourdough starter", "Hecke"], detail="ids")
    return caller.run(lambda kebab: kebab.run(request))


def test_a_hit_has_a_link_with_its_score_and_the_time_of_its_file(reply, notes):
    links = build_hit_links(reply)

    assert {link["name"] for link in links} == {"bread.md", "garten ü#1.md"}
    bread = next(link for link in links if "bread" in link["uri"])
    assert bread["uri"].startswith(f"kebab://{notes}/bread.md#L")
    assert 0 <= bread["annotations"]["priority"] <= 1
    assert bread["annotations"]["lastModified"].endswith("Z")


def test_a_uri_is_ascii_and_its_path_is_read_back(reply):
    for link in build_hit_links(reply):
        assert link["uri"].isascii()
        assert " " not in link["uri"]


def test_a_link_to_a_file_that_is_gone_has_no_time(reply, notes):
    (notes / "bread.md").unlink()

    bread = next(link for link in build_hit_links(reply) if "bread" in link["uri"])

    assert set(bread["annotations"]) == {"priority"}


@pytest.mark.parametrize(
    ("file", "uri", "name"),
    [
        ("/a/b c.md", "kebab:///a/b%20c.md", "/a/b c.md"),
        ("/a/ü#1.md", "kebab:///a/%C3%BC%231.md", "/a/ü#1.md"),
        ("/a/100%.md", "kebab:///a/100%25.md", "/a/100%.md"),
        (None, "kebab://id/abc", "abc"),
    ],
)
def test_names_survive_the_way_through_a_uri(file, uri, name):
    assert format_resource_uri(file, "abc") == uri
    assert name in [reading.name for reading in read_reference(uri)]
    lines = [one.lines for one in read_reference(f"{uri}#L3-L5") if one.name == name]
    assert lines[0] == (3, 5)
