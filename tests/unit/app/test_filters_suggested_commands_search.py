import shlex

import msgspec
import pytest

from kebab.app.filters import WITHOUT_FLAG, format_search_command, suggest_filters
from kebab.cli.command_list import iterate_commands
from kebab.wire.fetch import GrepRequest
from kebab.wire.library import ListRequest
from kebab.wire.search import SearchRequest, UnmatchedFilter

CHANGED = {"mode": "lexical", "min_confidence": "high", "detail": "ids", "sort": "date"}
BASES = {
    "search": SearchRequest(query="x", tag=["a"]),
    "list": ListRequest(tag=["a"]),
    "grep": GrepRequest(pattern="x", tag=["a"]),
}


def change(request, field):
    """Return the request with another value of a field."""
    value = getattr(request, field)
    other: object
    if field in CHANGED:
        other = CHANGED[field]
    elif isinstance(value, bool):
        other = not value
    elif isinstance(value, list):
        other = ["b"]
    else:
        form = msgspec.inspect.type_info(type(request))
        assert isinstance(form, msgspec.inspect.StructType)
        (kind,) = (one.type for one in form.fields if one.name == field)
        members = getattr(kind, "types", (kind,))
        texts = any(isinstance(one, msgspec.inspect.StrType) for one in members)
        flags = any(isinstance(one, msgspec.inspect.BoolType) for one in members)
        other = "b" if texts else False if flags else 77
    return msgspec.structs.replace(request, **{field: other})


@pytest.mark.parametrize(
    ("name", "field"),
    [
        (name, field)
        for name, base in BASES.items()
        for field in base.__struct_fields__
        if field not in WITHOUT_FLAG and (name == "search" or field != "folder")
    ],
)
def test_a_suggested_command_keeps_every_field(name, field):
    unmatched = [UnmatchedFilter(filter="tag", value="a", documents=0, nearest=["ops"])]
    usual = suggest_filters(BASES[name], unmatched) or ""
    words = shlex.split(suggest_filters(change(BASES[name], field), unmatched) or "")

    command = dict(iterate_commands())[name]
    flags = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)}
    added = [word for word in words if word not in shlex.split(usual)]
    assert added
    assert {word for word in added if word.startswith("--")} <= flags


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
