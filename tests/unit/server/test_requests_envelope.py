"""An operation runs by its name, from JSON to the object that `--json` prints."""

import json

import pytest

from kebab.app.facade import (
    convert_operation_request,
    decode_operation_request,
    find_operation_status,
)
from kebab.config.settings import Settings
from kebab.core.progress import Cancel
from kebab.errors.catalog import InvalidInput
from kebab.errors.signal import Exit
from kebab.server.requests import find_command_name, report_failure
from kebab.wire.operations import OPERATIONS
from tests.examples import ARGUMENTS
from tests.fakes import replies
from tests.fakes.console import run
from tests.fakes.facade import FakeKebab

SETTINGS = Settings()


def decode(name, body, settings=SETTINGS):
    return decode_operation_request(name, json.dumps(body).encode(), settings)


def test_the_envelope_is_that_of_the_command_line():
    for name in OPERATIONS:
        line, words = ARGUMENTS[name], find_command_name(name).split()
        printed = run(*line, "--json", stdin=b"a line\n", opener=FakeKebab).reply

        assert printed["command"] == find_command_name(name)
        assert words == line[: len(words)]


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


def test_a_cancelled_change_of_models_is_interrupted_while_passages_wait():
    cancel = Cancel()
    cancel.request()

    assert find_operation_status(replies.model_report(pending=3), cancel) is Exit.INTERRUPTED
    assert find_operation_status(replies.model_report(pending=0), cancel) is Exit.DONE
    assert find_operation_status(replies.model_report(pending=3), Cancel()) is Exit.DONE


def test_a_failure_is_classified_logged_and_has_an_envelope(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    reply = report_failure("inspect_doc", ValueError("a secret"), SETTINGS)

    assert (reply.exit_code, reply.command) == (2, "inspect doc")
    assert reply.hint == f"kebab errors --id {reply.correlation_id}"
    assert "a secret" not in reply.message
    (line,) = (tmp_path / "kebab" / "kebab.log").read_text(encoding="utf-8").splitlines()
    logged = json.loads(line)
    assert (logged["correlation_id"], logged["message"]) == (reply.correlation_id, "a secret")
    assert logged["meta"]["argv"] == ["inspect", "doc"]
