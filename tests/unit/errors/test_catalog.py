import inspect
import re
from pathlib import Path

import pytest

from kebab.errors.catalog import NotIndexed
from kebab.errors.listing import catalog

_ROWS = list(catalog().values())
_SOURCES = {
    path: path.read_text(encoding="utf-8")
    for path in Path(__file__).parents[3].joinpath("kebab").rglob("*.py")
    if path.name != "catalog.py"
}


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.meaning.code)
def test_every_row_is_explained(row):
    explanation = inspect.cleandoc(row.__doc__)

    assert len(explanation.split()) > 8
    assert not row.message.endswith(".")


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.meaning.code)
def test_every_code_is_snake_case_and_every_domain_code_dotted_capitals(row):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", row.meaning.code)
    assert re.fullmatch(r"[A-Z]+\.[A-Z_]+", row.meaning.domain)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.meaning.code)
def test_every_live_row_is_raised_somewhere_and_no_retired_one(row):
    calls = re.compile(rf"\b{row.__name__}\b\s*[(,)]")
    raised = any(calls.search(text) for text in _SOURCES.values())

    assert raised is not row.meaning.retired


def test_domain_codes_name_one_row_each():
    domains = [row.meaning.domain for row in _ROWS]

    assert len(set(domains)) == len(domains)


def test_a_code_string_appears_nowhere_but_in_the_catalogue():
    codes = "|".join(row.meaning.code for row in _ROWS if "_" in row.meaning.code)
    quoted = re.compile(rf"[\"']({codes})[\"']")

    assert [
        (path.name, hit[0]) for path, text in _SOURCES.items() for hit in quoted.finditer(text)
    ] == []


@pytest.mark.parametrize(
    ("found", "reason", "hint"),
    [
        (None, "", "kebab ingest FOLDER"),
        (0, "", "kebab ingest FOLDER"),
        (3, ": its schema is 3, this build reads 4", "kebab ingest"),
        (5, ": its schema is 5, this build reads 4", "pip install --upgrade kebab"),
    ],
)
def test_an_index_that_cannot_be_used_says_why_and_what_to_do(found, reason, hint):
    signal = NotIndexed(data_dir="/kb", expected=4, found=found)

    assert signal.text() == f"no usable index in /kb{reason}"
    assert signal.advice() == hint
