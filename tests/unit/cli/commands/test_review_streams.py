import json
from pathlib import Path

import pytest

ITEM = {"key": "spelling", "severity": "error", "message": "why", "evidence": "teh"}


@pytest.fixture
def notes(home, monkeypatch):
    monkeypatch.chdir(home)
    for name, text in (("a.md", "# Doors\n\nOpen the the door.\n"), ("b.md", "# Clean\n")):
        Path(name).write_text(text, encoding="utf-8")


def requests(opened, name):
    return [request for known in opened for what, request in known.asked if what == name]


@pytest.mark.usefixtures("notes")
def test_a_stream_has_all_pages_and_the_status_of_all(kebab, opened):
    ran = kebab("review", "a.md", "b.md", "--stream")

    types = [event["type"] for event in ran.events]
    assert types == ["progress", *["stage", "items"] * 2, "complete", "end"]
    assert [event["exit_code"] for event in ran.events] == [None] * 5 + [1, 1]
    assert (ran.status, ran.err) == (1, "")
    (request,) = requests(opened, "review")
    assert request.all_pages


@pytest.mark.usefixtures("notes")
def test_a_stream_of_a_clean_document_has_a_page_too(kebab):
    ran = kebab("review", "b.md", "--stream")
    (page,) = [event["data"]["page"] for event in ran.events if event["type"] == "items"]
    assert (ran.status, page["items"], page["has_more"]) == (0, [], False)


def test_a_document_that_does_not_exist_ends_the_stream_with_status_1(kebab):
    ran = kebab("review", "nowhere", "--stream")
    assert [event["type"] for event in ran.events] == ["error", "end"]
    assert (ran.status, ran.events[-1]["data"]["reason"]) == (1, "not_found")


def test_an_error_is_an_event_and_is_reported(kebab):
    ran = kebab("review", "a.md", "--import", "nowhere.json", "--stream")

    assert [event["type"] for event in ran.events] == ["error", "end"]
    assert [event["exit_code"] for event in ran.events] == [2, 2]
    assert (ran.status, ran.events[0]["data"]["code"]) == (2, "io_error")
    assert ran.fault["code"] == "io_error"


@pytest.mark.usefixtures("notes")
def test_items_of_a_file_become_part_of_the_request(kebab, opened):
    Path("items.json").write_text(json.dumps([ITEM]), encoding="utf-8")
    kebab("review", "a.md", "--import", "items.json")
    kebab("review", "a.md", "--import", "-", "--json", stdin=json.dumps(ITEM).encode())

    found = [request.imported[0].evidence for request in requests(opened, "review")]
    assert found == ["teh", "teh"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("a.md", "--replay", "x"),
        ("--replay", "x", "--stream"),
        ("--run-id", "r", "--import", "x"),
        ("a.md", "--apply", "--stream"),
        ("a.md", "--format", "sarif", "--stream"),
    ],
)
def test_flags_that_exclude_each_other_are_refused(kebab, arguments):
    assert kebab("review", *arguments).status == 2


def test_what_is_no_list_of_items_is_refused_with_its_path(kebab):
    ran = kebab("review", "a.md", "--import", "-", "--json", stdin=b'[{"key": 1}]')
    assert (ran.fault["code"], ran.fault["details"]["field"]) == ("invalid_input", "$[0].key")
