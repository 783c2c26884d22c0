"""The page on queries names operators that queries have, and dates and flags that are read."""

import re

import pytest

from kebab.cli.commands.search import command
from kebab.core.queries import Filters
from kebab.search.query_parser import parse_query
from kebab.text.dates import parse_moment
from tests.contract.conftest import ROOT

PAGE = (ROOT / "docs" / "query.md").read_text(encoding="utf-8")
WORDS, FILTERS = PAGE.split("## Filters")
PLAIN = ("restore backup", "how do I restore a backup")
OPERATORS = [
    query
    for part in (WORDS, FILTERS)
    for query in re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE)
    if query not in PLAIN
]


def read_operators(query):
    parsed = parse_query(query, Filters())
    return parsed.required, parsed.excluded, parsed.filters.list_active()


@pytest.mark.parametrize("query", OPERATORS)
def test_each_row_is_an_operator(query):
    assert any(read_operators(query))


@pytest.mark.parametrize("query", [*PLAIN, "how do I use tar -x", "#ops"])
def test_other_queries_are_words(query):
    assert not any(read_operators(query))


def test_a_repeated_filter_has_both_values():
    assert read_operators("tag:ops tag:home")[2] == {"tag": ("ops", "home")}


def test_a_filter_in_the_query_is_that_of_the_flag():
    rows = re.findall(r"^\| `([a-z]+:[^`]+)` \| `--\w+ ([^`]+)` \|", FILTERS, re.MULTILINE)

    assert len(rows) > 5
    for query, value in rows:
        ((_, found),) = read_operators(query)[2].items()
        assert value.strip("'\"") in found


def test_the_dates_of_the_page_are_read():
    text = PAGE.partition("A date is ")[2].partition(". It is")[0]
    dates = re.findall(r"`([^`]+)`", text)

    assert len(dates) > 10
    assert all(parse_moment(date, 1_700_000_000.0) for date in dates)


def test_the_flags_of_the_page_exist():
    known = {name for param in command.params for name in param.opts}

    assert set(re.findall(r"--[a-z]+(?:-[a-z]+)*", FILTERS)) <= known
