"""A URI names a place in a file, and `read` takes it back."""

import pytest

from kebab.app.reference_syntax import read_reference
from kebab.mcp.results import build_hit_links, format_resource_uri
from kebab.wire.search import SearchRequest


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
