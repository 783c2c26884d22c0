"""An operation runs by its name, from JSON to the object that `--json` prints."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kebab.app.classify import DEFAULT_VIEW, classify_error
from kebab.app.dispatch import (
    BulkOutcome,
    find_command_name,
    find_operation_status,
    report_failure,
    search_lines,
)
from kebab.app.request_defaults import convert_operation_request, decode_operation_request
from kebab.app.search import search
from kebab.config.settings import Settings
from kebab.core.progress import Cancel
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.errors.signal import Exit
from kebab.wire.operations import OPERATIONS
from kebab.wire.stream import BulkSearchItem
from tests.examples import ARGUMENTS, REQUESTS
from tests.fakes import replies
from tests.fakes.console import run
from tests.fakes.facade import FakeKebab

SETTINGS = Settings()


def decode(name, body, settings=SETTINGS):
    return decode_operation_request(name, json.dumps(body).encode(), settings)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_envelope_is_that_of_the_command_line(name):
    printed = run(*ARGUMENTS[name], "--json", stdin=b"a line\n", opener=FakeKebab).reply

    assert printed["command"] == find_command_name(name)
    assert (
        find_command_name(name).split() == ARGUMENTS[name][: len(find_command_name(name).split())]
    )


@pytest.mark.parametrize("convert", [decode, convert_operation_request])
@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("search", {"query": 7}, "$.query"),
        ("rm", {}, "$"),
    ],
)
def test_a_broken_request_is_refused_with_its_path(convert, name, body, field):
    with pytest.raises(InvalidInput) as caught:
        convert(name, body, SETTINGS)

    assert caught.value.field == field


@pytest.mark.parametrize("raw", [b"{", b'{"query": "\\ud800"}'])
def test_what_is_no_json_object_is_refused(raw):
    with pytest.raises(InvalidInput):
        decode_operation_request("search", raw, SETTINGS)


def test_an_operation_gets_the_callbacks_that_it_takes():
    for name in OPERATIONS:
        events: list[Any] = []
        kebab: Any = FakeKebab(SETTINGS, config_path=Path("/nowhere"))

        reply = kebab.run(REQUESTS[name], report=events.append, cancel=Cancel())

        assert isinstance(reply, OPERATIONS[name].replies)
        assert bool(events) is (OPERATIONS[name].events is not None)


def test_a_cancelled_change_of_models_is_interrupted_while_passages_wait():
    cancel = Cancel()
    cancel.request()

    assert find_operation_status(replies.model_report(pending=3), cancel) is Exit.INTERRUPTED
    assert find_operation_status(replies.model_report(pending=0), cancel) is Exit.DONE
    assert find_operation_status(replies.model_report(pending=3), Cancel()) is Exit.DONE


def test_a_failure_is_classified_logged_and_has_an_envelope(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    failed = report_failure("inspect_doc", ValueError("a secret"), SETTINGS)

    reply = failed.reply
    assert (failed.exit, reply.exit_code, reply.command) == (Exit.ERROR, 2, "inspect doc")
    assert reply.hint == f"kebab errors --id {reply.correlation_id}"
    assert "a secret" not in reply.message
    (line,) = (tmp_path / "kebab" / "kebab.log").read_text(encoding="utf-8").splitlines()
    logged = json.loads(line)
    assert (logged["correlation_id"], logged["message"]) == (reply.correlation_id, "a secret")
    assert logged["meta"]["argv"] == ["inspect", "doc"]


def test_an_interruption_is_not_logged(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    failed = report_failure("ask", KeyboardInterrupt(), None)

    assert (failed.exit, failed.reply.code) == (Exit.INTERRUPTED, "cancelled")
    assert not list(tmp_path.iterdir())


def test_a_failure_is_worded_in_the_language_of_the_settings():
    fault = NotIndexed(data_dir="/kb", expected=1, found=0)
    korean = report_failure("search", fault, Settings(lang="ko")).reply

    assert korean.message != classify_error(fault, operation="search").reply.message
    assert korean.code == "not_indexed"


@pytest.fixture
def library(desk):
    """A desk with a dozen notes."""
    for number in range(12):
        desk.write(
            f"{number}.md", f"# Notes {number}\n\nThese notes hold a backup of day {number}.\n"
        )
    desk.ingest()
    return desk


def answers(library, lines):
    context = library.context()
    return search_lines(lambda request: search(context, request), lines, DEFAULT_VIEW)


def test_bulk_answers_every_line_in_order(library):
    lines = [
        b'"notes"\n',
        b"\n",
        b'  {"query": "backup", "limit": 2}\n',
        b"   \n",
        b"{broken\n",
        b'{"query": "notes", "limit": 0}\n',
        b'{"query": "notes", "colour": "red"}\n',
        b"[1]\n",
        b'""\n',
        b'"\xff"\n',
        b'"notes", "limit": 1\n',
        b"[" * 100_000 + b"\n",
    ]
    items = list(answers(library, lines))
    errors = [None if item.error is msgspec.UNSET else item.error.code for item in items]

    assert [item.index for item in items] == list(range(10))
    assert errors == [None, None] + ["invalid_input"] * 8
    assert [item.query for item in items] == [
        *("notes", "backup", None, "notes", "notes", None, "", None, None, None)
    ]
    assert [len(item.response.hits) for item in items if item.response] == [10, 2]
    assert [item.error.details["field"] for item in items if item.error][1] == "$.limit"
    assert all((item.error is msgspec.UNSET) != (item.response is msgspec.UNSET) for item in items)


def test_bulk_answers_before_the_next_line_is_read(library):
    def lines():
        yield b'"notes"'
        raise AssertionError("read too early")

    assert next(answers(library, lines())).query == "notes"


def test_a_line_may_hold_several_queries(library):
    [item] = answers(library, [b'{"queries": ["backup", "cat on a mat"], "limit": 3}'])

    assert item.query == item.response.query == "backup | cat on a mat"
    assert 0 in item.response.hits[0].queries


def test_an_invalid_line_keeps_its_queries(library):
    [item] = answers(library, [b'{"query": "a", "queries": ["b", 1], "limit": 0}'])

    assert (item.query, item.error.code) == ("a | b", "invalid_input")


FOUND, NOTHING = replies.response(replies.hit()), replies.response()
DOUBTFUL = replies.response(replies.hit(confidence="weak"), convincing=False)
REFUSED = InvalidInput(field="$", cause="x")
UNINDEXED = NotIndexed(data_dir="/x", expected=1, found=None)


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ([], Exit.NO),
        ([FOUND, REFUSED], Exit.DONE),
        ([NOTHING, REFUSED], Exit.NO),
        ([DOUBTFUL, REFUSED], Exit.NO),
        ([REFUSED, UNINDEXED], Exit.ERROR),
        ([UNINDEXED, UNINDEXED], Exit.UNUSABLE),
    ],
)
def test_the_exit_status_says_whether_anything_was_found_or_everything_failed(outcomes, status):
    outcome = BulkOutcome()
    for one in outcomes:
        outcome.add(build_item(one))

    assert outcome.status == status


def build_item(outcome):
    if not isinstance(outcome, Exception):
        return BulkSearchItem(index=0, query=None, response=outcome)
    error = classify_error(outcome, operation="search", view=DEFAULT_VIEW).reply
    return BulkSearchItem(index=0, query=None, error=error)
