import shlex

import pytest

from kebab.app.filters import format_search_command
from kebab.wire.search import SearchRequest


def test_flags_that_change_nothing_are_left_out():
    assert format_search_command(SearchRequest(query="restore")) == "kebab search restore"


def test_every_flag_round_trips_through_the_shell():
    request = SearchRequest(
        query="it's -here",
        mode="lexical",
        limit=3,
        tag=["a b", "c"],
        path_glob="x/**",
        doc_id="3f",
        since="7d",
        until="1d",
        per_doc=2,
        detail="passages",
        max_tokens=900,
        rerank=True,
        queries=["garden plan", "-x"],
        source=["notes"],
        lang=["en"],
        media=["markdown"],
        author=["Ada"],
        links_to="a.md",
    )

    line = format_search_command(request)

    assert shlex.split(line)[2:] == [
        *("--mode", "lexical", "--limit", "3", "--path", "x/**", "--doc-id", "3f"),
        *("--links-to", "a.md", "--since", "7d", "--until", "1d", "--per-doc", "2"),
        *("--detail", "passages", "--max-tokens", "900", "--rerank"),
        *("--tag", "a b", "--tag", "c", "--lang", "en", "--type", "markdown"),
        *("--source", "notes", "--author", "Ada"),
        *("--query", "garden plan", "--query", "-x", "it's -here"),
    ]


def test_several_queries_need_no_argument():
    request = SearchRequest(queries=["restore", "garden"])

    assert format_search_command(request) == "kebab search --query restore --query garden"


@pytest.mark.parametrize(("query", "seam"), [("-draft", True), ("a -draft", False)])
def test_a_query_that_looks_like_a_flag_follows_a_double_dash(query, seam):
    assert ("--" in shlex.split(format_search_command(SearchRequest(query=query)))) is seam
