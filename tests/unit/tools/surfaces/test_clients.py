"""A client returns the one object of an answer, and refuses what breaks the contract."""

import json

import pytest

from tests.fakes.console import run
from tools.surfaces.clients import (
    BrokenAnswerError,
    CommandClient,
    LibraryClient,
    Output,
    check_object,
    list_differences,
)


def answer_with(status, out=b"", err=b""):
    return CommandClient(lambda _: Output(status, out, err))


def print_explanation(*, status=0, code="timeout"):
    done = run("explain", code, "--json")
    return done.out.encode().replace(b'"exit_code":0', b'"exit_code":%d' % status)


def test_the_library_answers_every_request_with_an_object():
    library = LibraryClient()

    assert library.ask("explain", b'{"code": "timeout"}').status == 0
    assert library.ask("search", b"{").reply["code"] == "invalid_input"


def test_the_command_line_answers_with_its_result():
    found = answer_with(0, print_explanation()).ask("explain", b'{"code": "timeout"}')

    assert found.reply["schema_version"] == "error_catalog.v1"


@pytest.mark.parametrize(
    "client",
    [
        answer_with(0),
        answer_with(0, b"text\n"),
        answer_with(0, b'{"schema_version": "no_such.v1"}\n'),
        answer_with(0, b'{"schema_version": "error.v1"}\n'),
        answer_with(2, b"", b"Traceback (most recent call last):\n"),
    ],
)
def test_an_answer_that_breaks_the_contract_is_refused(client):
    with pytest.raises(BrokenAnswerError):
        client.ask("explain", b'{"code": "timeout"}')


@pytest.mark.parametrize(
    ("operation", "status", "said"), [("explain", 1, 0), ("explain", 0, 1), ("search", 0, 0)]
)
def test_an_answer_with_another_status_or_schema_is_refused(operation, status, said):
    client = answer_with(status, print_explanation(status=said))

    with pytest.raises(BrokenAnswerError):
        client.ask(operation, b'{"query": "x"}' if operation == "search" else b'{"code": "x"}')


def test_two_objects_of_one_call_are_refused():
    with pytest.raises(BrokenAnswerError):
        answer_with(0, print_explanation() * 2).ask("explain", b'{"code": "timeout"}')


def test_an_object_is_held_to_its_schema():
    assert check_object(print_explanation())["command"] == "explain"
    with pytest.raises(BrokenAnswerError):
        check_object(json.dumps({"schema_version": "not_found.v1"}).encode())


def test_differences_are_named_by_their_path():
    one, other = {"a": [1, {"b": 2}], "c": 1}, {"a": [1, {"b": 3}], "c": 1.0}

    assert list_differences(one, one) == []
    assert list_differences(one, other) == ["$.a[1].b: 2 != 3", "$.c: 1 != 1.0"]
    assert list_differences([1], [1, 2]) == ["$: [1] != [1, 2]"]
